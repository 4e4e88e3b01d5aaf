import { spawnSync } from 'node:child_process';
import { inRoot } from './paths.ts';

/** `npm run format`: formats every file. Returns the exit code. */
export function main(): number {
  const prettier = inRoot('node_modules/prettier/bin/prettier.cjs');
  return (
    spawnSync(process.execPath, [prettier, '--write', '--log-level=warn', '.'], { cwd: inRoot(), stdio: 'inherit' })
      .status ?? 1
  );
}
