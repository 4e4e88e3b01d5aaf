import { existsSync } from 'node:fs';
import { inRoot } from '../../../scripts/paths.ts';

/**
 * Returns the path of the test environment's Python, which has the upstream clients (lancedb, pylance, nbclient, …).
 */
export function python(): string {
  const path = inRoot('.toolchain/python/bin/python');
  if (!existsSync(path)) throw new Error(`There is no ${path}: run "npm test -- kernel", which installs it.`);
  return path;
}
