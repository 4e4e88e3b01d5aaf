import { inRoot } from '../../../scripts/paths.ts';
import { PythonCalls } from '../../harness/needs/pythonCalls.ts';

/** The location of a table. */
export type At = { readonly uri: string; readonly options?: Readonly<Record<string, string>> };

export type Checked = { readonly rows: number; readonly wrong: number; readonly samples: readonly unknown[] };
export type TableState = {
  readonly version: number;
  readonly rows: number;
  readonly fragments: readonly number[];
  readonly metadata: Readonly<Record<string, string>>;
};

/**
 * Creates tables with pylance, writes to them as another client, and compares columns with independently computed
 * values.
 */
export class BackfillTables {
  readonly #python = new PythonCalls(inRoot('test/contract/python/backfillTables.py'));

  make(
    at: At,
    how: { fragments: number; rows: number; delete?: string; version?: string; column?: string },
  ): Promise<number> {
    const { fragments, rows, delete: deleted, version, column } = how;
    return this.#call('make', { at, fragments, rows_each: rows, delete: deleted, version, column });
  }
  append = (at: At, first: number, count: number): Promise<void> => this.#call('append', { at, first, count });
  update = (at: At, values: Record<string, string>, where: string): Promise<void> =>
    this.#call('update', { at, values, where });
  /** Changes these columns of rows in place, by `id`. */
  replace = (at: At, rows: readonly { id: number; text?: string; n?: number }[]): Promise<void> =>
    this.#call('replace', { at, rows });
  delete = (at: At, where: string): Promise<void> => this.#call('delete', { at, where });
  compact = (at: At, target: number): Promise<void> => this.#call('compact', { at, target });
  drop = (at: At, column: string): Promise<void> => this.#call('drop', { at, column });
  check = (at: At, column: string, oracle: 'length' | 'words' | 'double', where?: string): Promise<Checked> =>
    this.#call('check', { at, column, oracle, where });
  values = (at: At, column: string, where?: string): Promise<Record<string, number | null>> =>
    this.#call('values', { at, column, where });
  state = (at: At, column: string): Promise<TableState> => this.#call('state', { at, column });

  stop(): Promise<void> {
    return this.#python.stop();
  }

  #call<T>(call: string, args: object): Promise<T> {
    return this.#python.call(call, args);
  }
}
