import type { DataType, RecordBatch } from '#arrow';
import type { Ordering } from '#catalog/query/querySpec.ts';
import type { Query } from '#catalog/query/query.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { type KeyValue, markChanges } from './keyOrder.ts';
import type { ListOptions, RowIdList, SortSizes } from './rowIdList.ts';
import { isSame, keyColumns, keysReader, rowIdsOf } from './rowKeys.ts';
import { type SampledKey, sampledKeys, type SortRange, sortRanges } from './sortRanges.ts';

/** The rows to sort. */
export type SortSource = {
  /** Returns the query of the rows for which a condition is true, too. */
  readonly queryRows: (condition?: string) => Query;
  /** Returns the query of all rows of the table, also of those that are not sorted. */
  readonly queryTable: () => Query;
  /** Counts all rows of the table. */
  readonly countTable: () => Promise<number>;
  /** Counts the rows to sort. */
  readonly countRows: () => Promise<number>;
};

/** Some of the rows, which are together in the order. */
type Part = {
  /** `undefined` for all rows. */
  readonly condition: string | undefined;
  /** The columns to sort by in which the rows differ. */
  readonly orderBy: readonly Ordering[];
  /** Estimated number of rows. */
  readonly rows: number;
};

/**
 * One sort of 10 million numbers takes a server 550 MB, of 20 million 670 MB, of 40 million 1,150 MB. A query of a server
 * may have 1,400 MB. Below 20 million rows, parts are slower than one sort.
 */
const defaultSizes: SortSizes = {
  maxBytes: 640e6,
  partBytes: 256e6,
  tiedRows: 16e6,
  unmeasuredRows: 200_000,
  sampledRows: 10e6,
};

/** Parts of very large tables, for which the memory of a part grows. */
const maxParts = 16;
/** How often the rows of a part are divided again. */
const maxDepth = 8;
/** Parts into which rows are divided after the table had too little memory to sort them at once. */
const partsAfterFailure = 4;
/** Rows of a sample, at least for each part and for all. The least is for keys of many bytes. */
const sampleRows = { part: 400, all: 20_000, least: 1_000 };
const sampleBytes = 16e6;
/** Rows whose keys are measured at each of three places of the table. */
const measuredRows = 64;
/** Every nth row is sampled. They are primes, so that a sample does not follow the order of a table. */
const sampleSteps = [1, 3, 11, 31, 101, 307, 1_009, 3_001, 10_007, 30_011, 100_003, 300_007] as const;

/**
 * Lists sorted rows. Many rows are sorted in parts, so that the table and this process need little memory for each:
 * ranges of the first column to sort by, found by a sample of its values, and a query that sorts for each range. Rows that
 * are equal in this column are sorted by the next one, and by their row ids at last.
 */
export class SortedParts {
  readonly #source: SortSource;
  readonly #orderBy: readonly Ordering[];
  readonly #list: RowIdList;
  readonly #options: ListOptions;
  readonly #sizes: SortSizes;
  /** Bytes of a value, by column. */
  readonly #widths = new Map<string, number>();
  #partBytes: number;
  #isDivided = false;
  #windows: Promise<string[]> | undefined;

  constructor(source: SortSource, orderBy: readonly Ordering[], list: RowIdList, options: ListOptions) {
    this.#source = source;
    this.#orderBy = orderBy;
    this.#list = list;
    this.#options = options;
    this.#sizes = options.sortSizes ?? defaultSizes;
    this.#partBytes = this.#sizes.partBytes;
  }

  /**
   * Adds the row ids of all rows to the empty list.
   * @throws CatalogError Unsupported (0) before the first row if the server can't sort, Internal (18) if a part was
   * read wrongly
   */
  async listAll(): Promise<void> {
    await this.#listAll();
    await this.#checkCount();
  }

