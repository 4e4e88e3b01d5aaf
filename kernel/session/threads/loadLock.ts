import type { PartLoader } from '#shared/loadLazy.ts';

// An interrupt terminates whatever runs on the main thread. A module terminated during its evaluation stays incomplete
// until the kernel is restarted, and the engine, a catalog or Arrow may depend on that module. So nothing is terminated
// while a part of the kernel loads, and no part starts to load during a termination.

const free = 0;
const loading = 1;
const cutting = 2;

/**
 * How long an interrupt waits while a part loads. The wait is limited, because code of a cell may keep the load from
 * finishing.
 */
const patienceMs = 2000;
const lookMs = 2;
/** Maximum duration of one wait. Normally `end` wakes the thread earlier. */
const waitMs = 50;

const { compareExchange, notify, store, wait } = Atomics;

export const createLoadLock = (): SharedArrayBuffer => new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);

/** The main thread's side: holds the lock while a part loads. */
export function lockedLoader(lock: SharedArrayBuffer): PartLoader {
  const state = new Int32Array(lock);
  let count = 0;
  const enter = (): void => {
    // A termination during this wait is safe, because no load has started yet.
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

/** The worker's side: call `begin` before code is terminated, and `end` afterwards. */
export type TerminationLock = { begin(): Promise<void>; end(): void };

export function createTerminationLock(lock: SharedArrayBuffer): TerminationLock {
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
