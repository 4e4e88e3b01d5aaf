import type { PartLoader } from '#shared/loadPart.ts';

// An interrupt cuts off whatever runs on the main thread. A module that is evaluated at that moment would stay half, and with
// it the engine, a catalog or Arrow until the kernel is restarted: so while a part of the kernel is loaded nothing is cut
// off, and while something is being cut off no part begins to be loaded.

const free = 0;
const loading = 1;
const cutting = 2;

/** How long an interrupt waits for what is being loaded; code of a cell may keep it from coming to its end. */
const patienceMs = 2000;
const lookMs = 2;
/** At most; who cuts off says when it has. */
const waitMs = 50;

const { compareExchange, notify, store, wait } = Atomics;

export const createLoadLock = (): SharedArrayBuffer => new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);

/** The main thread's side. */
export function lockedLoader(lock: SharedArrayBuffer): PartLoader {
  const state = new Int32Array(lock);
  let count = 0;
  const enter = (): void => {
    // Where it waits, what is to be cut off can be: nothing has begun.
    if (count === 0) while (compareExchange(state, 0, free, loading) === cutting) wait(state, 0, cutting, waitMs);
    count++;
  };
  const leave = (): void => {
    if (--count === 0) store(state, 0, free);
  };
  return {
    async load(load) {
      enter();
      try {
        return await load();
      } finally {
        leave();
      }
    },
    now(load) {
      enter();
      try {
        return load();
      } finally {
        leave();
      }
    },
  };
}

/** The worker's side: `begin` before code is cut off, `end` once it is. */
export type CutLock = { begin(): Promise<void>; end(): void };

export function cutLock(lock: SharedArrayBuffer): CutLock {
  const state = new Int32Array(lock);
  return {
    async begin() {
      for (const end = performance.now() + patienceMs; performance.now() < end;) {
        if (compareExchange(state, 0, free, cutting) !== loading) return;
        await new Promise((resolve) => setTimeout(resolve, lookMs));
      }
      store(state, 0, cutting);
    },
    end() {
      if (compareExchange(state, 0, cutting, free) === cutting) notify(state, 0);
    },
  };
}