  async #listAll(): Promise<void> {
    const rows = await this.#source.countTable();
    const all: Part = { condition: undefined, orderBy: withoutRepetition(this.#orderBy), rows };
    if (rows <= this.#sizes.unmeasuredRows) return this.#listPart(all);
    await this.#measure(rows);
    const bytes = this.#bytesOf(all);
    if (bytes <= this.#sizes.maxBytes) return this.#listPart(all);
    this.#partBytes = Math.max(this.#partBytes, Math.min(this.#sizes.maxBytes, bytes / maxParts));
    await this.#checkOrder(all);
    return this.#listPart(all);
  }

  /** Checks that the conditions of the parts found each row once. @throws CatalogError Internal (18) */
  async #checkCount(): Promise<void> {
    if (!this.#isDivided) return;
    const rows = await this.#source.countRows();
    if (rows === this.#list.length) return;
    const what = `Can't sort the rows in parts: the parts have ${this.#list.length} of ${rows} rows.`;
    throw new CatalogError('Internal', what, 'Filter the rows, or sort by another column.');
  }

  /** Lists the rows of a part, at once if the table can sort them. */
  async #listPart(part: Part, depth = 0): Promise<void> {
    const { signal } = this.#options;
    signal?.throwIfAborted();
    if (part.orderBy.length === 0) return this.#listTied(part);
    if (depth === maxDepth || this.#bytesOf(part) <= this.#sizes.maxBytes) {
      const before = this.#list.length;
      try {
        return await this.#sortAtOnce(part);
      } catch (error) {
        // A server stops queries that need too much memory or time.
        const isStopped = isCatalogError(error, 'ServiceUnavailable') && this.#list.length === before;
        if (!isStopped || depth === maxDepth || signal?.aborted === true) throw error;
        const parts = await this.#divide(part, depth, true).catch(() => undefined);
        if (!parts) throw error;
        return this.#listParts(parts, depth);
      }
    }
    const parts = await this.#divide(part, depth, false);
    return parts ? this.#listParts(parts, depth) : this.#sortAtOnce(part);
  }

  async #listParts(parts: readonly Part[], depth: number): Promise<void> {
    this.#isDivided ||= parts.length > 1;
    for (const part of parts) await this.#listPart(part, depth + 1);
  }

  #sortAtOnce({ condition, orderBy }: Part): Promise<void> {
    const query = this.#source.queryRows(condition).select(keyColumns(orderBy)).orderBy(orderBy).withRowId();
    return listSorted(query, orderBy, this.#list, this.#options);
  }

  /**
   * Divides a part by a sample of its first key; `undefined` if that makes no smaller parts.
   * @param hasFailed whether the table had too little memory for the part
   */
  async #divide(part: Part, depth: number, hasFailed: boolean): Promise<Part[] | undefined> {
    const [ordering, ...rest] = part.orderBy;
    if (!ordering) return undefined;
    if (!this.#widths.has(ordering.column)) await this.#measure(part.rows);
    const { keys, type, every } = await this.#sample(part, ordering.column, depth);
    const { step } = every;
    if (!type) return undefined;
    const rows = keys.length * step;
    const bytes = rows * this.#weight(part.orderBy);
    // A filter may leave few rows of a large table.
    if (!hasFailed && bytes <= this.#sizes.maxBytes) return [{ ...part, rows }];
    const wanted = hasFailed ? Math.min(this.#partBytes, bytes / partsAfterFailure) : this.#partBytes;
    const most = Math.max(1, wanted / this.#weight(part.orderBy) / step);
    const ranges = sortRanges(keys, { type, ordering, most });
    if (!ranges || ranges.length < 2) return undefined;
    const parts = (await this.#withoutEmpty(part, ranges, every)).map(({ condition, sampled, isOneKey }): Part => ({
      condition: bothOf(part.condition, condition),
      orderBy: isOneKey ? rest : part.orderBy,
      rows: sampled * step,
    }));
    return parts;
  }

  /**
   * Leaves out ranges that no sampled row is in if none of them has rows. One query is faster than one for each. It finds
   * the sampled rows again, because a server stops a query that is silent for long.
   */
  async #withoutEmpty(part: Part, ranges: readonly SortRange[], { step, rest }: Every): Promise<readonly SortRange[]> {
    const unseen = ranges.flatMap(({ condition, sampled }) => (sampled === 0 && condition ? [condition] : []));
    const seen = ranges.filter(({ sampled }) => sampled > 0);
    if (step === 1) return seen;
    if (unseen.length < 2) return ranges;
    const anyOf = `(${[everyRow({ step, rest }), ...unseen].map((condition) => `(${condition})`).join(' OR ')})`;
    for await (const batch of this.#scan(bothOf(part.condition, anyOf), (query) => query.select(['_rowid'])))
      if (rowIdsOf(batch).some((id) => id % BigInt(step) !== BigInt(rest))) return ranges;
    return seen;
  }

  /** Reads rows in windows of their row ids, so that each query is short: a server stops a query that is silent for long. */
  async *#scan(condition: string | undefined, select: (query: Query) => Query): AsyncGenerator<RecordBatch> {
    const { signal } = this.#options;
    this.#windows ??= this.#findWindows();
    for (const window of await this.#windows) {
      // The engine reads the window alone if it is the first condition.
      const query = select(this.#source.queryRows(bothOf(window === '' ? undefined : window, condition)));
      yield* (await query.execute({ signal })).batches;
    }
  }

  /** Returns conditions that divide the row ids of the table. */
  async #findWindows(): Promise<string[]> {
    const { signal } = this.#options;
    const rows = await this.#source.countTable();
    const count = Math.max(1, Math.ceil(rows / this.#sizes.sampledRows));
    const ids: bigint[] = [];
    for (let window = 1; window < count; window++) {
      const place = this.#source.queryTable().select(['_rowid']).limit(1);
      const { batches } = await place.offset(Math.floor((rows * window) / count)).toArrow({ signal });
      for (const batch of batches) ids.push(...rowIdsOf(batch));
    }
    return windowsOf(Array.from(BigUint64Array.from(ids).toSorted()));
  }

  /** Lists rows with equal keys by their row ids. */
  async #listTied({ condition, rows }: Part): Promise<void> {
    const { signal, onProgress } = this.#options;
    const { tiedRows } = this.#sizes;
    const bounds: bigint[] = [];
    if (rows > tiedRows) {
      const { ids } = await this.#sample({ condition, orderBy: [], rows }, undefined, 0);
      const size = Math.max(1, Math.floor((ids.length * tiedRows) / rows));
      for (let at = size; at < ids.length; at += size) bounds.push(ids[at]!);
    }
    for (const window of windowsOf(bounds)) {
      const query = this.#source.queryRows(bothOf(window === '' ? undefined : window, condition)).select(['_rowid']);
      const start = this.#list.length;
      for await (const batch of (await query.execute({ signal })).batches) {
        this.#list.push(rowIdsOf(batch));
        onProgress?.(this.#list.length, start);
      }
      this.#list.sort(start, this.#list.length);
      await this.#list.settle();
      onProgress?.(this.#list.length, this.#list.length);
    }
  }

  /** Reads row ids, in their order, and the values of a column of some rows of a part. */
  async #sample(
    { condition, orderBy, rows }: Part,
    column: string | undefined,
    depth: number,
  ): Promise<{ ids: BigUint64Array; keys: SampledKey[]; type: DataType | undefined; every: Every }> {
    const parts = (rows * this.#weight(orderBy)) / this.#partBytes;
    const width = column === undefined ? 8 : (this.#widths.get(column) ?? 8);
    const most = Math.max(sampleRows.least, sampleBytes / width);
    const count = Math.min(most, Math.max(sampleRows.all, sampleRows.part * parts));
    const step = sampleSteps.findLast((each) => rows / each >= count) ?? 1;
    const every = { step, rest: (17 * (depth + 1)) % step };
    const rowsOf = bothOf(condition, step === 1 ? undefined : everyRow(every));
    const select = (query: Query): Query =>
      column === undefined ? query.select(['_rowid']) : query.select([column]).withRowId();
    const keys: SampledKey[] = [];
    const ids: bigint[] = [];
    let type: DataType | undefined;
    for await (const batch of this.#scan(rowsOf, select)) {
      for (const id of rowIdsOf(batch)) ids.push(id);
      if (column === undefined) continue;
      type = batch.schema.fields[0]!.type as DataType;
      keys.push(...sampledKeys(batch.data.children[0], column, batch.numRows));
    }
    return { ids: BigUint64Array.from(ids).toSorted(), keys, type, every };
  }

  /** Measures the keys of some rows. */
  async #measure(rows: number): Promise<void> {
    const { signal } = this.#options;
    const columns = keyColumns(this.#orderBy);
    const places = [0, Math.floor(rows / 2), Math.max(0, rows - measuredRows)];
    const samples = await Promise.all(
      places.map((offset) =>
        this.#source.queryTable().select(columns).offset(offset).limit(measuredRows).toArrow({ signal }),
      ),
    );
    for (const [index, column] of columns.entries()) {
      const widths = samples.flatMap(({ batches }) => batches.map((batch) => widthOf(batch, index)));
      this.#widths.set(column, Math.max(1, ...widths));
    }
  }

  /** Checks that the server sorts, before it reads many rows. @throws CatalogError Unsupported (0) */
  async #checkOrder({ orderBy }: Part): Promise<void> {
    // A condition of row ids, because the server would search all rows for the first one.
    const query = this.#source.queryTable().where('_rowid IN (0)').select(keyColumns(orderBy)).orderBy(orderBy);
    await query.limit(1).toArrow({ signal: this.#options.signal });
  }

  #bytesOf({ orderBy, rows }: Part): number {
    return rows * this.#weight(orderBy);
  }

  /**
   * Returns the memory that the engine needs to sort a row: the keys and the row id, twice, and several keys again in
   * a form that is compared.
   */
  #weight(orderBy: readonly Ordering[]): number {
    const keys = keyColumns(orderBy).reduce((sum, column) => sum + (this.#widths.get(column) ?? 8), 0);
    return 2 * (8 + keys) + (orderBy.length > 1 ? keys : 0);
  }
}

/** The rows of a sample: those whose row id has this rest when it is divided by `step`. */
type Every = { readonly step: number; readonly rest: number };

const everyRow = ({ step, rest }: Every): string => `_rowid % ${step} = ${rest}`;

/** Returns conditions of row ids, which are divided at the bounds; an empty one for all. */
const windowsOf = (bounds: readonly bigint[]): string[] =>
  [...bounds, undefined].map((before, index) =>
    [
      ...(index === 0 ? [] : [`_rowid >= ${bounds[index - 1]!}`]),
      ...(before === undefined ? [] : [`_rowid < ${before}`]),
    ].join(' AND '),
  );

/** Leaves out repeated columns: rows that are equal in a column stay equal in it. */
const withoutRepetition = (orderBy: readonly Ordering[]): Ordering[] =>
  orderBy.filter(({ column }, index) => orderBy.findIndex((each) => each.column === column) === index);

const bothOf = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || b === undefined ? (a ?? b) : `${a} AND ${b}`;

const widthOf = ({ data, numRows }: RecordBatch, index: number): number =>
  numRows === 0 ? 1 : (data.children[index]?.byteLength ?? 0) / numRows;

/** Lists sorted rows. Rows with equal keys arrive in any order, so each group of them is sorted by row id. */
async function listSorted(
  query: Query,
  orderBy: readonly Ordering[],
  list: RowIdList,
  { signal, onProgress }: ListOptions,
): Promise<void> {
  // Where the group of the last row starts, and its keys.
  let start = list.length;
  let last: readonly KeyValue[] | undefined;
  for await (const batch of (await query.execute({ signal })).batches) {
    if (batch.numRows === 0) continue;
    const first = list.length;
    list.push(rowIdsOf(batch));
    const readKeys = keysReader(batch, orderBy);
    const marks = new Uint8Array(batch.numRows);
    for (const [index, column] of keyColumns(orderBy).entries()) markChanges(batch.data.children[index], column, marks);
    if (last && !isSame(readKeys(0), last)) marks[0] = 1;
    for (let row = marks.indexOf(1); row >= 0; row = marks.indexOf(1, row + 1)) {
      list.sort(start, first + row);
      start = first + row;
    }
    last = readKeys(batch.numRows - 1);
    await list.settle(start);
    onProgress?.(list.length, start);
  }
  list.sort(start, list.length);
  await list.settle();
}
