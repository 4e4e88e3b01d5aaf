import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

/** The repository's root folder, absolute. */
export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

export function inRoot(...parts: readonly string[]): string {
  return join(root, ...parts);
}

/** Everything that scripts install; git-ignored, safe to delete. */
export const toolchain = inRoot('.toolchain');
