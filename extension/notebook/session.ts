import * as vscode from 'vscode';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { isAbort, messageOf } from '#shared/errors.ts';
import type { ExecuteReply } from '#shared/protocol/kernelMessages.ts';
import { logFailure } from '../host/log.ts';
import { cellLocation } from './cellLocation.ts';
import { CellRun } from './cellRun.ts';
import { LateOutputs } from './timerOutputs.ts';
import type { Displays } from './outputs.ts';
import { showKernelDied, showCellsNotRun } from './notices.ts';
import { resumeRuns } from './resume.ts';
import { SessionKernel } from './sessionKernel.ts';
import type { SessionDeps, SessionState, StartedKernel } from './sessionTypes.ts';
import { findWaiting, WaitingCells, type WaitingRow } from './queuedCells.ts';

/** The kernel of one notebook and the cells that run in it, one at a time. */
export class NotebookSession implements vscode.Disposable {
  #parts: SessionDeps;
  readonly #displays: Displays = new Map();
  readonly #late: LateOutputs;
  readonly #changed = new vscode.EventEmitter<void>();
  /** Fires when the kernel or a cell starts or ends. */
  readonly onDidChange = this.#changed.event;
  readonly #kernel: SessionKernel;
  /** Cells run in the order of their requests, also across several "Run" clicks. */
  #queue: Promise<unknown> = Promise.resolve();
  #current: CellRun | undefined;
  /** The run that is moving to another document. It may end during the move. */
  #moving: CellRun | undefined;
  readonly #waiting = new WaitingCells((rows) => this.#parts.onWaiting(this.#parts.notebook, rows));
  /** An interrupt and a restart increment this number. Cells that were queued before do not run. */
  #round = 0;
  /** Cells whose outputs are from a kernel that has ended. */
  #stale = new WeakSet<vscode.NotebookCell>();
  #select: () => void = () => {};
  #needsSelection = false;
  #selected = new Promise<void>((resolve) => (this.#select = resolve));

