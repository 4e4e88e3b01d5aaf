import type { CellPlace, KernelMessage, KernelRun } from '#shared/protocol/kernelMessages.ts';
import { OutputLog } from '#shared/protocol/outputLog.ts';

/** Number of runs that are kept, because their timers may print later. */
const keptRuns = 200;
/**
 * If a client received the end of a run at least this long before it disconnected, the client has certainly shown the
 * run. A shorter time is not enough: while a window reloads, its extensions still run for some seconds, but outputs are
 * no longer shown.
 */
const seenMs = 5000;

type Entry = Omit<KernelRun, 'messages' | 'isSeen'> & { log: OutputLog; isSeen: boolean };

/**
 * Records what cells did for a later client: complete runs whose end no client has seen, and everything sent without a
 * client.
 */
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

  /** Records a message to the client, whether or not a client is connected. */
  take(message: KernelMessage): void {
    const run = this.#runs.get(message.parent);
    if (!run || message.type === 'status' || message.type === 'input_request') return;
    if (message.type === 'connection_request') return;
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

  leave(): void {
    this.#isAlone = true;
    this.#settle();
  }

  /** Returns what a new client has missed. The client itself receives all later messages. */
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
