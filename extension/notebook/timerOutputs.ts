import type * as vscode from 'vscode';
import { messageOf } from '#shared/errors.ts';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import type { Log } from '../host/log.ts';
import { findCell, cellLocation } from './cellLocation.ts';
import type { CellRun } from './cellRun.ts';
import { CellOutputs, type Displays } from './outputs.ts';

/** How long late output is collected before it is shown. VS Code needs a separate execution for each batch. */
const gatherMilliseconds = 50;
/** Limit of the ended runs that still get late output. */
const keptRuns = 500;

/** The cell and times of a run that has ended. */
type EndedRun = Pick<CellRun, 'cell' | 'order' | 'startedAt' | 'ended'>;

/** Adds output of timers to the cell that set the timers, after VS Code has ended the execution of the cell. */
export class LateOutputs implements vscode.Disposable {
  readonly #controller: vscode.NotebookController;
  readonly #displays: Displays;
  readonly #log: Log;
  readonly #runs = new Map<string, EndedRun>();
  readonly #waiting = new Map<string, KernelOutput[]>();
  #timer: NodeJS.Timeout | undefined;

  constructor(controller: vscode.NotebookController, displays: Displays, log: Log) {
    this.#controller = controller;
    this.#displays = displays;
    this.#log = log;
  }

  /**
   * Stores a run under `id`, which is the parent id of its outputs. From now on output of earlier runs of the same cell
   * is dropped.
   */
  know(id: string, run: EndedRun): void {
    if (this.#runs.get(id) === run) return;
    for (const [earlier, { cell }] of this.#runs) if (cell === run.cell) this.#runs.delete(earlier);
    this.#runs.set(id, run);
    const oldest = this.#runs.size > keptRuns ? this.#runs.keys().next().value : undefined;
    if (oldest !== undefined) this.#runs.delete(oldest);
  }

  receive(message: KernelOutput): void {
    if (message.type === 'status' || message.type === 'execute_input') return;
    // Hold the output, because its run may not have ended here yet: the reply may be in the same chunk of data as this
    // output and is handled later.
    if (this.#runs.has(message.parent)) this.#hold(message.parent, [message]);
  }

  moveTo(notebook: vscode.NotebookDocument): void {
    for (const [id, { cell, order, startedAt, ended }] of this.#runs) {
      const moved = ended && findCell(notebook, cellLocation(cell), cell.document.getText());
      if (moved) this.#runs.set(id, { cell: moved, order, startedAt, ended });
    }
  }

  clear(): void {
    this.#runs.clear();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#waiting.clear();
    this.clear();
  }

  #hold(id: string, messages: readonly KernelOutput[]): void {
    this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), ...messages]);
    this.#timer ??= setTimeout(() => this.#flush(), gatherMilliseconds);
  }

  #flush(): void {
    this.#timer = undefined;
    const batches = [...this.#waiting];
    this.#waiting.clear();
    for (const [id, messages] of batches) {
      const run = this.#runs.get(id);
      // Drop the output if the cell was deleted. Also drop it if the cell ran again, because the cell then shows the
      // outputs of the new run.
      if (!run || run.cell.index < 0) continue;
      if (run.ended) this.#show(run, run.ended, messages);
      else this.#hold(id, messages);
    }
  }

  #show(run: EndedRun, ended: { at: number; success: boolean }, messages: readonly KernelOutput[]): void {
    try {
      const execution = this.#controller.createNotebookCellExecution(run.cell);
      execution.executionOrder = run.order;
      execution.start(run.startedAt);
      const outputs = new CellOutputs(execution, this.#displays);
      for (const message of messages) outputs.add(message);
      outputs.flush();
      execution.end(ended.success, ended.at);
    } catch (error) {
      // VS Code refuses the execution while the cell waits to run again.
      this.#log.debug(`late output was dropped: ${messageOf(error)}`);
    }
  }
}
