import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { CatalogError, isAbort } from '#shared/errors.ts';
import type { SqlRequest, SqlResultState } from '#shared/protocol/viewsMessages.ts';
import { runStatement } from '#sql/runStatement.ts';
import type { SqlEngine } from '#sql/sqlEngine.ts';
import type { OpenCatalogs } from './openCatalogs.ts';
import { problemOf, readPurpose } from './readStatements.ts';
import { RowFile } from './rowFile.ts';

/** Minimum time between two reports of a growing result. */
const reportMs = 100;

type Running = {
  readonly controller: AbortController;
  readonly startedAt: number;
  state: SqlResultState;
  file: RowFile | undefined;
  ended: Promise<void>;
  /** When the state was reported last, and the report that waits. */
  reportedAt: number;
  waiting: NodeJS.Timeout | undefined;
};

/** The statements of a window, which run or have run, and their rows. */
export class SqlResults {
  readonly #engine: SqlEngine;
  readonly #report: (id: string, state: SqlResultState) => void;
  readonly #catalogs: OpenCatalogs;
  readonly #results = new Map<string, Running>();

  constructor(deps: {
    engine: SqlEngine;
    catalogs: OpenCatalogs;
    /** Called with the state of a result after each change. */
    report: (id: string, state: SqlResultState) => void;
  }) {
    this.#engine = deps.engine;
    this.#catalogs = deps.catalogs;
    this.#report = deps.report;
  }

  /** Starts a statement; its state is reported. @throws CatalogError InvalidInput (13) if the id is used */
  start(request: SqlRequest): void {
    const { id } = request;
    if (this.#results.has(id))
      throw new CatalogError('InvalidInput', `There is already a result "${id}".`, 'Choose another id.');
    const running: Running = {
      controller: new AbortController(),
      startedAt: performance.now(),
      state: { rows: 0, end: 'running', milliseconds: 0 },
      file: undefined,
      ended: Promise.resolve(),
      reportedAt: 0,
      waiting: undefined,
    };
    this.#results.set(id, running);
    running.ended = this.#run(request, running);
  }

  /** Returns rows [start, end) as an Arrow stream. @throws CatalogError InvalidInput (13) if they don't exist */
  async read(id: string, start: number, end: number): Promise<Uint8Array> {
    const file = this.#results.get(id)?.file;
    if (!file) throw new CatalogError('InvalidInput', 'The result was closed.', 'Run the query again.');
    return file.read(start, end);
  }

  /** Stops a statement and keeps its rows. Returns when it has ended. */
  async cancel(id: string): Promise<void> {
    const running = this.#results.get(id);
    running?.controller.abort();
    await running?.ended;
  }

  /** Stops a statement and deletes its rows. */
  async close(id: string): Promise<void> {
    await this.cancel(id);
    const file = this.#results.get(id)?.file;
    this.#results.delete(id);
    await file?.close();
  }

  async #run(request: SqlRequest, running: Running): Promise<void> {
    try {
      await this.#readAll(request, running);
      this.#change(request.id, running, { end: 'complete' });
    } catch (error) {
      if (running.controller.signal.aborted || isAbort(error)) this.#change(request.id, running, { end: 'canceled' });
      else this.#change(request.id, running, { end: 'failed', problem: problemOf(error) });
    }
  }

  async #readAll({ id, text, catalog, others, mayWrite }: SqlRequest, running: Running): Promise<void> {
    const { signal } = running.controller;
    if (readPurpose(text).kind === 'write' && !mayWrite)
      throw new CatalogError('PermissionDenied', 'The statement writes a table.', 'Confirm it first.');
    await this.#catalogs.with({ catalog, others }, async (catalogs) => {
      const { schema, batches } = await runStatement(this.#engine, { text, ...catalogs }, signal);
      const reader = batches[Symbol.asyncIterator]();
      try {
        running.file = await RowFile.create(schema);
        this.#change(id, running, { columns: columnsOf(schema) });
        for (let next = await reader.next(); next.done !== true; next = await reader.next()) {
          await running.file.append(next.value);
          signal.throwIfAborted();
          this.#change(id, running, { rows: running.file.rows });
        }
      } finally {
        // The rows are not read to their end if they can't be written.
        await reader.return?.();
      }
    });
  }

  /** Reports a change: the first rows and the end at once, other changes at most every 100 ms. */
  #change(id: string, running: Running, change: Partial<SqlResultState>): void {
    const isFirst = running.state.rows === 0 && (change.rows ?? 0) > 0;
    const milliseconds = Math.round(performance.now() - running.startedAt);
    running.state = { ...running.state, ...change, milliseconds };
    const report = (): void => {
      clearTimeout(running.waiting);
      running.waiting = undefined;
      running.reportedAt = performance.now();
      this.#report(id, running.state);
    };
    const wait = running.reportedAt + reportMs - performance.now();
    if (isFirst || change.end !== undefined || wait <= 0) report();
    else running.waiting ??= setTimeout(report, wait);
  }
}
