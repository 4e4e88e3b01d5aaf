import type { Query as NativeQuery, Table as NativeTable, VectorQuery } from '@lancedb/lancedb';
import type { RecordBatch, Schema } from '#arrow';
import { wordsOfQuery } from '#catalog/query/fullTextQuery.ts';
import {
  type BatchStream,
  defaultProbes,
  probedPartitions,
  type QueryOptions,
  type QueryRunner,
  type QuerySpec,
} from '#catalog/query/querySpec.ts';
import { rowsOfFile } from '#engine/batches/ipcStream.ts';
import { batchLength, fixedWidth, sampledWidth, sampleRows } from '#engine/batches/batchLength.ts';
import { loadNative } from '#engine/native.ts';
import { CatalogError } from '#shared/errors.ts';
import { definedEntries } from '#shared/records.ts';
import type { DistanceType } from '#shared/vectorTypes.ts';
import { checkSearchText, checkSql } from './checkSql.ts';
import { nativeFullText } from './nativeFullText.ts';
import type { TableHandle } from './tableHandle.ts';

/**
 * The rows of a query as the engine's Arrow IPC buffers, one file per batch: `only` one that has all rows, or several
 * that are read on demand. `schema` reads the schema if there are no buffers.
 */
export type IpcRows =
  | { readonly only: Uint8Array }
  | { readonly schema: () => Promise<Schema>; readonly buffers: AsyncIterable<Uint8Array> };

type Built = NativeQuery | VectorQuery;

/**
 * Methods of the engine's queries that their types do not declare. Both run a query with a maximum batch length:
 * `execute` returns decoded batches, `nativeExecute` returns raw buffers.
 */
type Inside = {
  execute?: (options: { maxBatchLength?: number }) => AsyncIterator<RecordBatch>;
  nativeExecute?: (options: { maxBatchLength?: number }) => Promise<{ next(): Promise<Buffer | null> }>;
};
const inside = (query: Built): Inside => query as unknown as Inside;

/** Runs queries on a table of the engine ("QueryTable"), at the version that the handle reads when the query starts. */
export const dirQueryRunner = (current: () => TableHandle): QueryRunner => ({
  run: (spec, signal) => run(current(), spec, signal),
  explainPlan: (spec, { verbose, ...options }) =>
    current().read(
      'ExplainTableQueryPlan',
      options,
      async (native) => (await build(native, spec)).explainPlan(verbose),
      spec.filter,
    ),
  analyzePlan: (spec, options) =>
    current().read(
      'AnalyzeTableQueryPlan',
      options,
      async (native) => (await build(native, spec)).analyzePlan(),
      spec.filter,
    ),
});

/**
 * Returns the rows of a query, which are read on demand. The first batch is read at once, because the schema is known
 * only from a batch.
 */
async function run(handle: TableHandle, spec: QuerySpec, signal?: AbortSignal): Promise<BatchStream> {
  const release = handle.hold();
  const started = await handle
    .read(
      'QueryTable',
      { signal },
      async (native) => {
        const query = await build(native, spec);
        if (spec.limit === 0) return { schema: await query.outputSchema() };
        const batches =
          inside(query).execute?.(await batchLengthOf(handle, native, spec)) ?? query[Symbol.asyncIterator]();
        const first = await batches.next();
        return first.done ? { schema: await query.outputSchema() } : { schema: first.value.schema, batches, first };
      },
      spec.filter,
    )
    .catch((error: unknown) => {
      release();
      throw error;
    });
  const { schema, batches, first } = started;
  const next = () => handle.step('QueryTable', { signal }, () => batches!.next(), spec.filter);
  async function* readAll(): AsyncGenerator<RecordBatch, void, undefined> {
    const seen = { rows: 0, bytes: 0 };
    for (let read: IteratorResult<RecordBatch> | undefined = first; read && !read.done; read = await next()) {
      signal?.throwIfAborted();
      yield read.value;
      seen.rows += read.value.numRows;
      seen.bytes += read.value.data.byteLength;
      if (isComplete(spec, seen)) return finish(spec, seen, batches!);
    }
  }
  return { schema, batches: releaseAfter(readAll(), release) };
}

type Seen = { rows: number; bytes: number };

/** Whether a query has all rows of its limit. The limit of a search is not that of its rows. */
const hasAllRows = ({ limit = Infinity, vector, fullText }: QuerySpec, { rows }: Seen): boolean =>
  rows >= limit && !vector && !fullText;

