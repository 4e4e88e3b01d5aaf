import * as vscode from 'vscode';
import type { KernelOutput } from '#shared/kernelMessages.ts';
import { setting } from '../host/settings.ts';
import { PrintedText } from './printedText.ts';
import { bundleItems, errorOutput, streamItem, valueOutput } from './outputItems.ts';

/** What of a cell's execution takes outputs. */
export type OutputTarget = Pick<
  vscode.NotebookCellExecution,
  'appendOutput' | 'appendOutputItems' | 'cell' | 'replaceOutputItems' | 'clearOutput'
>;

/** Outputs that a cell may change later, by the kernel's id for them. One map per notebook. */
export type Displays = Map<string, { cell: vscode.NotebookCell; output: vscode.NotebookCellOutput }>;

/** Text of a stream is sent on this often: a loop that prints would otherwise cost one round trip a line. */
const batchMilliseconds = 30;
/** Text beyond the limit replaces what is shown this often: every change then sends all that is kept to the window. */
const redrawMilliseconds = 500;

type Printed = { name: 'stdout' | 'stderr'; output: vscode.NotebookCellOutput; text: PrintedText };

/**
 * Puts what a kernel sends into the outputs of one cell. Calls of the editor's API are never awaited: they keep their
 * order, and each wait would cost a round trip to the window.
 */
export class CellOutputs {
  readonly #target: OutputTarget;
  readonly #displays: Displays;
  readonly #printed: Printed[] = [];
  /** The stream output that further text of the same name goes to. */
  #stream: { name: 'stdout' | 'stderr'; output: vscode.NotebookCellOutput } | undefined;
  #pending: { name: 'stdout' | 'stderr'; text: string } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #redrawTimer: NodeJS.Timeout | undefined;
  /** `clear_output(wait=True)`: cleared when the next output is there, so that nothing flickers. */
  #clearsNext = false;

  constructor(target: OutputTarget, displays: Displays) {
    this.#target = target;
    this.#displays = displays;
  }

  add(message: KernelOutput): void {
    switch (message.type) {
      case 'stream':
        return this.#text(message.content.name, message.content.text);
      case 'display_data':
      case 'execute_result':
        return this.#show(message);
      case 'update_display_data': {
        const shown = this.#displays.get(message.content.displayId);
        // The cell that showed it was cleared, by running again for instance: it is shown here anew.
        if (!shown) return this.#show(message);
        this.flush();
        void this.#target.replaceOutputItems(bundleItems(message.content.data), shown.output);
        return undefined;
      }
      case 'error':
        return this.#append(errorOutput(message.content));
      case 'clear_output':
        this.flush();
        if (message.content.wait) this.#clearsNext = true;
        else this.#clear();
        return undefined;
      case 'execute_input':
        // A new run, for which the cell was cleared.
        this.#forget();
        return undefined;
      case 'status':
        return undefined;
    }
  }

  /** Adds an error of ours, after what the cell printed. */
  fail(ename: string, evalue: string): void {
    this.#append(errorOutput({ ename, evalue, traceback: [] }));
  }

  /** Sends what is still held back, and cuts down what was printed beyond the limit. To be called when the cell ends. */
  finish(): void {
    this.flush();
    clearTimeout(this.#redrawTimer);
    for (const printed of this.#printed.splice(0)) this.#redraw(printed);
  }

  /** Sends what is still held back. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const pending = this.#pending;
    this.#pending = undefined;
    if (!pending) return;
    this.#clearIfDue();
    const { name } = pending;
    const last = this.#printed.at(-1);
    if (last && this.#stream?.name === name) {
      last.text.add(pending.text);
      if (last.text.isOver) this.#redrawTimer ??= setTimeout(() => this.#redraw(last), redrawMilliseconds);
      else void this.#target.appendOutputItems(streamItem(name, pending.text), this.#stream.output);
      return;
    }
    const text = new PrintedText(setting('lanceCatalog.notebook.printedCharacters') ?? 0);
    text.add(pending.text);
    const item = streamItem(name, text.cut() ?? pending.text);
    const output = new vscode.NotebookCellOutput([item], { outputType: 'stream' });
    this.#stream = { name, output };
    this.#printed.push({ name, output, text });
    void this.#target.appendOutput(output);
  }

  /** Shows the beginning and the end of a text that is over the limit. */
  #redraw({ name, output, text }: Printed): void {
    this.#redrawTimer = undefined;
    const cut = text.cut();
    if (cut !== undefined) void this.#target.replaceOutputItems(streamItem(name, cut), output);
  }

  #text(name: 'stdout' | 'stderr', text: string): void {
    if (this.#pending && this.#pending.name !== name) this.flush();
    this.#pending = { name, text: (this.#pending?.text ?? '') + text };
    this.#timer ??= setTimeout(() => this.flush(), batchMilliseconds);
  }

  #append(output: vscode.NotebookCellOutput): void {
    this.flush();
    this.#clearIfDue();
    this.#stream = undefined;
    void this.#target.appendOutput(output);
  }

  #clearIfDue(): void {
    if (this.#clearsNext) this.#clear();
  }

  #clear(): void {
    this.#clearsNext = false;
    this.#stream = undefined;
    this.#printed.length = 0;
    clearTimeout(this.#redrawTimer);
    this.#redrawTimer = undefined;
    this.#forget();
    void this.#target.clearOutput();
  }

  #show(message: Parameters<typeof valueOutput>[0]): void {
    const output = valueOutput(message);
    // First, since a clearing that is due forgets the earlier ones of this cell.
    this.#append(output);
    const id = message.type === 'execute_result' ? undefined : message.content.displayId;
    if (id !== undefined) this.#displays.set(id, { cell: this.#target.cell, output });
  }

  #forget(): void {
    for (const [id, { cell }] of this.#displays) if (cell === this.#target.cell) this.#displays.delete(id);
  }
}
