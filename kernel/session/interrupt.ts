import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Session } from 'node:inspector';

/** A responsive main thread ends its cell by itself within this time; then nothing has to be torn out of its stack. */
const graceMs = 15;
const againMs = 100;
const giveUpMs = 3000;

export type Interrupter = {
  /** Whether running code can be stopped; a hanging `await` can always be given up. */
  readonly canTerminate: boolean;
  /** The main thread is up. What loads there before is the kernel's own, and would be broken by being cut off. */
  mayStop(): void;
  /** Calls `ask` until `isOver`, and stops the code that runs on the main thread. Resolves to whether it is over. */
  interrupt(ask: () => void, isOver: () => boolean): Promise<boolean>;
  /** Stops whatever runs on the main thread. */
  terminate(): void;
  dispose(): void;
};

/**
 * Stops code on the main thread from this worker by the inspector's `Runtime.terminateExecution`: unlike a signal it
 * works in timers, after an `await` and on Windows. It cuts off the whole stack, the kernel's own functions too, and
 * Node aborts over that in timers unless it was started with `--no-force-async-hooks-checks`.
 */
export function createInterrupter(isFlagSet: boolean): Interrupter {
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
    session.post('Runtime.terminateExecution', () => open--);
  };
  const up = new AbortController();
  const dispose = () => {
    open = 0;
    session?.disconnect();
    session = undefined;
  };
  const hasHit = () => open === 0;
  // One that came when the code had just ended waits for the next that runs, and must not find the next cell.
  const settle = async (ask: () => void): Promise<void> => {
    for (const end = performance.now() + giveUpMs; !hasHit() && performance.now() < end;) {
      ask();
      await within(graceMs, hasHit);
    }
  };
  return {
    canTerminate: probe !== undefined,
    mayStop: () => up.abort(),
    terminate,
    dispose,
    async interrupt(ask, isOver) {
      if (!up.signal.aborted) await once(up.signal, 'abort');
      ask();
      if (await within(graceMs, isOver)) return true;
      try {
        for (const started = performance.now(); performance.now() - started < giveUpMs;) {
          terminate();
          // A termination of an idle thread may hit the handler of our own message, so it is said again.
          ask();
          if (!(await within(againMs, isOver))) continue;
          await settle(ask);
          return true;
        }
        return false;
      } finally {
        dispose();
      }
    },
  };
}

async function within(milliseconds: number, isOver: () => boolean): Promise<boolean> {
  for (const end = performance.now() + milliseconds; !isOver(); await sleep(2)) {
    if (performance.now() > end) return false;
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
