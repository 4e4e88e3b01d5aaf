import * as vscode from 'vscode';
import type { KernelOutput } from '#shared/kernelMessages.ts';
import { bundleItems, errorOutput, streamItem, valueOutput } from './outputItems.ts';

/** What of a cell's execution takes outputs. */
export type OutputTarget = Pick<
  vscode.NotebookCellExecution,
  'appendOutput' | 'appendOutputItems' | 'replaceOutputItems' | 'clearOutput'
>;

/** Outputs that a cell may change later, by the kernel's id for them. One map per notebook. */
export type Displays = Map<string, vscode.NotebookCellOutput>;

/** Text of a stream is sent on this often: a loop that prints would otherwise cost one round trip a line. */
const batchMilliseconds = 30;

/**
 * Puts what a kernel sends into the outputs of one cell. Calls of the editor's API are never awaited: they keep their
 * order, and each wait would cost a round trip to the window.
 */
export class CellOutputs {
  readonly #target: OutputTarget;
  readonly #displays: Displays;
  /** The stream output that further text of the same name goes to. */
  #stream: { name: 'stdout' | 'stderr'; output: vscode.NotebookCellOutput } | undefined;
  #pending: { name: 'stdout' | 'stderr'; text: string } | undefined;
  #timer: NodeJS.Timeout | undefined;
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
      case 'execute_result': {
        const output = valueOutput(message);
        if (message.type === 'display_data' && message.content.displayId !== undefined) {
          this.#displays.set(message.content.displayId, output);
        }
        return this.#append(output);
      }
      case 'update_display_data': {
        const output = this.#displays.get(message.content.displayId);
        this.flush();
        if (output) void this.#target.replaceOutputItems(bundleItems(message.content.data), output);
        return undefined;
      }
      case 'error':
        return this.#append(errorOutput(message.content));
      case 'clear_output':
        this.flush();
        if (message.content.wait) this.#clearsNext = true;
        else this.#clear();
        return undefined;
      case 'status':
      case 'execute_input':
        return undefined;
    }
  }

  /** Adds an error of ours, after what the cell printed. */
  fail(ename: string, evalue: string): void {
    this.#append(errorOutput({ ename, evalue, traceback: [] }));
  }

  /** Sends what is still held back. To be called before the execution ends. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const pending = this.#pending;
    this.#pending = undefined;
    if (!pending) return;
    this.#clearIfDue();
    const item = streamItem(pending.name, pending.text);
    if (this.#stream?.name === pending.name) {
      void this.#target.appendOutputItems(item, this.#stream.output);
      return;
    }
    const output = new vscode.NotebookCellOutput([item], { outputType: 'stream' });
    this.#stream = { name: pending.name, output };
    void this.#target.appendOutput(output);
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
    void this.#target.clearOutput();
  }
}
