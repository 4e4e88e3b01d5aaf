import * as vscode from 'vscode';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { setting } from '../host/settings.ts';
import { TruncatedOutput } from './truncatedOutput.ts';
import { bundleItems, errorOutput, streamItem, valueOutput } from './outputItems.ts';

type OutputTarget = Pick<
  vscode.NotebookCellExecution,
  'appendOutput' | 'appendOutputItems' | 'cell' | 'replaceOutputItems' | 'clearOutput'
>;

/** Outputs that a cell may update later, by the kernel's display id. One map per notebook. */
export type Displays = Map<string, { cell: vscode.NotebookCell; output: vscode.NotebookCellOutput }>;

/**
 * Delay before stream text is sent in a batch. Without batches, a loop that prints would cost one round trip per line.
 */
const batchMilliseconds = 30;
/** Delay before a stream over the limit is drawn again, because each redraw sends all kept text to the window. */
const redrawMilliseconds = 500;

type StreamName = 'stdout' | 'stderr';

type Printed = {
  name: StreamName;
  output: vscode.NotebookCellOutput;
  text: TruncatedOutput;
  /** The whole text while VS Code has not processed the output; then `undefined`. */
  fresh: string | undefined;
  /** Number of calls that VS Code has not processed yet. */
  underWay: number;
};

/**
 * Adds the messages of a kernel to the outputs of one cell. Calls of VS Code's API are never awaited: they keep their
 * order, and each wait would cost a round trip to the window.
 */
export class CellOutputs {
  readonly #target: OutputTarget;
  readonly #displays: Displays;
  readonly #printed: Printed[] = [];
  /** The stream output that further text of the same stream extends. */
  #stream: Printed | undefined;
  #pending: { name: StreamName; text: string } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #redrawTimer: NodeJS.Timeout | undefined;
  /**
   * Whether to clear the outputs when the next output arrives. Set by `clear_output(wait=True)`, which avoids flicker.
   */
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
        // The output was cleared, for example by another run of its cell, so show it again in this cell.
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
        // Forget the outputs: a new run has started, and VS Code has cleared the outputs of the cell.
        this.#forget();
        return undefined;
      case 'status':
        return undefined;
    }
  }

  fail(ename: string, evalue: string): void {
    this.#append(errorOutput({ ename, evalue, traceback: [] }));
  }

  /** Sends pending text and cuts text over the limit. Call this when the cell ends. */
  finish(): void {
    this.flush();
    clearTimeout(this.#redrawTimer);
    for (const printed of this.#printed.splice(0)) this.#redraw(printed);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const pending = this.#pending;
    this.#pending = undefined;
    if (!pending) return;
    this.#clearIfDue();
    this.#forgetCleared();
    if (this.#stream?.name === pending.name) this.#extend(this.#stream, pending.text);
    else this.#begin(pending.name, pending.text);
  }

  #begin(name: StreamName, first: string): void {
    const text = new TruncatedOutput(setting('lanceCatalog.notebook.printedCharacters') ?? 0);
    text.add(first);
    const output = new vscode.NotebookCellOutput([streamItem(name, text.cut() ?? first)], { outputType: 'stream' });
    const stream: Printed = { name, output, text, fresh: first, underWay: 0 };
    this.#stream = stream;
    this.#printed.push(stream);
    void this.#await(stream, this.#target.appendOutput(output));
  }

  async #await(stream: Printed, call: Thenable<void>): Promise<void> {
    stream.underWay++;
    try {
      await call;
    } catch {
      // VS Code refuses the call if the cell was deleted.
    }
    stream.underWay--;
    if (stream.underWay > 0) return;
    stream.fresh = undefined;
    if (this.#timer === undefined) this.flush();
  }

  /**
   * Adds text to an output. If VS Code has not processed the output yet, replaces its items instead. Otherwise VS Code
   * would send other extensions the output with the added text, and then the added text again. Their copy of the
   * notebook would contain the text twice, and so would a file saved from that copy.
   */
  #extend(stream: Printed, added: string): void {
    const { name, output, text } = stream;
    text.add(added);
    if (text.isOver) {
      this.#redrawTimer ??= setTimeout(() => this.#redraw(stream), redrawMilliseconds);
    } else if (stream.fresh === undefined) {
      void this.#target.appendOutputItems(streamItem(name, added), output);
    } else {
      stream.fresh += added;
      void this.#await(stream, this.#target.replaceOutputItems(streamItem(name, stream.fresh), output));
    }
  }

  #redraw({ name, output, text }: Printed): void {
    this.#redrawTimer = undefined;
    const cut = text.cut();
    if (cut !== undefined) void this.#target.replaceOutputItems(streamItem(name, cut), output);
  }

  #text(name: StreamName, text: string): void {
    if (this.#pending && this.#pending.name !== name) this.flush();
    this.#pending = { name, text: (this.#pending?.text ?? '') + text };
    this.#timer ??= setTimeout(() => this.#due(), batchMilliseconds);
  }

  /** Sends pending text. If VS Code still processes the output that the text extends, `#await` sends the text later. */
  #due(): void {
    this.#timer = undefined;
    if (this.#stream?.fresh === undefined || this.#stream.name !== this.#pending?.name) this.flush();
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

  /** Forgets outputs that the user has cleared, because text added to them would not be shown. */
  #forgetCleared(): void {
    const isTaken = this.#stream !== undefined && this.#stream.fresh === undefined;
    if (!isTaken || this.#target.cell.outputs.length > 0) return;
    this.#stream = undefined;
    this.#printed.length = 0;
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
    // Append the output before its display id is stored, because `#append` may clear the cell and then forgets all
    // display ids of the cell.
    this.#append(output);
    const id = message.type === 'execute_result' ? undefined : message.content.displayId;
    if (id !== undefined) this.#displays.set(id, { cell: this.#target.cell, output });
  }

  #forget(): void {
    for (const [id, { cell }] of this.#displays) if (cell === this.#target.cell) this.#displays.delete(id);
  }
}
