import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inRoot } from '../../../scripts/paths.ts';

const run = promisify(execFile);
const python = inRoot('.toolchain/python/bin/python');
const program = join(import.meta.dirname, 'rayTable.py');

const ask = async (...args: readonly string[]): Promise<string> =>
  (await run(python, [program, ...args], { maxBuffer: 16 << 20, timeout: 120_000 })).stdout.trim();

/** Makes a table of texts with as many rows to a fragment as it has rows a fragment, written by pylance. */
export async function makeTextTable(folder: string, rows: number, fragments: number): Promise<void> {
  await ask('make', folder, String(rows), String(fragments));
}

/** Appends rows as somebody else does it. */
export async function appendTexts(folder: string, rows: number): Promise<void> {
  await ask('append', folder, String(rows));
}

export type Compared = {
  readonly rows: number;
  readonly nulls: number;
  /** Rows whose value is another than the length of the text, computed by Arrow alone. */
  readonly wrong: number;
  readonly fragments: number;
};

/** Compares a column with the number of characters of the text of each row, as Arrow counts them. */
export async function compareLengths(folder: string, column: string): Promise<Compared> {
  return JSON.parse(await ask('compare', folder, column)) as Compared;
}
