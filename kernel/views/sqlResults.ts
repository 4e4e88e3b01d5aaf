import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { CatalogError, isAbort } from '#shared/errors.ts';
import { sizeText } from '#shared/format/numbers.ts';
import type { SqlProblem, SqlRequest, SqlResultState } from '#shared/protocol/viewsMessages.ts';
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
      const isWhole = await this.#readAll(request, running);
      if (isWhole) this.#change(request.id, running, { end: 'complete' });
      else this.#change(request.id, running, { end: 'full', problem: fullProblem(request.maxBytes) });
    } catch (error) {
      if (running.controller.signal.aborted || isAbort(error)) this.#change(request.id, running, { end: 'canceled' });
      else this.#change(request.id, running, { end: 'failed', problem: problemOf(error) });
    }
  }

  /** Returns whether all rows were read; `false` if the files of all results have reached their maximum size. */
  async #readAll({ id, text, catalog, others, mayWrite, maxBytes }: SqlRequest, running: Running): Promise<boolean> {
    const { signal } = running.controller;
    if (readPurpose(text).kind === 'write' && !mayWrite)
      throw new CatalogError('PermissionDenied', 'The statement writes a table.', 'Confirm it first.');
    return this.#catalogs.with({ catalog, others }, async (catalogs) => {
      const { schema, batches } = await runStatement(this.#engine, { text, ...catalogs }, signal);
      const reader = batches[Symbol.asyncIterator]();
      try {
        running.file = await RowFile.create(schema);
        this.#change(id, running, { columns: columnsOf(schema) });
        for (let next = await reader.next(); next.done !== true; next = await reader.next()) {
          if (this.#bytes >= maxBytes) return false;
          await running.file.append(next.value);
          signal.throwIfAborted();
          this.#change(id, running, { rows: running.file.rows });
        }
        return true;
      } finally {
        // The rows are not read to their end if they can't be written.
        await reader.return?.();
      }
    });
  }

  /** The size of the files of all results. */
  get #bytes(): number {
    return [...this.#results.values()].reduce((sum, { file }) => sum + (file?.bytes ?? 0), 0);
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

const fullProblem = (maxBytes: number): SqlProblem => ({
  message:
    `The query stopped: the results of this window use all ${sizeText(maxBytes)} of disk space that they may use. ` +
    'Add a limit to the query, close other results, or increase the setting lanceCatalog.sql.maxResultGigabytes.',
  offset: null,
});