/** Whether no rows follow those that were read, so that a caller need not wait until the engine says so. */
const isComplete = (spec: QuerySpec, seen: Seen): boolean =>
  seen.bytes >= (spec.maxBytes ?? Infinity) || hasAllRows(spec, seen);

/**
 * Lets the engine end a complete query, after its rows were passed on. A query that is not ended is freed by the garbage
 * collector: in this thread, together with hundreds of others. A query that has more rows would read them here.
 */
function finish(spec: QuerySpec, seen: Seen, stream: { next(): Promise<unknown> }): void {
  if (!hasAllRows(spec, seen)) return;
  setImmediate(() => {
    stream.next().catch(() => undefined);
  });
}

/**
 * Returns the rows of a query as the engine's buffers, for callers that forward them unread. Returns `undefined` if the
 * engine does not offer the buffers: the method is not public and may disappear (the public methods of 0.39 return
 * decoded batches only).
 */
export async function queryIpc(
  handle: TableHandle,
  spec: QuerySpec,
  signal?: AbortSignal,
): Promise<IpcRows | undefined> {
  const release = handle.hold();
  const started = await handle
    .read(
      'QueryTable',
      { signal },
      async (native) => {
        // The schema and the rows come from the same query, because each query holds the table in memory until it is
        // garbage collected.
        const query = await build(native, spec);
        const execute = inside(query).nativeExecute;
        if (typeof execute !== 'function') return undefined;
        if (spec.limit === 0) return { query, buffers: undefined, first: null };
        const buffers = await execute.call(query, await batchLengthOf(handle, native, spec));
        return { query, buffers, first: await buffers.next() };
      },
      spec.filter,
    )
    .catch((error: unknown) => {
      release();
      throw error;
    });
  if (!started) {
    release();
    return undefined;
  }
  const { query, buffers, first } = started;
  if (first !== null) {
    const seen = sizeOf(first);
    if (isComplete(spec, seen)) {
      finish(spec, seen, buffers);
      release();
      return { only: first };
    }
  }
  const step = <T>(work: () => Promise<T>): Promise<T> => handle.step('QueryTable', { signal }, work, spec.filter);
  async function* readAll(): AsyncGenerator<Uint8Array, void, undefined> {
    const seen = { rows: 0, bytes: 0 };
    for (let buffer = first; buffer; buffer = await step(() => buffers!.next())) {
      yield buffer;
      const { rows, bytes } = sizeOf(buffer);
      seen.rows += rows;
      seen.bytes += bytes;
      if (isComplete(spec, seen)) return finish(spec, seen, buffers!);
    }
  }
  return {
    // Planning a query takes as long as reading a page, so `outputSchema` is called only if there are no rows.
    schema: () => step(() => query.outputSchema()),
    buffers: releaseAfter(readAll(), release),
  };
}

const sizeOf = (file: Uint8Array) => ({ rows: rowsOfFile(file), bytes: file.length });

