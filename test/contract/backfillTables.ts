import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { inRoot } from '../../scripts/paths.ts';
import { python } from '../harness/python.ts';

/** Where a table is. */
export type At = { readonly uri: string; readonly options?: Readonly<Record<string, string>> };

export type Checked = { readonly rows: number; readonly wrong: number; readonly samples: readonly unknown[] };
export type TableState = {
  readonly version: number;
  readonly rows: number;
  readonly fragments: readonly number[];
  readonly metadata: Readonly<Record<string, string>>;
};

/** Makes tables with pylance, writes to them as somebody else would, and checks columns against values of its own. */
export class BackfillTables {
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  #turn: Promise<unknown> = Promise.resolve();

  constructor() {
    this.#child = spawn(python(), [inRoot('test/contract/python/backfillTables.py')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#answers = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

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

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.stdin?.end();
    await ended;
  }

  #call<T>(call: string, args: object): Promise<T> {
    const answer = this.#turn.then(async () => {
      this.#child.stdin?.write(`${JSON.stringify({ call, with: args })}\n`);
      const { value, done } = await this.#answers.next();
      if (done === true) throw new Error('The Python that makes tables has ended.');
      const said = JSON.parse(value) as { ok?: T; error?: string };
      if (said.error !== undefined) throw new Error(said.error);
      return said.ok as T;
    });
    this.#turn = answer.catch(() => {});
    return answer;
  }
}
