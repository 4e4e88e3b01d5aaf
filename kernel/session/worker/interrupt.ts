import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { cpuUsage, pid } from 'node:process';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { TerminationLock } from '#session/threads/loadLock.ts';

/** Milliseconds that a thread was running, and milliseconds that it was ready to run but had no processor. */
type ThreadTimes = { usedMs: number; waitedMs: number };

/**
 * Returns a function that reports how long the main thread has run since this call. On Linux, this is the time of the
 * main thread, because Linux counts per thread. On other systems, this is the CPU time of all threads, limited to the
 * time that one thread can use; the time spent waiting is unknown.
 */
export function readThreadTimes(): () => ThreadTimes {
  const begun = schedule();
  if (begun) {
    return () => {
      const { usedMs, waitedMs } = schedule() ?? begun;
      return { usedMs: usedMs - begun.usedMs, waitedMs: waitedMs - begun.waitedMs };
    };
  }
  const started = cpuUsage();
  const since = performance.now();
  return () => {
    const { user, system } = cpuUsage(started);
    return { usedMs: Math.min((user + system) / 1000, performance.now() - since), waitedMs: 0 };
  };
}

/** Reads the main thread's `schedstat`, see `proc(5)`: nanoseconds run, nanoseconds waited to run, number of runs. */
function schedule(): ThreadTimes | undefined {
  try {
    const [ran = 0, waited = 0] = readFileSync(`/proc/self/task/${pid}/schedstat`, 'utf8').split(' ').map(Number);
    // The result is undefined if the count is 0, because a system that does not count reports 0.
    return ran > 0 ? { usedMs: ran / 1e6, waitedMs: waited / 1e6 } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A main thread that runs no code answers a ping within this processor time. Such a thread is not terminated, because a
 * termination would lose callbacks that wait in the thread. The limit is not wall time, because on a busy machine the
 * thread may wait long for a processor.
 */
const graceMs = 15;
/** Limit for a thread that is blocked in a call and neither uses a processor nor waits for one. */
const blockedMs = 100;
const againMs = 100;
/**
 * How long a free thread may take to end its cell. If the thread were terminated earlier, only a part of what the cell
 * started would be cancelled.
 */
const endingMs = 250;
const giveUpMs = 3000;

type Ping = () => () => boolean;

export type Interrupter = {
  /** Whether running code can be terminated; a pending `await` can always be cancelled. */
  readonly canTerminate: boolean;
  /**
   * Called when the main thread has started. Before that, the thread loads the kernel's own code, and a termination
   * would break the loading.
   */
  mayStop(): void;
  /**
   * Stops the code that runs on the main thread, so that the main thread can end the cell.
   * @param ping pings the main thread; returns a function that reports whether it has answered
   * @param ask requests the end of the cell
   * @returns the last result of `isOver`
   */
  interrupt(ping: Ping, ask: () => void, isOver: () => boolean): Promise<boolean>;
  terminate(): void;
  dispose(): void;
};

/**
 * Creates an interrupter that stops code on the main thread from this worker. Uses the inspector's
 * `Runtime.terminateExecution`: unlike a signal it works in timers, after an `await` and on Windows. It terminates the
 * whole stack, including the kernel's own functions. If this happens in a timer, Node.js aborts, unless it was started
 * with `--no-force-async-hooks-checks`.
 */
export function createInterrupter(isFlagSet: boolean, loads: TerminationLock): Interrupter {
  const probe = isFlagSet ? connect() : undefined;
  probe?.disconnect();
  // The session is connected only during an interrupt: with an open session every `console.log` takes ten times as
  // long, because the session receives it.
  let session: Session | undefined;
  /** Terminations that have not taken effect yet. */
  let open = 0;
  const terminate = () => {
    session ??= probe && connect();
    if (!session) return;
    open++;
    const asked = session;
    session.post('Runtime.terminateExecution', () => {
      // Node.js also calls back for a session that was closed meanwhile. Such a call is not counted.
      if (session === asked && --open === 0) loads.end();
    });
  };
  const up = new AbortController();
  const dispose = () => {
    open = 0;
    loads.end();
    session?.disconnect();
    session = undefined;
  };
  const hasHit = () => open === 0;
  // A termination that arrives after the code has ended hits the next code that runs. That code must be neither the
  // next cell nor the code that ends this cell, so `settle` waits until no termination is open.
  const settle = async (ping: Ping): Promise<void> => {
    for (const end = performance.now() + giveUpMs; !hasHit() && performance.now() < end;) {
      ping();
      await within(graceMs, hasHit);
    }
  };
  return {
    canTerminate: probe !== undefined,
    mayStop: () => up.abort(),
    terminate,
    dispose,
    async interrupt(ping, ask, isOver) {
      if (!up.signal.aborted) await once(up.signal, 'abort');
      const started = performance.now();
      let hasAnswered = ping();
      try {
        for (let isGrace = true; ; isGrace = false) {
          const isFree = (): boolean => hasAnswered() || isOver();
          if (await (isGrace ? withinGrace(isFree) : within(againMs, isFree))) {
            await settle(ping);
            ask();
            if (await within(endingMs, isOver)) return true;
          }
          if (performance.now() - started > giveUpMs) {
            // The native call of the cell can't be stopped. The main thread handles this request as soon as the call
            // returns.
            ask();
            return isOver();
          }
          await loads.begin();
          terminate();
          hasAnswered = ping();
        }
      } finally {
        dispose();
      }
    },
  };
}

async function within(milliseconds: number, isOver: () => boolean): Promise<boolean> {
  const end = performance.now() + milliseconds;
  return before(() => performance.now() > end, isOver);
}

/** Like `within`, but for the grace period of the main thread. */
function withinGrace(isOver: () => boolean): Promise<boolean> {
  const begun = performance.now();
  const turns = readThreadTimes();
  const isLate = (): boolean => {
    const passedMs = performance.now() - begun;
    const { usedMs, waitedMs } = turns();
    return passedMs > giveUpMs || usedMs > graceMs || passedMs - usedMs - waitedMs > blockedMs;
  };
  return before(isLate, isOver);
}

async function before(isLate: () => boolean, isOver: () => boolean): Promise<boolean> {
  for (; !isOver(); await sleep(2)) {
    if (!isLate()) continue;
    // Gives this thread the chance to receive an answer: the thread may have been delayed, and the answer may already
    // be queued.
    await setImmediate();
    return isOver();
  }
  return true;
}

function connect(): Session | undefined {
  try {
    const session = new Session();
    session.connectToMainThread();
    return session;
  } catch {
    // The program that embeds Node.js has no inspector. The handshake reports this to the client, and the user can only
    // restart the kernel.
    return undefined;
  }
}