/** Calls `release` after the last item, after an error, or when the reader stops early, even before its first read. */
function releaseAfter<T>(items: AsyncGenerator<T, void, undefined>, release: () => void): AsyncIterableIterator<T> {
  return {
    async next() {
      try {
        const result = await items.next();
        if (result.done) release();
        return result;
      } catch (error) {
        release();
        throw error;
      }
    },
    async return() {
      try {
        return await items.return();
      } finally {
        release();
      }
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Maximum bytes of the larger sample. */
const maxSample = 2 ** 20;

/** Returns the mean bytes of the rows of a query; `undefined` if the query returns no rows, or fails. */
async function widthOf(native: NativeTable, spec: QuerySpec): Promise<number | undefined> {
  // An error is ignored: a sample may contain rows that the query excludes, and an expression that fails for them need
  // not fail for the query.
  const query = await build(native, spec);
  const found = await query.toArrow().catch(() => undefined);
  return found && found.numRows > 0 ? sampledWidth(found.batches) : undefined;
}

/**
 * Returns the bytes of a row, measured in samples. The samples are taken at the start, in the middle and at the end of
 * the table, because rows that were added later may be wider. Returns `undefined` for a table without rows.
 */
async function sampleWidth(native: NativeTable, spec: QuerySpec): Promise<number | undefined> {
  // These samples are small, because each of their rows may have megabytes.
  const first = await widthOf(native, { ...spec, limit: sampleRows.first });
  if (first === undefined) return undefined;
  const count = await native.countRows();
  const places = count > sampleRows.narrow ? [Math.floor(count / 2), count - sampleRows.first] : [];
  const later = await Promise.all(
    places.map((offset) => widthOf(native, { ...spec, offset, limit: sampleRows.first })),
  );
  const widest = Math.max(first, ...later.map((bytes) => bytes ?? 0));
  // The padding of the buffers makes narrow rows look wide in a small sample, so narrow rows need a larger sample.
  if (widest * sampleRows.narrow >= maxSample) return widest;
  return (await widthOf(native, { ...spec, limit: sampleRows.narrow })) ?? widest;
}

/**
 * Returns the maximum rows of a batch as an option of the engine. Returns no option if the table has no rows to
 * measure, or if the engine's own batches are enough.
 */
async function batchLengthOf(
  handle: TableHandle,
  native: NativeTable,
  { columns, columnAliases, withRowId, limit }: QuerySpec,
): Promise<{ maxBatchLength?: number }> {
  const key = JSON.stringify([columns, columnAliases, withRowId]);
  let width = handle.widths.get(key);
  if (!width) {
    const fixed = columnAliases ? undefined : fixedWidth(await native.schema(), columns);
    const bytes = fixed ?? (await sampleWidth(native, definedEntries({ columns, columnAliases, withRowId })));
    if (bytes === undefined) return {};
    width = { bytes, isFixed: fixed !== undefined };
    handle.widths.set(key, width);
  }
  const rows = batchLength(width, limit);
  return rows === undefined ? {} : { maxBatchLength: rows };
}

/**
 * Maximum number of computed columns of a query, and of columns to sort by. With tens of thousands the engine plans for
 * seconds.
 */
const maxAliases = 1_000;
const maxColumns = 50_000;
const maxName = 4_096;

/** Refuses SQL and searches that would end the engine or keep it busy. @throws CatalogError InvalidInput (13) */
function checkQuerySql({ filter, columns = [], columnAliases, orderBy, fullText }: QuerySpec): void {
  const aliases = Object.values(columnAliases ?? {});
  for (const [what, count] of [
    ['computed columns', aliases.length],
    ['columns to sort by', orderBy?.length ?? 0],
  ] as const) {
    if (count > maxAliases)
      throw new CatalogError('InvalidInput', `The query has ${count} ${what}.`, `Use at most ${maxAliases}.`);
  }
  if (columns.length > maxColumns)
    throw new CatalogError('InvalidInput', `The query has ${columns.length} columns.`, `Use at most ${maxColumns}.`);
  // The engine parses a name, in time that grows faster than its length.
  const long = columns.find((name) => name.length > maxName);
  if (long !== undefined) {
    const shown = long.slice(0, 40);
    throw new CatalogError(
      'InvalidInput',
      `The column name "${shown}…" is too long.`,
      `Use at most ${maxName} characters.`,
    );
  }
  checkSql(filter ?? '', ...aliases);
  if (fullText) checkSearchText(typeof fullText.query === 'string' ? fullText.query : wordsOfQuery(fullText.query));
}

/** @throws CatalogError InvalidInput (13), Unsupported (0) for options the engine would silently ignore */
async function build(native: NativeTable, spec: QuerySpec): Promise<Built> {
  checkQuerySql(spec);
  const engine = await loadNative();
  const plain = native.query();
  const query = spec.vector ? nearest(plain, spec.vector) : plain;
  if (spec.fullText) {
    const { query: words, columns } = spec.fullText;
    if (typeof words === 'string') query.fullTextSearch(words, columns ? { columns: [...columns] } : {});
    else query.fullTextSearch(nativeFullText(engine, words));
  }
  const scores = [...(spec.vector ? ['_distance'] : []), ...(spec.fullText && !spec.vector ? ['_score'] : [])];
  if (spec.columns) query.select(withScores(spec.columns, scores));
  if (spec.columnAliases) query.select(aliasesWithScores(spec.columnAliases, scores));
  const filter = spec.filter ?? (spec.orderBy ? 'true' : undefined);
  // A sorted query needs a filter, because without a filter the engine can't sort by a column that it does not read.
  if (filter !== undefined) query.where(filter);
  const isSearch = spec.vector !== undefined || spec.fullText !== undefined;
  // The engine fails at a search with limit 0, so the search has limit 1, and the found row is not returned.
  const limit = isSearch ? Math.min(Math.max(spec.limit ?? 10, 1), maxRows) : spec.limit;
  // A larger limit means all rows.
  if (limit !== undefined && limit <= maxRows) query.limit(limit);
  if (spec.offset !== undefined) query.offset(checkOffset(spec.offset));
  if (spec.withRowId) query.withRowId();
  if (spec.fastSearch) query.fastSearch();
  if (spec.prefilter === false) postfilter(query, spec);
  if (spec.orderBy && spec.orderBy.length > 0) sort(query, spec);
  return query;
}

/** Row counts have 32 bits in the engine, which would truncate a larger number. */
const maxRows = 2 ** 32 - 1;

function checkOffset(offset: number): number {
  if (offset <= maxRows) return offset;
  throw new CatalogError(
    'InvalidInput',
    `The engine can't skip ${offset} rows.`,
    `Use an offset of at most ${maxRows}, or a filter.`,
  );
}

/** Maximum vectors of one query. Each is a separate search. */
const maxVectors = 1_000;

function nearest(plain: NativeQuery, vector: NonNullable<QuerySpec['vector']>): VectorQuery {
  const { more = [] } = vector;
  if (more.length >= maxVectors) {
    const what = `The query has ${more.length + 1} vectors to search by.`;
    throw new CatalogError('InvalidInput', what, `Use at most ${maxVectors}.`);
  }
  let query = plain.nearestTo([...vector.values]);
  for (const values of more) query = query.addQueryVector([...values]);
  if (vector.column !== undefined) query = query.column(vector.column);
  if (vector.distanceType) query = query.distanceType(engineDistance(vector.distanceType));
  query = probing(query, vector);
  if (vector.refineFactor !== undefined) query = query.refineFactor(positive('refineFactor', vector.refineFactor));
  if (vector.ef !== undefined) query = query.ef(positive('ef', vector.ef));
  if (vector.bypassVectorIndex) query = query.bypassVectorIndex();
  if (vector.lowerBound !== undefined || vector.upperBound !== undefined) {
    query = query.distanceRange(vector.lowerBound, vector.upperBound);
  }
  return query;
}

/** The types of the engine's package do not have `hamming`, which the engine knows. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the engine reads it as a string
export const engineDistance = (distanceType: DistanceType) => distanceType as Exclude<DistanceType, 'hamming'>;

/**
 * Sets the smallest and the largest number of partitions together, because the engine refuses a minimum above the
 * maximum that is set at that moment.
 */
function probing(query: VectorQuery, options: QueryOptions): VectorQuery {
  const { minimum, maximum } = probedPartitions(options);
  if (minimum === undefined) {
    if (maximum === undefined) return query;
    return maximum > 0 && maximum < defaultProbes
      ? query.nprobes(maximum)
      : query.maximumNprobes(maximum && positive('maximumNprobes', maximum));
  }
  const least = query.nprobes(positive('nprobes', minimum));
  if (maximum === undefined || maximum === minimum) return least;
  return least.maximumNprobes(maximum && positive('maximumNprobes', maximum));
}

function positive(option: string, value: number): number {
  // Checked because the engine would truncate a larger number, as with `maxRows`.
  if (Number.isInteger(value) && value >= 1 && value < 2 ** 32) return value;
  throw new CatalogError(
    'InvalidInput',
    `${value} is not a valid ${option} of a search.`,
    'Pass a whole number from 1.',
  );
}

/** Adds the columns by which a search ranks, because they are part of its result, whatever columns are selected. */
const withScores = (columns: readonly string[], scores: readonly string[]): string[] => [
  ...columns,
  ...scores.filter((score) => !columns.includes(score)),
];

const aliasesWithScores = (aliases: Readonly<Record<string, string>>, scores: readonly string[]): Map<string, string> =>
  new Map([
    ...Object.entries(aliases),
    ...scores.filter((score) => !(score in aliases)).map((score) => [score, score] as const),
  ]);

function postfilter(query: Built, spec: QuerySpec): void {
  if ('postfilter' in query) {
    query.postfilter();
    return;
  }
  // The order of filter and search matters only if the query has both.
  if (!spec.fullText || spec.filter === undefined) return;
  throw new CatalogError(
    'Unsupported',
    'The engine filters before a full-text search, not after.',
    'Leave out postfilter().',
  );
}

function sort(query: Built, spec: QuerySpec): void {
  if (spec.vector || spec.fullText) {
    throw new CatalogError(
      'InvalidInput',
      'The rows of a search are always in the order of their distance or score.',
      'Leave out orderBy(), or sort the result.',
    );
  }
  query.orderBy(
    (spec.orderBy ?? []).map(({ column, descending, nullsFirst }) => ({
      columnName: column,
      ascending: !descending,
      nullsFirst: nullsFirst ?? false,
    })),
  );
}
