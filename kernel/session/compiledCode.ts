import { flushCompileCache } from 'node:module';

/** Writing what was compiled takes as long as a short cell, so it waits until nobody runs one. */
const stillMs = 1000;

/**
 * Has written down what was compiled of the packages that cells import, by Node and by `keep`, so that later kernels
 * import them faster: when nothing runs, since most kernels end by a kill, and at the end, before which a notebook that is
 * run as a whole has no pause. Node writes its part at the end of its own accord.
 * @returns to be called whenever a cell has ended
 */
export function keepCompiledCode(keep: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const keepAll = () => {
    flushCompileCache();
    keep();
  };
  process.once('exit', keep);
  return () => {
    timer ??= setTimeout(keepAll, stillMs).unref();
    timer.refresh();
  };
}
