import type * as vscode from 'vscode';
import type { CellPlace, KernelMessage } from '#shared/protocol/kernelMessages.ts';
import { isKernelOutput } from '#shared/protocol/kernelMessages.ts';
import { OutputLog } from '#shared/protocol/outputLog.ts';
import { findCell, placeOf } from './cellLocation.ts';
import { CellOutputs, type Displays } from './outputs.ts';

/**
 * One run of a cell, from the click to what its timers print long after. The cell may become that of another document
 * meanwhile, when the notebook is saved under a name or renamed: then all that it showed is shown there again.
 */
export class CellRun {
  readonly #displays: Displays;
  readonly #log = new OutputLog();
  readonly #place: CellPlace;
  readonly code: string;
  readonly startedAt: number;
  #cell: vscode.NotebookCell;
  #execution: vscode.NotebookCellExecution | undefined;
  #outputs: CellOutputs | undefined;
  #order: number | undefined;
  #ended: { at: number; success: boolean } | undefined;
  /** On the way to another document: what comes meanwhile is shown there with the rest. */
  #isMoving = false;

  /** A run that begins now, or began when it is said. Its earlier outputs are cleared. */
  constructor(execution: vscode.NotebookCellExecution, displays: Displays, startedAt: number = Date.now()) {
    this.#displays = displays;
    this.#cell = execution.cell;
    this.#place = placeOf(execution.cell);
    this.code = execution.cell.document.getText();
    this.startedAt = startedAt;
    this.#begin(execution);
    this.#open(execution);
  }

  get cell(): vscode.NotebookCell {
    return this.#cell;
  }

  get order(): number | undefined {
    return this.#order;
  }

  get ended(): { at: number; success: boolean } | undefined {
    return this.#isMoving ? undefined : this.#ended;
  }

  take(message: KernelMessage): void {
    if (!isKernelOutput(message)) return;
    this.#log.add(message);
    this.#show(message);
  }

  /** Adds an error of ours, after what the cell printed. */
  fail(ename: string, evalue: string): void {
    this.take({ type: 'error', parent: '', content: { ename, evalue, traceback: [] } });
  }

  end(success: boolean, at: number = Date.now()): void {
    if (this.#ended) return;
    this.#ended = { at, success };
    if (!this.#isMoving) this.#close(this.#ended);
  }

  /** Its document is not to be changed any more: what comes from here on is shown in the one that it moves to. */
  leave(): void {
    if (this.#ended) return;
    this.#isMoving = true;
    this.#outputs?.flush();
    this.#outputs = undefined;
  }

  /**
   * Goes on in another document with the same cells, or is shown there if it has ended on the way.
   * @param execute makes the execution of a cell there
   * @param isThere resolves when the document has its content, which would take the place of what is shown before
   */
  async moveTo(
    notebook: vscode.NotebookDocument,
    execute: (cell: vscode.NotebookCell) => vscode.NotebookCellExecution,
    isThere: () => Promise<void>,
  ): Promise<void> {
    const cell = findCell(notebook, this.#place, this.code);
    const before = this.#cell;
    // Its document may be there still, under the old name.
    if (this.#execution && !before.notebook.isClosed) this.#execution.end(undefined);
    this.#execution = undefined;
    this.#isMoving = false;
    if (!cell) return;
    this.#cell = cell;
    const execution = execute(cell);
    this.#begin(execution);
    this.#isMoving = true;
    await isThere();
    // It moved on meanwhile.
    if (this.#execution !== execution) return;
    this.#isMoving = false;
    this.#open(execution);
    for (const message of this.#log.messages('')) if (isKernelOutput(message)) this.#show(message);
    if (this.#ended) this.#close(this.#ended);
  }

  #begin(execution: vscode.NotebookCellExecution): void {
    this.#execution = execution;
    if (this.#order !== undefined) execution.executionOrder = this.#order;
    execution.start(this.startedAt);
  }

  #open(execution: vscode.NotebookCellExecution): void {
    this.#outputs = new CellOutputs(execution, this.#displays);
    void execution.clearOutput();
  }

  #close({ at, success }: { at: number; success: boolean }): void {
    this.#outputs?.finish();
    this.#execution?.end(success, at);
    this.#execution = undefined;
    this.#outputs = undefined;
    this.#log.clear();
  }

  #show(message: Parameters<CellOutputs['add']>[0]): void {
    if (message.type === 'execute_input') {
      this.#order = message.content.executionCount;
      if (this.#execution) this.#execution.executionOrder = this.#order;
    }
    this.#outputs?.add(message);
  }
}
