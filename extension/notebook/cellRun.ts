import type * as vscode from 'vscode';
import { type CellPlace, isKernelOutput, type KernelMessage } from '#shared/protocol/kernelMessages.ts';
import { OutputLog } from '#shared/protocol/outputLog.ts';
import { findCell, cellLocation } from './cellLocation.ts';
import { CellOutputs, type Displays } from './outputs.ts';

/**
 * One run of a cell, from its start to its end. If the user renames the notebook meanwhile or saves it under another
 * name, VS Code opens a new document. The run continues in the new document and shows all its outputs again there.
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
  /** Whether the run is moving to another document. Outputs that arrive during the move are shown after the move. */
  #isMoving = false;

  /** Starts a run and clears the earlier outputs of the cell. */
  constructor(execution: vscode.NotebookCellExecution, displays: Displays, startedAt: number = Date.now()) {
    this.#displays = displays;
    this.#cell = execution.cell;
    this.#place = cellLocation(execution.cell);
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

  /** Adds an error of this extension after the cell's output. */
  fail(ename: string, evalue: string): void {
    this.take({ type: 'error', parent: '', content: { ename, evalue, traceback: [] } });
  }

  end(success: boolean, at: number = Date.now()): void {
    if (this.#ended) return;
    this.#ended = { at, success };
    if (!this.#isMoving) this.#close(this.#ended);
  }

  /** Stops changing the current document; later outputs are shown in the document passed to `moveTo`. */
  leave(): void {
    if (this.#ended) return;
    this.#isMoving = true;
    this.#outputs?.flush();
    this.#outputs = undefined;
  }

  /**
   * Continues in another document with the same cells, or shows the outputs there if the run ended during the move.
   * @param execute creates the execution of a cell in that document
   * @param isThere resolves when the document has its content. That content would overwrite outputs shown earlier
   */
  async moveTo(
    notebook: vscode.NotebookDocument,
    execute: (cell: vscode.NotebookCell) => vscode.NotebookCellExecution,
    isThere: () => Promise<void>,
  ): Promise<void> {
    const cell = findCell(notebook, this.#place, this.code);
    const before = this.#cell;
    // End the execution in the old document, which may still exist under the old name.
    if (this.#execution && !before.notebook.isClosed) this.#execution.end(undefined);
    this.#execution = undefined;
    this.#isMoving = false;
    if (!cell) return;
    this.#cell = cell;
    const execution = execute(cell);
    this.#begin(execution);
    this.#isMoving = true;
    await isThere();
    // Return if the run has moved again meanwhile.
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
