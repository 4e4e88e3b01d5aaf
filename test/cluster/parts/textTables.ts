import { join } from 'node:path';
import { PythonCalls } from '../../harness/needs/pythonCalls.ts';

/** Where a table is. */
export type TableAt = { readonly uri: string; readonly options?: Readonly<Record<string, string>> };

export type Compared = {
  readonly rows: number;
  readonly nulls: number;
  /** Rows whose value is another than the length of the text, computed by Arrow alone. */
  readonly wrong: number;
  readonly fragments: number;
};

/** Tables of texts: makes them by pylance, writes to them as somebody else does, and compares them with what Arrow computes. */
export class TextTables {
  readonly #python = new PythonCalls(join(import.meta.dirname, 'textTables.py'));

  /** Of ids and texts, with as many rows to a fragment. */
  make = (at: TableAt, rows: number, fragments: number): Promise<void> =>
    this.#python.call('make', { at, rows, fragments });

  append = (at: TableAt, first: number, rows: number): Promise<void> =>
    this.#python.call('append', { at, first, rows });

  /** Changes the text of rows. */
  update = (at: TableAt, where: string): Promise<void> => this.#python.call('update', { at, where });

  delete = (at: TableAt, where: string): Promise<void> => this.#python.call('delete', { at, where });

  compact = (at: TableAt, target: number): Promise<void> => this.#python.call('compact', { at, target });

  /** Compares a column with the number of characters of the text of each row. */
  compare = (at: TableAt, column = 'length'): Promise<Compared> => this.#python.call('compare', { at, column });

  stop(): Promise<void> {
    return this.#python.stop();
  }
}
