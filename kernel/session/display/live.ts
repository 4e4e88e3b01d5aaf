import type { Shown } from './mimeBundle.ts';

/** An output that changes in place. */
export type LiveOutput = {
  /** Shows what `make` gives: at once, or a little later when the output has just changed; then only the newest counts. */
  update(make: () => Shown): void;
  /** Shows the last state. What comes later is not shown any more. */
  end(make: () => Shown): void;
};

/** How often an output changes at most. A person can't read faster, and a notebook must not choke on it. */
const everyMs = 100;

/**
 * Puts at most ten states a second on the screen, and always the last one. Works in a loop that never lets a timer run.
 */
export function liveOutput(put: (shown: Shown) => void, now: () => number = () => performance.now()): LiveOutput {
  let shownAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let newest: (() => Shown) | undefined;
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
