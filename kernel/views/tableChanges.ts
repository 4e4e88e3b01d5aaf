import type { RecordBatch } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import type { Table } from '#catalog/table/table.ts';
import type { ExportedRows } from '#catalog/export/exportFormats.ts';
import { type ChangeColumns, changeColumns, ChangeRows, withChangeColumns } from '#catalog/view/changeRows.ts';
import { hasCommonRowIds } from '#catalog/view/compareByRowId.ts';
import { compareTables, type TableComparison } from '#catalog/view/compareTables.ts';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { CatalogError, isAbort, messageOf } from '#shared/errors.ts';
import {
  type ChangeCounts,
  type ChangeKind,
  changeKinds,
  type ChangesState,
  countOfKind,
} from '#shared/protocol/changes.ts';
import type { ChangesRequest, ComparedTables, OpenedChanges } from '#shared/protocol/viewsMessages.ts';
import { type OpenCatalogs, openTable } from './openCatalogs.ts';
import { RowFile } from './rowFile.ts';

/** Minimum time between two reports of a comparison. Rows that were found until then can be read. */
const reportMs = 250;

/** Differing rows that are kept, and the size of their files in bytes. More are only counted. */
const maxRows = 1_000_000;
const maxBytes = 2 * 2 ** 30;

/** The kept rows of a kind, or all of them, in a temporary file. */
type KeptRows = { readonly file: RowFile; readonly rows: ChangeRows };

type OpenComparison = {
  readonly controller: AbortController;
  readonly kept: Readonly<Record<ChangeKind | 'all', KeptRows>>;
  readonly columns: ChangeColumns;
  /** Deletes the rows and releases the catalog. */
  readonly release: () => Promise<void>;
  /** Number of callers of `use`. The rows are deleted after the last one. */
  users: number;
  state: ChangesState;
  ended: Promise<void>;
};

/** The comparisons of a window, which run or have run, and the rows that they have found. */
export class TableChanges {
  readonly #catalogs: OpenCatalogs;
  readonly #report: (id: string, state: ChangesState) => void;
  readonly #comparisons = new Map<string, OpenComparison>();

  constructor(deps: {
    catalogs: OpenCatalogs;
    /** Called with the state of a comparison after each change. */
    report: (id: string, state: ChangesState) => void;
  }) {
    this.#catalogs = deps.catalogs;
    this.#report = deps.report;
  }

