import type * as vscode from 'vscode';
import type { KernelProcess } from '#client/kernelProcess.ts';
import { CatalogError, isAbort, messageOf } from '#shared/errors.ts';
import type { ExecuteReply, KernelOutput } from '#shared/kernelMessages.ts';
import { logFailure, type Log } from '../host/log.ts';
import { CellOutputs, type Displays } from './outputs.ts';

/** Starts a kernel whose `db` is the catalog that the notebook uses now. */
export type StartKernel = (
  notebook: vscode.NotebookDocument,
  cwd: string,
  signal: AbortSignal,
) => Promise<KernelProcess>;

export type SessionParts = {
  notebook: vscode.NotebookDocument;
  controller: vscode.NotebookController;
  /** The notebook's folder: relative paths of cells start there. */
  cwd: string;
  start: StartKernel;
  log: Log;
};

/** One run of a cell, kept after its end for what its timers print. */
type Run = {
  cell: vscode.NotebookCell;
  order: number | undefined;
  startedAt: number;
  ended?: { at: number; success: boolean };
};

/** Late output is gathered this long: each batch is an execution of its own in the editor. */
const lateMilliseconds = 50;
/** Runs whose late output is still shown. */
const keptRuns = 500;

/** The kernel of one notebook: started early, one cell at a time, replaced after it ended. */
export class NotebookSession implements vscode.Disposable {
  #parts: SessionParts;
  readonly #displays: Displays = new Map();
  readonly #runs = new Map<string, Run>();
  readonly #late = new Map<string, KernelOutput[]>();
  #lateTimer: NodeJS.Timeout | undefined;
  #kernel: Promise<KernelProcess> | undefined;
  #lifetime = new AbortController();
  /** Cells run in the order in which they were asked for, also those of two "Run" clicks. */
  #queue: Promise<unknown> = Promise.resolve();
  /** Incremented by an interrupt or restart: what was queued before it does not run. */
  #round = 0;
  #hasRun = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** Whether a cell ran since the kernel started, so that there is something to lose. */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  /** The running kernel, for completion and hover; `undefined` while there is none. */
  get kernel(): Promise<KernelProcess> | undefined {
    return this.#kernel;
  }

  /** Goes on in another document: an untitled notebook that was saved is a new one for the editor. */
  moveTo(notebook: vscode.NotebookDocument): void {
    this.#parts = { ...this.#parts, notebook };
    this.#runs.clear();
  }

