import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import type { FailedCell, RunListener, RunningCell } from '#session/headless/runNotebook.ts';

/** One line of a terminal that is overwritten. */
type StatusLine = { show: (text: string) => void; clear: () => void };

type CellScreen = { write?: (text: string) => void; status?: StatusLine | undefined };

/**
 * Prints each cell's number and first line, then its output as indented text, to stdout or with `write`. A display
 * that can change is printed once, in its last state, when the cell ends; until then the status line shows it.
 */
export function printCells({ write = writeStdout, status }: CellScreen = {}): RunListener {
  let isLineStart = true;
  /** Last states of displays that are not printed yet, in the order of their first appearance. */
  const held = new Map<string, string>();
  /**
   * The last result or error, not printed yet. If it is the last output of the cell, held displays are printed above
   * it.
   */
  let closing: string | undefined;
  let clearsNext = false;
  const put = (text: string): void => {
    status?.clear();
    write(text);
  };
  // Indents each line. A chunk of output may end within a line, so `isLineStart` tells whether the next chunk starts a
  // line.
  const print = (text: string): void => {
    if (text === '') return;
    let shown = '';
    for (const line of text.split(/(?<=\n)/)) {
      shown += isLineStart && line !== '\n' ? `    ${line}` : line;
      isLineStart = line.endsWith('\n');
    }
    put(shown);
  };
  const endLine = (): void => {
    if (!isLineStart) put('\n');
    isLineStart = true;
  };
  const printBlock = (text: string): void => {
    endLine();
    print(`${text.trimEnd()}\n`);
  };
  const printClosing = (): void => {
    if (closing !== undefined) printBlock(closing);
    closing = undefined;
  };
  const printAll = (): void => {
    for (const text of held.values()) printBlock(text);
    held.clear();
    printClosing();
    endLine();
  };
  const hold = (displayId: string, text: string): void => {
    held.set(displayId, text);
    if (isLineStart) status?.show(`    ${headOf(text)}`);
  };
  return {
    begin: ({ number, source }) => {
      // Anything that is still held here is late output of an earlier cell.
      printAll();
      put(`[${number}] ${headOf(source)}\n`);
    },
    output: (output) => {
      if (output.type === 'status' || output.type === 'execute_input') return;
      if (output.type === 'clear_output') {
        if (!output.content.wait) held.clear();
        clearsNext = output.content.wait;
        return;
      }
      printClosing();
      if (clearsNext) held.clear();
      clearsNext = false;
      if (output.type === 'stream') return print(output.content.text);
      const text = outputText(output);
      if (output.type === 'execute_result' || output.type === 'error') closing = text;
      else if (output.content.displayId !== undefined) hold(output.content.displayId, text);
      else printBlock(text);
    },
    end: printAll,
    finish: printAll,
  };
}

const writeStdout = (text: string): void => void process.stdout.write(text);

/** Prints a line per cell with its duration to stderr; in a terminal the line is visible while the cell runs. */
export function progressOfCells(): RunListener {
  const { isTTY: isTerminal, columns } = process.stderr;
  let started = 0;
  const line = ({ number, total, source }: RunningCell, state: string): string => {
    const text = `[${number}/${total}] ${state}${headOf(source)}`;
    // The line is cut, because a line that wraps can't be overwritten.
    return isTerminal ? text.slice(0, columns - 1) : text;
  };
  return {
    begin: (cell) => {
      started = performance.now();
      if (isTerminal) process.stderr.write(line(cell, '… '));
    },
    output: () => undefined,
    end: (cell: RunningCell, failed: FailedCell | null) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      if (isTerminal) process.stderr.write('\r\u001b[2K');
      process.stderr.write(`${line(cell, `${failed ? 'failed after ' : ''}${seconds} s  `)}\n`);
    },
  };
}

/** Returns the first line that is not blank. */
const headOf = (code: string): string =>
  code
    .split('\n')
    .find((line) => line.trim() !== '')
    ?.trim() ?? '';

type ShownOutput = Extract<KernelOutput, { content: { data: unknown } | { traceback: unknown } }>;

function outputText(output: ShownOutput): string {
  if (output.type === 'error') return output.content.traceback.join('\n') || output.content.evalue;
  const text = output.content.data['text/plain'];
  return typeof text === 'string' ? text : `(${Object.keys(output.content.data).join(', ')})`;
}
