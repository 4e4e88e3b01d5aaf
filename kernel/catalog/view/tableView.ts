import type { DataType, Table as ArrowTable } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { columnReader } from '#catalog/arrow/rowValues.ts';
import type { Ordering } from '#catalog/query/querySpec.ts';
import type { Table } from '#catalog/table/table.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import type { NearestFacts } from '#shared/protocol/webviewMessages.ts';
import { distanceColumn } from '#shared/vectorTypes.ts';
import { filteredQuery, isListedFirst, listRows, type ViewSpec } from './listRows.ts';
import type { KeyValue } from './keyOrder.ts';
import { distancesTable, findNearest, type NearestRows, withDistances } from './nearestRows.ts';
import { type ListOptions, RowIdList } from './rowIdList.ts';
import { hasRowIds, isSame, keyColumns, keysReader, rowIdsOf } from './rowKeys.ts';
import type { RowSearch } from './searchRows.ts';
import { conditionName, equalCondition } from './valueCondition.ts';

type ReadOptions = CallOptions & {
  /** Columns of the result. Default: all. */
  readonly columns?: readonly string[] | undefined;
};

/** The first rows of a view. */
export type FirstRows = {
  readonly numRows: number;
  /** Whether the view has no other rows. */
  readonly isAll: boolean;
  /**
   * Whether the list of row ids begins with these rows. False if very many rows have the same keys as the last one. Then
   * the list may begin with other ones of them.
   */
  readonly isFinal: boolean;
};

/**
 * Sorted or filtered rows of one version of a table. The order is that of the engine: NaN is larger than every number,
 * -0 less than 0, text is compared by its bytes in UTF-8, and nulls are last unless `nullsFirst` is set. Rows with equal
 * values are in the order of their row ids, so that every row is on exactly one page.
 *
 * The first rows are read at once. All other pages need the list of row ids, which is made once by `list`. The rows nearest to
 * a vector are found at once, and have a column `_distance` after the others.
 */
export class TableView {
  readonly #table: Table;
  readonly #spec: ViewSpec;
  /** The row ids of the first rows, after `find`. */
  #first: BigUint64Array = new BigUint64Array();
  #list: Promise<RowIdList> | undefined;
  #isByPosition = false;
  /** The row ids listed so far, also after `list` was canceled, and how many of them can be read. */
  #known: { readonly list: RowIdList; settled: number; isWhole: boolean } | undefined;
  #nearest: NearestRows | undefined;

  /** @param table opened at a version, because row ids may change with the version */
  constructor(table: Table, spec: ViewSpec) {
    this.#table = table;
    this.#spec = spec;
  }

