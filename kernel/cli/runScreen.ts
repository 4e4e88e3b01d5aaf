import type { KernelOutput } from '#shared/kernelMessages.ts';
import type { FailedCell, RunListener, RunningCell } from '#session/headless/runNotebook.ts';

/** Prints each cell's number, its first line and, indented, what it gives as text: on stdout, or where `write` puts it. */
export function printCells(write: (text: string) => void = (text) => void process.stdout.write(text)): RunListener {
  let isLineStart = true;
  // What is printed comes in pieces that may end within a line.
  const print = (text: string): void => {
    if (text === '') return;
    let shown = '';
    for (const line of text.split(/(?<=\n)/)) {
      shown += isLineStart && line !== '\n' ? `    ${line}` : line;
      isLineStart = line.endsWith('\n');
    }
    write(shown);
  };
  const endLine = (): void => {
    if (!isLineStart) write('\n');
    isLineStart = true;
  };
  return {
    begin: ({ number, source }) => {
      // Of an earlier cell, whose text came late.
      endLine();
      write(`[${number}] ${headOf(source)}\n`);
    },
    output: (output) => {
      if (output.type === 'stream') return print(output.content.text);
      const text = textOf(output);
      if (text === undefined) return;
      endLine();
      print(`${text.trimEnd()}\n`);
    },
    end: endLine,
  };
}

/** A line per cell on stderr, with how long it took; in a terminal the line is there while the cell runs. */
export function progressOfCells(): RunListener {
  const { isTTY: isTerminal, columns } = process.stderr;
  let started = 0;
  const line = ({ number, total, source }: RunningCell, state: string): string => {
    const text = `[${number}/${total}] ${state}${headOf(source)}`;
    // A line that wraps could not be written over.
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

/** The first line that says something. */
const headOf = (code: string): string =>
  code
    .split('\n')
    .find((line) => line.trim() !== '')
    ?.trim() ?? '';

function textOf(output: Exclude<KernelOutput, { type: 'stream' }>): string | undefined {
  switch (output.type) {
    case 'display_data':
    case 'update_display_data':
    case 'execute_result': {
      const text = output.content.data['text/plain'];
      return typeof text === 'string' ? text : `(${Object.keys(output.content.data).join(', ')})`;
    }
    case 'error':
      return output.content.traceback.join('\n') || output.content.evalue;
    case 'status':
    case 'execute_input':
    case 'clear_output':
      return undefined;
  }
}
