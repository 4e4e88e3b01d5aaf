import type { Interrupter } from '#session/interrupt.ts';
import type { NotebookDebugger } from './debugger.ts';

/** The same interrupter, which also ends code that stands still in the debugger, and is stopped nowhere on the way. */
export const throughPauses = (
  interrupter: Interrupter,
  debug: Pick<NotebookDebugger, 'stepAside' | 'isPaused'>,
): Interrupter => ({
  ...interrupter,
  terminate() {
    if (debug.isPaused) void debug.stepAside();
    else interrupter.terminate();
  },
  async interrupt(ping, ask, isOver) {
    const stopAgain = await debug.stepAside();
    try {
      return await interrupter.interrupt(ping, ask, isOver);
    } finally {
      stopAgain();
    }
  },
});
