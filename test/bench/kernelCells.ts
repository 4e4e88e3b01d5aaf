// What each kernel is given to do, in its own language where it has one.

/** The cells of one life of a kernel. `INDEX` in a cell becomes another number every time it runs. */
export type CellOrder = {
  trivial: string;
  declaring: string;
  /** The table format's client and Arrow. */
  imports: string;
  /** Code whose end a person wants completed. */
  complete: string;
  /** Keeps the kernel busy for a second and a half. */
  busy: string;
  /** Prints so many lines of `lineCharacters` each; null for not again. */
  print: string | null;
  lines: number;
  endless: string | null;
  /** How often a cell runs for a median. */
  few: number;
  /** Cells run between the two measurements. */
  cells: number;
  /** Seconds in which a person types the imports. */
  typing: number;
  /** Seconds for which a person looks at what the imports gave. */
  pause: number;
};

export type KernelName = 'ours' | 'tslab' | 'deno' | 'ipykernel';

/** 100 MB. */
export const manyLines = 1_000_000;
/** For those that take a minute and more over 100 MB, and lose most of it. */
const fewLines = 20_000;
/** With the end of the line. */
export const lineCharacters = 100;
const line = 'x'.repeat(lineCharacters - 1);

/** A program for Node that prints what a cell prints. */
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

/** The cells for a kernel; `db` is what only ours has. */
export function cellsFor(kernel: KernelName, counts: Pick<CellOrder, 'few' | 'cells' | 'typing' | 'pause'>): CellOrder {
  if (kernel === 'ipykernel') return { ...python, ...counts };
  return { ...script, ...counts, ...(kernel === 'ours' && ours) };
}
