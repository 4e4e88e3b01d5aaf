import type { KernelOutput } from '#shared/kernelMessages.ts';
import type { FailedCell, RunListener, RunningCell } from '#session/headless/runNotebook.ts';

export type RunScreen = RunListener;

/** Prints each cell's number, its first line and what it gives as text, on stdout. */
export const printCells = (): RunScreen => ({
  begin: ({ number, source }) => console.log(`[${number}] ${headOf(source)}`),
  output: (output) => {
    const text = textOf(output);
    if (text !== undefined) console.log(indent(text));
  },
  end: () => undefined,
});

/** A line per cell on stderr, with how long it took; in a terminal the line is there while the cell runs. */
export function progressOfCells(): RunScreen {
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

function textOf(output: KernelOutput): string | undefined {
  switch (output.type) {
    case 'stream':
      return output.content.text;
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

const indent = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`.trimEnd())
    .join('\n');