  /** Whether the row ids of two tables identify their rows. */
  hasRowIds(request: ComparedTables, signal: AbortSignal): Promise<boolean> {
    return this.#catalogs.with(request, async ({ catalog }) => {
      const [before, after] = await openTables(catalog, request, signal);
      return hasCommonRowIds(before, after, { signal });
    });
  }

  /**
   * Starts a comparison, and returns its columns.
   * @throws CatalogError as `compareTables`, InvalidInput (13) if the id is used
   */
  async open(request: ChangesRequest, signal: AbortSignal): Promise<OpenedChanges> {
    const { id, key } = request;
    if (this.#comparisons.has(id))
      throw new CatalogError('InvalidInput', `There is already a comparison "${id}".`, 'Choose another id.');
    const { catalog, release } = await this.#catalogs.hold(request.catalog);
    const files: RowFile[] = [];
    try {
      const tables = await openTables(catalog, request, signal);
      const controller = new AbortController();
      const comparison = await compareTables(...tables, { ...(key && { key }), signal: controller.signal });
      const counted = await Promise.all(tables.map((table) => table.countRows(undefined, { signal })));
      const columns = changeColumns(comparison);
      const keep = async (): Promise<KeptRows> => {
        const file = await RowFile.create(columns.schema);
        files.push(file);
        return { file, rows: new ChangeRows(columns) };
      };
      const kept = { all: await keep(), added: await keep(), removed: await keep(), changed: await keep() };
      signal.throwIfAborted();
      const none: ChangeCounts = { added: 0, removed: 0, changed: 0 };
      const rowsTotal = counted.reduce((sum, rows) => sum + rows, 0);
      const state: ChangesState = {
        counts: none,
        readable: none,
        rowsRead: 0,
        rowsTotal,
        compared: 0,
        end: 'running',
      };
      const close = async (): Promise<void> => {
        await Promise.all(files.map((file) => file.close()));
        release();
      };
      const ended = Promise.resolve();
      const open: OpenComparison = { controller, kept, columns, release: close, users: 0, state, ended };
      this.#comparisons.set(id, open);
      // The comparison starts after the response.
      open.ended = new Promise((resolve) => {
        setImmediate(() => void this.#run(id, open, comparison).finally(resolve));
      });
      const { columnChanges } = comparison;
      const numShown = columns.schema.fields.findIndex(({ name }) => name === columns.changed);
      return { columns: columnsOf(columns.schema), numShown, columnChanges: [...columnChanges], state };
    } catch (error) {
      release();
      await Promise.all(files.map((file) => file.close()));
      throw error;
    }
  }

  /**
   * Returns rows [start, end) of a kind as an Arrow stream. Waits for the end of the comparison if they are not found yet.
   * @throws CatalogError InvalidInput (13) if the comparison is closed or does not have them
   */
  async read(request: {
    id: string;
    kind: ChangeKind | null;
    start: number;
    end: number;
    columns?: readonly string[] | undefined;
  }): Promise<Uint8Array> {
    const { id, kind, start, end, columns } = request;
    const open = this.#get(id);
    const { file } = open.kept[kind ?? 'all'];
    if (end > file.rows) await open.ended;
    return file.read(start, end, columns);
  }

  /** Whether a comparison has ended and has kept all rows of a kind. */
  hasAll(id: string, kind: ChangeKind | null): boolean {
    const state = this.#comparisons.get(id)?.state;
    return state?.end === 'complete' && countOfKind(state.readable, kind) === countOfKind(state.counts, kind);
  }

  /**
   * Calls a function with rows [start, end) of a kind, which stay until its end, also if the comparison is closed. Waits for
   * the end of the comparison if they are not found yet.
   * @param select the requested columns; null for all. Those that say what has changed are added
   * @throws CatalogError InvalidInput (13) if the comparison is closed or does not have them
   */
  async use<T>(
    id: string,
    { kind, start, end, select }: { kind: ChangeKind | null; start: number; end: number; select: string[] | null },
    call: (rows: ExportedRows) => Promise<T>,
  ): Promise<T> {
    const open = this.#get(id);
    const { file } = open.kept[kind ?? 'all'];
    open.users++;
    try {
      if (end > file.rows) await open.ended;
      if (end > file.rows) throw new CatalogError('InvalidInput', 'The rows were not found.', 'Compare again.');
      return await call(file.batches(start, end, select ? withChangeColumns(open.columns, select) : undefined));
    } finally {
      open.users--;
      if (open.users === 0 && this.#comparisons.get(id) !== open) await open.release();
    }
  }

  /** Calls a function with all rows of a kind of a comparison that has kept them, see `hasAll`. */
  useAll<T>(id: string, kind: ChangeKind | null, call: (rows: ExportedRows) => Promise<T>): Promise<T> {
    const end = countOfKind(this.#get(id).state.readable, kind);
    return this.use(id, { kind, start: 0, end, select: null }, call);
  }

  /** Stops a comparison, and keeps the rows that it has found. */
  cancel(id: string): void {
    this.#comparisons.get(id)?.controller.abort();
  }

  async close(id: string): Promise<void> {
    const open = this.#comparisons.get(id);
    this.#comparisons.delete(id);
    if (!open) return;
    open.controller.abort();
    await open.ended;
    if (open.users === 0) await open.release();
  }

  #get(id: string): OpenComparison {
    const open = this.#comparisons.get(id);
    if (open) return open;
    throw new CatalogError('InvalidInput', 'The comparison was closed.', 'Compare again.');
  }

  async #run(id: string, open: OpenComparison, comparison: TableComparison): Promise<void> {
    const counts = { added: 0, removed: 0, changed: 0 };
    const { signal } = open.controller;
    let reportedAt = performance.now();
    let { readable } = open.state;
    const report = (change: Partial<ChangesState> = {}): void => {
      const { before, after } = comparison.rowsRead;
      const compared = before + counts.added;
      open.state = { ...open.state, counts: { ...counts }, readable, rowsRead: before + after, compared, ...change };
      if (this.#comparisons.has(id)) this.#report(id, open.state);
    };
    const timer = setInterval(() => {
      // A comparison by row ids finds its first row late.
      if (performance.now() - reportedAt >= reportMs) report();
    }, reportMs);
    let bytes = 0;
    let found = 0;
    const flush = async (): Promise<void> => {
      for (const { file, rows } of Object.values(open.kept)) bytes += await append(file, rows.take());
      readable = Object.fromEntries(changeKinds.map((kind) => [kind, open.kept[kind].file.rows])) as ChangeCounts;
    };
    try {
      for await (const change of comparison.changes) {
        signal.throwIfAborted();
        counts[change.kind]++;
        if (found++ < maxRows && bytes < maxBytes)
          for (const { file, rows } of [open.kept.all, open.kept[change.kind]])
            bytes += await append(file, rows.add(change));
        if (performance.now() - reportedAt < reportMs) continue;
        reportedAt = performance.now();
        await flush();
        report();
      }
      await flush();
      report({ end: 'complete' });
    } catch (error) {
      // What was found before can still be read.
      await flush().catch(() => {});
      if (signal.aborted || isAbort(error)) report({ end: 'canceled' });
      else report({ end: 'failed', problem: messageOf(error) });
    } finally {
      clearInterval(timer);
    }
  }
}

/** Appends a batch, if there is one. @returns its bytes */
async function append(file: RowFile, batch: RecordBatch | undefined): Promise<number> {
  if (!batch) return 0;
  const before = file.bytes;
  await file.append(batch);
  return file.bytes - before;
}

/** Opens both tables at their versions. @throws CatalogError as `Catalog.openTable` */
export const openTables = (
  catalog: Catalog,
  { before, after }: Pick<ComparedTables, 'before' | 'after'>,
  signal: AbortSignal,
): Promise<[before: Table, after: Table]> =>
  Promise.all([openTable(catalog, before, signal), openTable(catalog, after, signal)]);
