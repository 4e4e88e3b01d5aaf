import type { Query as NativeQuery, Table as NativeTable, VectorQuery } from '@lancedb/lancedb';
import type { RecordBatch, Schema } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import type { BatchStream, QueryOptions, QueryRunner, QuerySpec } from '#catalog/querySpec.ts';
import { batchLength, fixedWidth, sampledWidth, sampleRows } from '#engine/batches/batchLength.ts';
import { CatalogError } from '#shared/errors.ts';
import { checkSearchText, checkSql } from './checkSql.ts';
import type { TableHandle } from './tableHandle.ts';

/** The rows of a query as the engine's Arrow IPC buffers, one file per batch, and their schema. */
export type IpcRows = { schema: Schema; buffers: AsyncIterable<Uint8Array> };

type Built = NativeQuery | VectorQuery;
type Started = { query: Built; schema: Schema; maxBatchLength: number | undefined };

/** Methods of the engine's queries that their types do not declare: run with a batch length, decoded or raw. */
type Inside = {
  execute?: (options: { maxBatchLength?: number }) => AsyncIterator<RecordBatch>;
  nativeExecute?: (options: { maxBatchLength?: number }) => Promise<{ next(): Promise<Buffer | null> }>;
};
const inside = (query: Built): Inside => query as unknown as Inside;

/** Runs queries on the engine's table handle ("QueryTable"). */
export const dirQueryRunner = (handle: TableHandle): QueryRunner => ({
  run: (spec, signal) => run(handle, spec, signal),
  explainPlan: (spec, { verbose, ...options }) =>
    handle.read('ExplainTableQueryPlan', options, (native) => build(native, spec).explainPlan(verbose), spec.filter),
  analyzePlan: (spec, options) =>
    handle.read('AnalyzeTableQueryPlan', options, (native) => build(native, spec).analyzePlan(), spec.filter),
});

async function run(handle: TableHandle, spec: QuerySpec, signal?: AbortSignal): Promise<BatchStream> {
  const started = await start(handle, spec, { signal });
  return { schema: started.schema, batches: batchesOf(handle, started, spec, signal) };
}

async function* batchesOf(
  handle: TableHandle,
  { query, maxBatchLength }: Started,
  spec: QuerySpec,
  signal?: AbortSignal,
): AsyncGenerator<RecordBatch> {
  signal?.throwIfAborted();
  if (spec.limit === 0) return;
  const batches = inside(query).execute?.(lengthOption(maxBatchLength)) ?? query[Symbol.asyncIterator]();
  for (;;) {
    const next = await handle.read('QueryTable', { signal }, () => batches.next(), spec.filter);
    if (next.done) return;
    yield next.value;
  }
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
  // The schema and the rows come from the same query, because each query holds the table in memory until it is garbage
  // collected.
  const { query: built, schema, maxBatchLength } = await start(handle, spec, { signal });
  const query = inside(built);
  if (typeof query.nativeExecute !== 'function') return undefined;
  const call = <T>(work: () => Promise<T>): Promise<T> => handle.read('QueryTable', { signal }, work, spec.filter);
  const buffers = await call(() => query.nativeExecute!(lengthOption(maxBatchLength)));
  return {
    schema,
    buffers: (async function* () {
      if (spec.limit === 0) return;
      for (let buffer = await call(() => buffers.next()); buffer; buffer = await call(() => buffers.next()))
        yield buffer;
    })(),
  };
}

const start = (handle: TableHandle, spec: QuerySpec, options: CallOptions): Promise<Started> =>
  handle.read(
    'QueryTable',
    options,
    async (native) => {
      const query = build(native, spec);
      const schema = await query.outputSchema();
      return { query, schema, maxBatchLength: await batchLengthOf(native, spec, schema) };
    },
    spec.filter,
  );

const lengthOption = (maxBatchLength: number | undefined) => (maxBatchLength === undefined ? {} : { maxBatchLength });

/**
 * Returns how many rows a batch should have; `undefined` for the engine's default, which is enough for a short result.
 */
async function batchLengthOf(native: NativeTable, spec: QuerySpec, schema: Schema): Promise<number | undefined> {
  const isShort = spec.limit !== undefined && spec.limit <= 4096;
  if (isShort || spec.vector || spec.fullText) return undefined;
  const width = fixedWidth(schema);
  if (width !== undefined) return batchLength(width);
  const { columns, columnAliases, withRowId } = spec;
  const sample = build(native, {
    ...(columns && { columns }),
    ...(columnAliases && { columnAliases }),
    ...(withRowId && { withRowId }),
    limit: sampleRows,
  });
  // An error of the sample is ignored: the sample may contain rows that the query excludes, and an expression that
  // fails for them need not fail for the query.
  const found = await sample.toArrow().catch(() => undefined);
  return found && batchLength(sampledWidth(found.batches));
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
  if (fullText) checkSearchText(fullText.query);
}

/** @throws CatalogError InvalidInput (13), Unsupported (0) for options the engine would silently ignore */
function build(native: NativeTable, spec: QuerySpec): Built {
  checkQuerySql(spec);
  const plain = native.query();
  const query = spec.vector ? nearest(plain, spec.vector) : plain;
  if (spec.fullText) {
    const { query: words, columns } = spec.fullText;
    query.fullTextSearch(words, columns ? { columns: [...columns] } : {});
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

function nearest(plain: NativeQuery, vector: QueryOptions & { values: readonly number[] }): VectorQuery {
  let query = plain.nearestTo([...vector.values]);
  if (vector.column !== undefined) query = query.column(vector.column);
  if (vector.distanceType) query = query.distanceType(vector.distanceType);
  if (vector.nprobes !== undefined) query = query.nprobes(positive('nprobes', vector.nprobes));
  if (vector.refineFactor !== undefined) query = query.refineFactor(positive('refineFactor', vector.refineFactor));
  if (vector.ef !== undefined) query = query.ef(positive('ef', vector.ef));
  if (vector.bypassVectorIndex) query = query.bypassVectorIndex();
  if (vector.lowerBound !== undefined || vector.upperBound !== undefined) {
    query = query.distanceRange(vector.lowerBound, vector.upperBound);
  }
  return query;
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
