// The cells for each kernel: Python for ipykernel, JavaScript or TypeScript for the others.

/** The cells of one run of a kernel. `INDEX` in a cell is replaced by another number for each execution. */
export type CellOrder = {
  trivial: string;
  declaring: string;
  /** Imports the client of the table format and Arrow. */
  imports: string;
  /** Code for a completion request. The cursor is at the end of the code. */
  complete: string;
  /** Keeps the kernel busy for a second and a half. */
  busy: string;
  /** Prints the given number of lines of `lineCharacters` each; null to skip this. */
  print: string | null;
  lines: number;
  endless: string | null;
  /** Number of executions of a cell for a median. */
  few: number;
  /** Number of cells between the two measurements. */
  cells: number;
  /** Seconds in which a user types the imports. */
  typing: number;
  /** Seconds in which a user reads the result of the imports. */
  pause: number;
};

export type KernelName = 'ours' | 'tslab' | 'deno' | 'ipykernel';

/** Lines for 100 MB of text. */
export const manyLines = 1_000_000;
/** The number of lines for kernels that take more than a minute for 100 MB and lose most of it. */
const fewLines = 20_000;
/** The length of a printed line, including the line break. */
export const lineCharacters = 100;
const line = 'x'.repeat(lineCharacters - 1);

/** Returns a Node program that prints the same as the cell. */
export const printProgram = (lines: number): string =>
  `const line = '${line}'; for (let i = 0; i < ${lines}; i++) console.log(line);`;

const script = {
  trivial: '1 + 1',
  declaring: 'let vINDEX = INDEX; vINDEX + 1',
  imports: `import * as lancedb from '@lancedb/lancedb';\nimport * as arrow from 'apache-arrow';\n[typeof lancedb.connect, typeof arrow.Table]`,
  complete: 'v1.',
  busy: '{ const end = Date.now() + 1500; while (Date.now() < end); }',
  print: `{ ${printProgram(fewLines)} }`,
  lines: fewLines,
  endless: 'while (true) {}',
} as const;

const python = {
  trivial: '1 + 1',
  declaring: 'vINDEX = INDEX; vINDEX + 1',
  imports: 'import lancedb, pyarrow\n[lancedb.connect, pyarrow.Table]',
  complete: 'v1.',
  busy: 'import time\nend = time.time() + 1.5\nwhile time.time() < end: pass',
  print: `for i in range(${fewLines}): print('${line}')`,
  lines: fewLines,
  endless: 'while True: pass',
} as const;

const ours = { complete: 'db.', print: `{ ${printProgram(manyLines)} }`, lines: manyLines } as const;

/** Returns the cells for a kernel. Only our kernel has `db`. */
export function cellsFor(kernel: KernelName, counts: Pick<CellOrder, 'few' | 'cells' | 'typing' | 'pause'>): CellOrder {
  if (kernel === 'ipykernel') return { ...python, ...counts };
  return { ...script, ...counts, ...(kernel === 'ours' && ours) };
}
