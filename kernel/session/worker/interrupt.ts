import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { cpuUsage, pid } from 'node:process';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { CutLock } from '#session/threads/loadLock.ts';

/** Milliseconds that a thread was at work, and that it wanted to be and had no processor. */
type Turns = { usedMs: number; waitedMs: number };

/**
 * Says how much the main thread has worked since this call. Linux knows it of a thread, and the main one has the number of
 * its process. Elsewhere it is what all threads have used, as far as one thread can have; that it waits is not known there.
 */
export function turnsOfMainThread(): () => Turns {
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

/** As `proc(5)` has it of a thread: nanoseconds that it ran, nanoseconds that it waited to run, and how often it ran. */
function schedule(): Turns | undefined {
  try {
    const [ran = 0, waited = 0] = readFileSync(`/proc/self/task/${pid}/schedstat`, 'utf8').split(' ').map(Number);
    // A kernel that does not count says 0.
    return ran > 0 ? { usedMs: ran / 1e6, waitedMs: waited / 1e6 } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A main thread that is free says so within this time of a processor; then nothing has to be torn out of its stack, which
 * loses what waits for its turn there. Not of the clock: with more at work than there are processors a turn comes late.
 */
const graceMs = 15;
/** For a thread that is blocked in a call, and neither uses a processor nor waits for one. */
const blockedMs = 100;
const againMs = 100;
/** How long a thread that was free may take to end its cell. Cut off in that, it would cancel half of what the cell began. */
const endingMs = 250;
const giveUpMs = 3000;

type Ping = () => () => boolean;

export type Interrupter = {
  /** Whether running code can be stopped; a hanging `await` can always be given up. */
  readonly canTerminate: boolean;
  /** The main thread is up. What loads there before is the kernel's own, and would be broken by being cut off. */
  mayStop(): void;
  /**
   * Stops the code that runs on the main thread, and has it end the cell. Resolves to whether it is over.
   * @param ping asks the main thread whether it is free, and gives what says whether it has answered
   * @param ask has it end the cell
   */
  interrupt(ping: Ping, ask: () => void, isOver: () => boolean): Promise<boolean>;
  /** Stops whatever runs on the main thread. */
  terminate(): void;
  dispose(): void;
};

/**
 * Stops code on the main thread from this worker by the inspector's `Runtime.terminateExecution`: unlike a signal it
 * works in timers, after an `await` and on Windows. It cuts off the whole stack, the kernel's own functions too, and
 * Node aborts over that in timers unless it was started with `--no-force-async-hooks-checks`.
 */
export function createInterrupter(isFlagSet: boolean, loads: CutLock): Interrupter {
  const probe = isFlagSet ? connect() : undefined;
  probe?.disconnect();
  // Connected for an interrupt only: while a session is, every console.log is told to it and takes ten times as long.
  let session: Session | undefined;
  /** Terminations that have not hit anything yet. */
  let open = 0;
  const terminate = () => {
    session ??= probe && connect();
    if (!session) return;
    open++;
    const asked = session;
    session.post('Runtime.terminateExecution', () => {
      // Of a session that was closed meanwhile Node tells as well, and nothing of it counts any more.
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
  // One that came when the code had just ended waits for the next that runs, and must find neither the next cell nor what
  // ends this one.
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
            // Done as soon as the call that can't be stopped has come back.
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

/** As `within`, of the grace that the main thread has. */
function withinGrace(isOver: () => boolean): Promise<boolean> {
  const begun = performance.now();
  const turns = turnsOfMainThread();
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
    // This thread may be what was late, and the answer be there already.
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
    // An embedder without an inspector: said in the handshake, and a restart is what remains.
    return undefined;
  }
}
