import type { RenderedOutput } from './mimeBundle.ts';

export type LiveOutput = {
  /**
   * Shows the result of `make`. If the output has just changed, the update is delayed and only the newest state is
   * shown.
   */
  update(make: () => RenderedOutput): void;
  /** Shows the last state and ignores later updates. */
  end(make: () => RenderedOutput): void;
};

/** Minimum interval between updates: more updates a second are unreadable and overload a notebook. */
const everyMs = 100;

/**
 * Shows at most ten states a second, and always the last one. This also works in a loop that never gives a timer the
 * chance to run.
 */
export function liveOutput(
  put: (shown: RenderedOutput) => void,
  now: () => number = () => performance.now(),
): LiveOutput {
  let shownAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let newest: (() => RenderedOutput) | undefined;
  let isEnded = false;
  const show = () => {
    clearTimeout(timer);
    timer = undefined;
    const make = newest;
    newest = undefined;
    if (!make) return;
    shownAt = now();
    put(make());
  };
  return {
    update(make) {
      if (isEnded) return;
      newest = make;
      const wait = shownAt + everyMs - now();
      if (wait <= 0) show();
      else timer ??= setTimeout(show, wait);
    },
    end(make) {
      if (isEnded) return;
      isEnded = true;
      newest = make;
      show();
    },
  };
}
