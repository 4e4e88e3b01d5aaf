import { join } from 'node:path';
import { PythonCalls } from '../../harness/needs/pythonCalls.ts';

/** The location of a table. */
export type TableAt = { readonly uri: string; readonly options?: Readonly<Record<string, string>> };

export type Compared = {
  readonly rows: number;
  readonly nulls: number;
  /** Number of rows whose value is not the length of the text, as computed by Arrow. */
  readonly wrong: number;
  readonly fragments: number;
};

/**
 * Tables of strings: creates them with pylance, writes to them as another client, and compares them with the values
 * that Arrow computes.
 */
export class TextTables {
  readonly #python = new PythonCalls(join(import.meta.dirname, 'textTables.py'));

  /** Creates a table of ids and strings, with the rows divided equally among the fragments. */
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