  constructor(parts: SessionDeps) {
    this.#parts = parts;
    this.#late = new LateOutputs(parts.controller, this.#displays, parts.log);
    this.#kernel = new SessionKernel(() => this.#parts, {
      onStarting: () => this.#changed.fire(),
      onStarted: (started) => this.#started(started),
      onGone: (hasRun, reason) => {
        if (hasRun) this.#markStale();
        this.#late.clear();
        this.#changed.fire();
        if (!hasRun || reason === undefined) return;
        // Waiting cells must not run, because they rely on variables that are lost.
        this.#forgetWaiting();
        // If a cell is running, the cell shows the error, so no notification is needed.
        if (!this.#current) showKernelDied(this.notebook, reason);
      },
      onOrphanOutput: (message) => this.#late.receive(message),
    });
  }

  get notebook(): vscode.NotebookDocument {
    return this.#parts.notebook;
  }

  /** Whether a cell ran since the kernel started, so that a restart would lose variables. */
  get hasRun(): boolean {
    return this.#kernel.hasRun;
  }

  get state(): SessionState {
    if (!this.#kernel.process) return 'none';
    if (!this.#kernel.isReady) return 'starting';
    return this.#current ? 'busy' : 'idle';
  }

  isRunning(cell: vscode.NotebookCell): boolean {
    return this.#current?.cell === cell;
  }

  /** The running or starting kernel, for completion and hover; `undefined` if there is none. */
  get kernel(): Promise<KernelProcess> | undefined {
    return this.#kernel.process;
  }

  /** Whether a cell ran in a kernel that has ended, so that its variables are lost. */
  isStale(cell: vscode.NotebookCell): boolean {
    return this.#stale.has(cell);
  }

  /** Whether the Lance kernel must be selected before the output of a run that moved to this document can be shown. */
  get needsSelection(): boolean {
    return this.#needsSelection && this.#moving !== undefined;
  }

  /** Records that VS Code now lets our controller run cells of this notebook. */
  select(): void {
    this.#needsSelection = false;
    this.#select();
  }

  /**
   * Continues in another document. When an untitled notebook is saved or a file is renamed, VS Code opens a new
   * document. The kernel keeps its working folder until it is restarted.
   * @param isThere resolves when that document has its content
   */
  moveTo(notebook: vscode.NotebookDocument, cwd: string, isThere: () => Promise<void>): void {
    this.#parts = { ...this.#parts, notebook, cwd };
    this.#selected = new Promise<void>((resolve) => (this.#select = resolve));
    this.#needsSelection = true;
    // The outputs of the old document can't be updated in the new document.
    this.#displays.clear();
    this.#late.moveTo(notebook);
    const run = this.#current ?? this.#moving;
    if (!run) return;
    this.#moving = run;
    run.leave();
    const follow = async (): Promise<void> => {
      await this.#selected;
      const execute = (cell: vscode.NotebookCell) => this.#parts.controller.createNotebookCellExecution(cell);
      // Return if the notebook has moved again meanwhile.
      if (this.#parts.notebook !== notebook) return;
      await run.moveTo(notebook, execute, isThere);
      if (this.#parts.notebook === notebook) this.#moving = undefined;
    };
    follow().catch((error: unknown) => logFailure(this.#parts.log, 'continuing in a renamed notebook', error));
  }

  /** Starts the kernel before the first cell needs it. A failure is reported when a cell runs. */
  warm(): void {
    this.#kernel.warm();
  }

  /** Runs cells after all waiting cells. If a cell fails, the cells after it do not run. */
  run(cells: readonly vscode.NotebookCell[]): Promise<void> {
    this.select();
    const round = this.#round;
    // Create the executions now, so that VS Code shows every cell as pending.
    const executions = cells.map((cell) => this.#parts.controller.createNotebookCellExecution(cell));
    const row = this.#waiting.add(cells);
    return this.#enqueue(() => this.#runRow(row, executions, round));
  }

  /** Interrupts the running cell and drops waiting cells; variables stay. @returns false if the cell continues */
  async interrupt(): Promise<boolean> {
    this.#forgetWaiting();
    const kernel = await this.#kernel.process?.catch(() => undefined);
    return (await kernel?.interrupt())?.status !== 'failed';
  }

  /** Restarts the kernel if no cell has run in it, because `db` follows the list of connections until then. */
  renew(): void {
    this.#kernel.renew();
  }

  /** Restarts the kernel; variables are lost, outputs stay. */
  async restart(): Promise<void> {
    this.#forgetWaiting();
    this.#end();
    await this.#kernel.ensure();
  }

  /** Disconnects from the kernel when the window closes. A used kernel waits, because the window may reload. */
  leave(): void {
    this.#waiting.leave();
    this.#round++;
    this.#current = undefined;
    this.#kernel.leave();
    this.#late.dispose();
    this.#changed.dispose();
  }

  dispose(): void {
    this.#forgetWaiting();
    this.#end();
    this.#late.dispose();
    this.#changed.dispose();
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    const before = this.#queue;
    const all = (async () => {
      await before;
      await work();
    })();
    this.#queue = all.catch((error: unknown) => logFailure(this.#parts.log, 'running cells', error));
    return all;
  }

  #end(): void {
    this.#current?.fail('KernelRestarted', 'The kernel was stopped while this cell ran. Run the cell again.');
    this.#current?.end(false);
    this.#kernel.end();
  }

  #forgetWaiting(): void {
    this.#round++;
    this.#waiting.clear();
  }

  /** Creates the execution of a waiting cell; none if the user has requested that cell again. */
  #planAgain(cell: vscode.NotebookCell): vscode.NotebookCellExecution[] {
    try {
      return [this.#parts.controller.createNotebookCellExecution(cell)];
    } catch {
      return [];
    }
  }

  async #runRow(row: WaitingRow, planned: vscode.NotebookCellExecution[], round: number, goesOn = true): Promise<void> {
    for (const execution of planned) {
      goesOn = goesOn && round === this.#round && !execution.token.isCancellationRequested;
      if (!goesOn) {
        execution.end(undefined);
        continue;
      }
      this.#waiting.begin(row);
      goesOn = await this.#runCell(execution);
    }
    // If `#round` has changed, the window has closed or the waiting cells were dropped. In both cases this row must
    // stay as it is.
    if (round === this.#round) this.#waiting.end(row);
  }

  #markStale(): void {
    const ran = this.#parts.notebook.getCells().filter((cell) => cell.executionSummary?.executionOrder !== undefined);
    this.#stale = new WeakSet(ran);
  }

  #started(started: StartedKernel): void {
    if (started.hasLost) this.#markStale();
    this.#changed.fire();
    const rows = [...started.waiting];
    this.#waiting.restore(rows);
    if (started.runs.length === 0 && rows.length === 0) return;
    const round = this.#round;
    this.#enqueue(() => this.#selected.then(() => this.#resume(started, rows, round))).catch(() => undefined);
  }

  /** Shows what ran while the window was away, then runs the waiting cells as if the window had stayed open. */
  async #resume({ kernel, runs }: StartedKernel, rows: readonly WaitingRow[], round: number): Promise<void> {
    const { notebook, controller, log } = this.#parts;
    const { cells, isWhole } = findWaiting(notebook, rows);
    const planned = isWhole ? cells.map((row) => row.flatMap((cell) => this.#planAgain(cell))) : [];
    if (!isWhole) void showCellsNotRun(notebook, rows, cells.flat(), (found) => void this.run(found));
    const parts = { notebook, controller, displays: this.#displays, late: this.#late, log };
    const endedWell = await resumeRuns(kernel, runs, parts, (run, work) => this.#follow(run, work));
    for (const [index, row] of rows.entries()) {
      await this.#runRow(row, planned[index] ?? [], round, endedWell || !row.hasBegun);
    }
  }

  /** @returns whether the cell succeeded */
  async #runCell(planned: vscode.NotebookCellExecution): Promise<boolean> {
    const execution = this.#here(planned);
    if (!execution) return false;
    const run = new CellRun(execution, this.#displays);
    return this.#follow(run, async () => {
      const kernel = await this.#kernel.forCell(() => !run.ended);
      const options = { cell: cellLocation(run.cell) };
      return kernel.execute(
        run.code,
        (message) => {
          this.#late.know(message.parent, run);
          run.take(message);
        },
        options,
      );
    });
  }

  /**
   * Returns the execution in the current document. If VS Code has opened a new document for the notebook since the
   * request, `planned` belongs to the earlier document. Then this method creates a new execution.
   */
  #here(planned: vscode.NotebookCellExecution): vscode.NotebookCellExecution | undefined {
    const { notebook, controller } = this.#parts;
    if (planned.cell.notebook === notebook) return planned;
    const cell = notebook.getCells()[planned.cell.index];
    return cell && controller.createNotebookCellExecution(cell);
  }

  async #follow(run: CellRun, work: () => Promise<ExecuteReply>): Promise<boolean> {
    this.#current = run;
    this.#stale.delete(run.cell);
    this.#changed.fire();
    let success = false;
    try {
      success = (await work()).status === 'ok';
    } catch (error) {
      // Show no error if this session itself has ended the run.
      if (!isAbort(error) && this.#current === run && !run.ended) {
        logFailure(this.#parts.log, 'running a cell', error);
        run.fail(error instanceof Error ? error.name : 'Error', messageOf(error));
      }
    }
    if (this.#current !== run) return false;
    this.#current = undefined;
    run.end(success);
    this.#changed.fire();
    return success;
  }
}
