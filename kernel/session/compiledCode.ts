import { flushCompileCache } from 'node:module';
import type { OutlinedFiles } from './compile/outlinedFiles.ts';

/** Writing what was compiled takes as long as a short cell, so it waits until nobody runs one. */
const stillMs = 1000;

/**
 * Has written down what was compiled of the packages that cells import, by Node, which of its own accord does that at its
 * end, while most kernels end by a kill, and by TypeScript: so that later kernels import them faster.
 * @returns to be called whenever a cell has ended
 */
export function keepCompiledCode(outlined: OutlinedFiles): () => void {
  let timer: NodeJS.Timeout | undefined;
  const keep = () => {
    flushCompileCache();
    outlined.keep();
  };
  return () => {
    timer ??= setTimeout(keep, stillMs).unref();
    timer.refresh();
  };
}