  /** Starts the kernel before the first cell needs it. What goes wrong is told when a cell runs. */
  warm(): void {
    this.#ensure().catch((error: unknown) => {
      if (!isAbort(error)) logFailure(this.#parts.log, 'starting the kernel', error);
    });
  }

  /** Runs cells after those that are waiting; the first that fails ends the row. */
  run(cells: readonly vscode.NotebookCell[]): Promise<void> {
    const round = this.#round;
    // Made now, so that the editor shows every cell as waiting.
    const executions = cells.map((cell) => this.#parts.controller.createNotebookCellExecution(cell));
    const before = this.#queue;
    const runAll = async (): Promise<void> => {
      await before;
      let goesOn = true;
      for (const execution of executions) {
        goesOn = goesOn && round === this.#round && !execution.token.isCancellationRequested;
        if (goesOn) goesOn = await this.#runCell(execution);
        else execution.end(undefined);
      }
    };
    const work = runAll();
    this.#queue = work.catch((error: unknown) => logFailure(this.#parts.log, 'running cells', error));
    return work;
  }

  /** Ends the running cell and forgets those that wait; variables stay. */
  async interrupt(): Promise<void> {
    this.#round++;
    const kernel = await this.#kernel?.catch(() => undefined);
    if ((await kernel?.interrupt())?.status !== 'failed') return;
    throw new CatalogError(
      'Unsupported',
      'The cell could not be interrupted.',
      'Restart the kernel to end it; its variables are lost then.',
    );
  }

  /** Starts the kernel anew when nothing ran in it yet: `db` follows the list of connections until it is used. */
  renew(): void {
    if (this.#hasRun || !this.#kernel) return;
    this.#end();
    this.warm();
  }

  /** Ends the kernel and starts another; variables are lost, outputs stay. */
  async restart(): Promise<void> {
    this.#round++;
    this.#end();
    await this.#ensure();
  }

  dispose(): void {
    this.#round++;
    this.#end();
    clearTimeout(this.#lateTimer);
    this.#late.clear();
  }

  #end(): void {
    this.#lifetime.abort();
    this.#lifetime = new AbortController();
    const kernel = this.#kernel;
    this.#kernel = undefined;
    this.#hasRun = false;
    this.#runs.clear();
    // A kernel that never started has nothing to close.
    void kernel?.then(
      (started) => started.dispose(),
      () => undefined,
    );
  }

  #ensure(): Promise<KernelProcess> {
    if (this.#kernel) return this.#kernel;
    const starting = this.#parts.start(this.#parts.notebook, this.#parts.cwd, this.#lifetime.signal);
    this.#kernel = starting;
    const forget = () => {
      if (this.#kernel !== starting) return;
      this.#kernel = undefined;
      this.#hasRun = false;
    };
    const listen = (kernel: KernelProcess): void => {
      kernel.onOrphanOutput((message) => this.#receiveLate(message));
      kernel.onDidExit(({ isExpected, reason }) => {
        if (!isExpected) this.#parts.log.warn(reason);
        forget();
      });
    };
    void starting.then(listen, forget);
    return starting;
  }

  /** @returns whether the cell succeeded */
  async #runCell(execution: vscode.NotebookCellExecution): Promise<boolean> {
    const startedAt = Date.now();
    execution.start(startedAt);
    void execution.clearOutput();
    const outputs = new CellOutputs(execution, this.#displays);
    for (const [id, run] of this.#runs) if (run.cell === execution.cell) this.#runs.delete(id);
    const run: Run = { cell: execution.cell, order: undefined, startedAt };
    let success = false;
    try {
      const kernel = await this.#ensure();
      this.#hasRun = true;
      const reply = await kernel.execute(execution.cell.document.getText(), (message) => {
        this.#keep(message.parent, run);
        if (message.type === 'execute_input') {
          run.order = message.content.executionCount;
          execution.executionOrder = run.order;
        }
        outputs.add(message);
      });
      success = isOk(reply);
    } catch (error) {
      if (!isAbort(error)) {
        logFailure(this.#parts.log, 'running a cell', error);
        outputs.fail(error instanceof Error ? error.name : 'Error', messageOf(error));
      }
    }
    outputs.flush();
    const at = Date.now();
    run.ended = { at, success };
    execution.end(success, at);
    return success;
  }

  #keep(id: string, run: Run): void {
    if (this.#runs.has(id)) return;
    this.#runs.set(id, run);
    const oldest = this.#runs.size > keptRuns ? this.#runs.keys().next().value : undefined;
    if (oldest !== undefined) this.#runs.delete(oldest);
  }

  #receiveLate(message: KernelOutput): void {
    if (message.type === 'status' || message.type === 'execute_input') return;
    // Its run may not have ended here yet: the reply may lie in the same chunk, and who waits for it goes on later.
    if (this.#runs.has(message.parent)) this.#holdLate(message.parent, [message]);
  }

  #holdLate(id: string, messages: readonly KernelOutput[]): void {
    this.#late.set(id, [...(this.#late.get(id) ?? []), ...messages]);
    this.#lateTimer ??= setTimeout(() => this.#flushLate(), lateMilliseconds);
  }

  /** Adds what timers printed to the cell that set them, which is over for the editor. */
  #flushLate(): void {
    this.#lateTimer = undefined;
    const batches = [...this.#late];
    this.#late.clear();
    for (const [id, messages] of batches) {
      const run = this.#runs.get(id);
      // A cell that ran again has other outputs now, and one that was deleted has none.
      if (!run || run.cell.index < 0) continue;
      if (!run.ended) {
        this.#holdLate(id, messages);
        continue;
      }
      try {
        const execution = this.#parts.controller.createNotebookCellExecution(run.cell);
        execution.executionOrder = run.order;
        execution.start(run.startedAt);
        const outputs = new CellOutputs(execution, this.#displays);
        for (const message of messages) outputs.add(message);
        outputs.flush();
        execution.end(run.ended.success, run.ended.at);
      } catch (error) {
        // The editor refuses while the cell waits to run again.
        this.#parts.log.debug(`late output was dropped: ${messageOf(error)}`);
      }
    }
  }
}

const isOk = (reply: ExecuteReply): boolean => reply.status === 'ok';