  /**
   * Finds the first `count` rows without the list of row ids, reading only their keys. Then `rows` can read them. A search by
   * vector finds all of its rows, and so does a sort that the server can't do. Only that one calls `onProgress`.
   * @throws CatalogError as `list`
   */
  async find(count: number, options: ListOptions = {}): Promise<FirstRows> {
    const { signal } = options;
    const orderBy = this.#spec.orderBy ?? [];
    if (this.#spec.nearest) {
      const list = await this.list({ signal });
      this.#first = await list.slice(0, count);
      return { numRows: list.length, isAll: true, isFinal: true };
    }
    if (isListedFirst(this.#spec)) {
      const list = await this.list({ signal });
      this.#first = await list.slice(0, count);
      return { numRows: this.#first.length, isAll: list.length <= count, isFinal: true };
    }
    if (orderBy.length === 0) {
      const query = filteredQuery(this.#table, this.#spec)
        .select(['_rowid'])
        .limit(count + 1);
      const { batches } = await query.toArrow({ signal });
      if (batches.some((batch) => !hasRowIds(batch))) return this.#findByPosition(options);
      const ids = BigUint64Array.from(batches.flatMap((batch) => [...rowIdsOf(batch)]));
      this.#first = ids.slice(0, count);
      return { numRows: this.#first.length, isAll: ids.length <= count, isFinal: true };
    }
    const { ids, isAll, isFinal } = await this.#firstIds(count, orderBy, options);
    this.#first = ids;
    return { numRows: ids.length, isAll, isFinal };
  }

  /**
   * Reads the first `count` rows without the list of row ids: first the keys of these rows, then the other columns.
   * @throws CatalogError as `list`
   */
  async firstRows(count: number, options: ReadOptions = {}): Promise<{ rows: ArrowTable; isFinal: boolean }> {
    const { isFinal } = await this.find(count, options);
    if (this.#isByPosition) return { rows: await this.rows(0, count, options), isFinal };
    return { rows: await this.#take(this.#first, 0, options), isFinal };
  }

  /**
   * Lists the row ids of all rows. Further calls return the same list, unless the first one failed.
   * @throws CatalogError InvalidInput (13) or ColumnNotFound (12) for a wrong filter or column, Unsupported (0) for a
   * column that has no order, and for more than 5,000,000 rows if the server can't sort
   */
  list(options: ListOptions = {}): Promise<RowIdList> {
    this.#list ??= this.#makeList(options).catch((error: unknown) => {
      this.#list = undefined;
      throw error;
    });
    return this.#list;
  }

  /** How the nearest rows were found, after `find` or `list`; `undefined` in a view without a search by vector. */
  get nearest(): NearestFacts | undefined {
    return this.#nearest?.facts;
  }

  /** How the text of the view was searched, after `find` or `list`; `undefined` in a view without a search by text. */
  get search(): RowSearch | undefined {
    return this.#nearest ? this.#nearest.search : this.#spec.search;
  }

  /** Whether the server has no row ids, so that the rows are read by their positions, after `find`. */
  get isByPosition(): boolean {
    return this.#isByPosition;
  }

  /** Whether the list begins with other rows than those of `find`. Call it when the list has as many rows. */
  async hasOtherFirstRows(): Promise<boolean> {
    const listed = await this.#known?.list.slice(0, this.#first.length);
    return listed !== undefined && this.#first.some((id, row) => id !== listed[row]);
  }

  /**
   * Reads the rows at the positions [start, end). Makes the list first if they are not known yet.
   * @throws CatalogError as `list`
   */
  async rows(start: number, end: number, { columns, signal }: ReadOptions = {}): Promise<ArrowTable> {
    if (this.#isByPosition) {
      const query = filteredQuery(this.#table, this.#spec)
        .offset(start)
        .limit(Math.max(0, end - start));
      return (columns ? query.select(columns) : query).toArrow({ signal });
    }
    return this.#take(await this.#ids(start, end, signal), start, { columns, signal });
  }

  /** Returns the ids of the rows at the positions [start, end), fewer at the end. @throws CatalogError as `list` */
  rowIds(start: number, end: number, { signal }: CallOptions = {}): Promise<BigUint64Array> {
    return this.#ids(start, end, signal);
  }

  /** Deletes the list of row ids. The table stays open. */
  async close(): Promise<void> {
    const list = this.#list;
    this.#list = undefined;
    await list?.catch(() => undefined);
    const known = this.#known;
    this.#known = undefined;
    await known?.list.close();
  }

  /** Counts the rows of a filter. They keep their positions, because the table is opened at a version. */
  async #findByPosition({ signal }: CallOptions): Promise<FirstRows> {
    this.#isByPosition = true;
    return { numRows: await this.#table.countRows(this.#spec.where, { signal }), isAll: true, isFinal: true };
  }

  async #ids(start: number, end: number, signal: AbortSignal | undefined): Promise<BigUint64Array> {
    if (this.#spec.nearest) return (await this.list({ signal })).slice(start, end);
    const known = this.#known;
    if (known?.isWhole === true) return known.list.slice(start, end);
    // The list may begin with other rows. The caller learns that when it is complete.
    if (end <= this.#first.length) return this.#first.slice(start, end);
    if (known && end <= known.settled) return known.list.slice(start, end);
    return (await this.list({ signal })).slice(start, end);
  }

  async #makeList({ onProgress, ...options }: ListOptions): Promise<RowIdList> {
    await this.#known?.list.close();
    const known = { list: new RowIdList(), settled: 0, isWhole: false };
    this.#known = known;
    try {
      if (this.#spec.nearest) {
        this.#nearest = await findNearest(this.#table, { ...this.#spec, nearest: this.#spec.nearest }, options);
        known.list.push(this.#nearest.ids);
        await known.list.settle();
        known.isWhole = true;
        return known.list;
      }
      await listRows(this.#table, this.#spec, known.list, {
        ...options,
        onProgress: (rows, settled) => {
          known.settled = settled;
          onProgress?.(rows, settled);
        },
      });
      known.isWhole = true;
      return known.list;
    } catch (error) {
      // What was listed before a cancellation can still be read.
      if (options.signal?.aborted !== true) {
        this.#known = undefined;
        await known.list.close();
      }
      throw error;
    }
  }

  /** @param start the position of the first row in the view */
  async #take(ids: BigUint64Array, start: number, { columns, signal }: ReadOptions): Promise<ArrowTable> {
    const distances = this.#nearest?.distances.slice(start, start + ids.length);
    const stored = distances ? columns?.filter((name) => name !== distanceColumn) : columns;
    if (distances && stored?.length === 0) return distancesTable(distances);
    const take = this.#table.takeRowIds(Array.from(ids));
    const rows = await (stored ? take.select(stored) : take).toArrow({ signal });
    if (rows.numRows === ids.length) return distances ? withDistances(rows, distances, columns) : rows;
    throw new CatalogError(
      'ConcurrentModification',
      `${ids.length - rows.numRows} of ${ids.length} rows are no longer at their place in the table.`,
      'Sort or filter again.',
    );
  }

  /** Returns the row ids of the first rows. The table returns them sorted, but rows with equal keys in any order. */
  async #firstIds(
    count: number,
    orderBy: readonly Ordering[],
    options: ListOptions,
  ): Promise<{ ids: BigUint64Array; isAll: boolean; isFinal: boolean }> {
    const { signal } = options;
    const columns = keyColumns(orderBy);
    const query = filteredQuery(this.#table, this.#spec).select(columns).withRowId();
    let sorted: ArrowTable;
    try {
      // One more row shows whether the last group of equal keys continues.
      sorted = await query
        .orderBy([...orderBy])
        .limit(count + 1)
        .toArrow({ signal });
    } catch (error) {
      if (!isCatalogError(error, 'Unsupported')) throw error;
      const list = await this.list(options);
      return { ids: await list.slice(0, count), isAll: list.length <= count, isFinal: true };
    }
    const rows = readKeyRows(sorted, orderBy);
    const next = rows[count];
    const ids = new RowIdList();
    let start = 0;
    for (const [at, { id, keys }] of rows.slice(0, count).entries()) {
      if (at > 0 && !isSame(keys, rows[at - 1]!.keys)) {
        ids.sort(start, ids.length);
        start = at;
      }
      ids.push(BigUint64Array.of(id));
    }
    if (!next || !isSame(next.keys, rows[count - 1]!.keys)) {
      ids.sort(start, ids.length);
      return { ids: await ids.slice(0, count), isAll: !next, isFinal: true };
    }
    const filter = equalRows(sorted, count, columns);
    const same = filter === undefined ? undefined : await query.where(filter).limit(maxTied).toArrow({ signal });
    const tied = same && readKeyRows(same, orderBy).flatMap(({ id, keys }) => (isSame(keys, next.keys) ? [id] : []));
    if (!tied || tied.length < count - start) return { ids: await ids.slice(0, count), isAll: false, isFinal: false };
    const first = await ids.slice(0, start);
    const rest = BigUint64Array.from(tied)
      .toSorted()
      .subarray(0, count - start);
    return { ids: BigUint64Array.from([...first, ...rest]), isAll: false, isFinal: same.numRows < maxTied };
  }
}

/**
 * Maximum number of rows with equal keys that are read for the first rows. If there are more, those that the table
 * returns first are taken, which are the right ones unless rows have moved within the table.
 */
const maxTied = 2_000;

const readKeyRows = (
  { batches }: ArrowTable,
  orderBy: readonly Ordering[],
): { id: bigint; keys: readonly KeyValue[] }[] =>
  batches.flatMap((batch) => {
    const readKeys = keysReader(batch, orderBy);
    return Array.from(rowIdsOf(batch), (id, row) => ({ id, keys: readKeys(row) }));
  });

/**
 * Returns the condition that columns have the values of a row; undefined if SQL can't express it. It is also true for
 * a zero with the other sign.
 */
function equalRows(table: ArrowTable, row: number, columns: readonly string[]): string | undefined {
  if (columns.some((column) => conditionName(column) === undefined)) return undefined;
  const conditions = columns.map((column, index) => {
    const { type, data } = table.slice(row, row + 1).getChildAt(index)!;
    return equalCondition(type as DataType, columnReader(data[0]!)(0), column);
  });
  return conditions.join(' AND ');
}
