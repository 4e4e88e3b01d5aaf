import { registerImplementation } from '#client/connect.ts';
import { openDir } from './dir.ts';

/** Makes `connect(root)` and `connectNamespace('dir', { root })` open directories in this process. */
export function registerDir(): void {
  registerImplementation('dir', { keys: ['root', 'storageOptions'], connect: openDir });
}
