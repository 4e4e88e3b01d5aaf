import { flushCompileCache } from 'node:module';

/** Writing what was compiled takes as long as a short cell, so it waits until nobody runs one. */
const stillMs = 1000;

/**
 * Has Node write down what it compiled of the packages that cells import, so that later kernels load them faster: of its
 * own accord it does that at its end, and most kernels end by a kill.
 * @returns to be called whenever a cell has ended
 */
export function keepCompiledCode(): () => void {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    timer ??= setTimeout(flushCompileCache, stillMs).unref();
    timer.refresh();
  };
}
