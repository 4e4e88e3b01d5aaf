import type { CellPlace, KernelMessage, KernelRun } from '#shared/protocol/kernelMessages.ts';
import { OutputLog } from '#shared/protocol/outputLog.ts';

/** Runs that are remembered for what their timers print later. */
const keptRuns = 200;
/**
 * How long before it left a client must have got the end of a run, to have surely shown it: a window that reloads lets its
 * extensions run on for some seconds, but takes nothing of them any more.
 */
const seenMs = 5000;

type Entry = Omit<KernelRun, 'messages' | 'isSeen'> & { log: OutputLog; isSeen: boolean };

/** What cells did, for a client that comes later: whole for runs whose end nobody saw, and what came while nobody was there. */
export class RunLog {
  readonly #runs = new Map<string, Entry>();
  #isAlone = false;

  begin(id: string, cell: CellPlace, code: string): void {
    this.#settle();
    this.#runs.set(id, {
      id,
      cell,
      code,
      startedAt: Date.now(),
      executionCount: null,
      ended: null,
      isSeen: false,
      log: new OutputLog(),
    });
    const [oldest] = this.#runs.size > keptRuns ? this.#runs.keys() : [];
    if (oldest !== undefined) this.#runs.delete(oldest);
  }

  /** Takes what is sent to the client, or would be if there were one. */
  take(message: KernelMessage): void {
    const run = this.#runs.get(message.parent);
    if (!run || message.type === 'status' || message.type === 'input_request') return;
    if (run.isSeen && !this.#isAlone) return;
    if (message.type === 'execute_input') {
      run.executionCount = message.content.executionCount;
      run.startedAt = Date.now();
    }
    if (message.type === 'execute_reply') {
      run.ended = { at: Date.now(), success: message.content.status === 'ok' };
    }
    run.log.add(message);
  }

  /** The client left. */
  leave(): void {
    this.#isAlone = true;
    this.#settle();
  }

  /** What a new client must know. From here on it gets everything itself. */
  attach(): KernelRun[] {
    this.#isAlone = false;
    const runs = [...this.#runs.values()].map(({ log, ...run }) => ({ ...run, messages: log.messages(run.id) }));
    for (const run of this.#runs.values()) {
      run.isSeen = run.ended !== null;
      if (run.isSeen) run.log.clear();
    }
    return runs;
  }

  #settle(): void {
    const before = Date.now() - seenMs;
    for (const run of this.#runs.values()) {
      if (run.isSeen || !run.ended || run.ended.at > before) continue;
      run.isSeen = true;
      run.log.clear();
    }
  }
}
