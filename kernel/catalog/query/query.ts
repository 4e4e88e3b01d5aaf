import { type RecordBatch, type Schema, Table as ArrowTable } from '#arrow';
import { type CallOptions, checkChoice, checkOptions } from '#catalog/arguments/options.ts';
import { checkCount as checkPositive, checkText, checkTexts, describeType } from '#catalog/arguments/tableArguments.ts';
import { startTimeLimit, type TimeLimit } from '#catalog/arguments/timeLimit.ts';
import { readRows, type RowOptions } from '#catalog/arrow/rowValues.ts';
import { untilAborted } from '#processes/wait.ts';
import { CatalogError } from '#shared/errors.ts';
import { definedEntries } from '#shared/records.ts';
import { distanceTypes } from '#shared/vectorTypes.ts';
import { checkFullTextQuery, type FullTextQuery, isFullTextQuery } from './fullTextQuery.ts';
import { LanceDbQuery } from '#catalog/lancedb/lanceDbQuery.ts';
import {
  type BatchStream,
  type ColumnOrdering,
  type FullTextOptions,
  type Ordering,
  type QueryExecutionOptions,
  type QueryOptions,
  type QueryResult,
  type QueryRunner,
  type QuerySpec,
  type RunningQuery,
  type Selection,
} from './querySpec.ts';
import type {
  AnyRow,
  RowWith,
  SelectedBigints,
  SelectedRow,
  WithColumns,
  WithDistance,
  WithScore,
} from './rowTypes.ts';
import { checkReranker, type Reranker, RRFReranker } from './rerankers.ts';
import { hasTextAfterSemicolon, sqlProblem } from '#shared/sqlTokens.ts';

// Query steps are checked when they are called, because a misspelled option that is silently dropped would find other
// rows.

/** @throws CatalogError InvalidInput (13) for an unknown option or an invalid value */
function checkVectorOptions(options: QueryOptions, step = 'nearestTo'): QueryOptions {
  checkOptions(step, options, [
    'column',
    'distanceType',
    'nprobes',
    'minimumNprobes',
    'maximumNprobes',
    'refineFactor',
    'ef',
    'bypassVectorIndex',
    'lowerBound',
    'upperBound',
  ]);
  if (options.column !== undefined) checkText(step, 'column', options.column);
  checkChoice(step, 'distanceType', options.distanceType, distanceTypes);
  for (const name of ['nprobes', 'minimumNprobes', 'refineFactor', 'ef', 'maximumNprobes'] as const) {
    const value: unknown = options[name];
    const least = name === 'maximumNprobes' ? 0 : 1;
    if (value !== undefined && !(Number.isSafeInteger(value) && Number(value) >= least)) {
      refuse(`${step}: ${text(value)} is not a valid ${name}.`, `Pass a whole number from ${least}.`);
    }
  }
  const { minimumNprobes, maximumNprobes } = options;
  if (minimumNprobes !== undefined && maximumNprobes && minimumNprobes > maximumNprobes) {
    const what = `${step}: minimumNprobes (${minimumNprobes}) is more than maximumNprobes (${maximumNprobes}).`;
    refuse(what, 'Lower minimumNprobes, or raise maximumNprobes.');
  }
  for (const name of ['lowerBound', 'upperBound'] as const) {
    const value: unknown = options[name];
    if (value !== undefined && !Number.isFinite(value))
      refuse(`${step}: ${text(value)} is not a valid ${name}.`, 'Pass a number.');
  }
  return options;
}

/** @throws CatalogError InvalidInput (13) for an unknown option or an invalid value */
function checkFullTextOptions(options: FullTextOptions): { columns?: readonly string[] } {
  checkOptions('fullTextSearch', options, ['columns']);
  const { columns } = options;
  if (columns === undefined) return {};
  return { columns: checkTexts('fullTextSearch', 'column', typeof columns === 'string' ? [columns] : columns) };
}

/**
 * Returns the columns of a result, by name or as new columns with their SQL.
 * @throws CatalogError InvalidInput (13) for none, or a name or SQL that is not a string
 */
function checkSelection(columns: Selection): Pick<QuerySpec, 'columns' | 'columnAliases'> {
  if (typeof columns === 'string') return { columns: [checkText('select', 'column', columns)] };
  const isPairs = isList<unknown>(columns) && columns.length > 0 && columns.every((entry) => Array.isArray(entry));
  if (isList<unknown>(columns) && !isPairs) return { columns: checkTexts('select', 'column', columns) };
  const isMap = typeof columns === 'object' && columns !== null && Symbol.iterator in columns;
  const pairs: [string, unknown][] = isMap
    ? Array.from(columns as Iterable<[string, unknown]>)
    : Object.entries(Object(columns));
  checkTexts(
    'select',
    'column',
    pairs.map(([name]) => name),
  );
  const aliases = pairs.map(([name, sql]): [string, string] => [name, checkText('select', `SQL for "${name}"`, sql)]);
  return { columnAliases: Object.fromEntries(aliases) };
}

/** @throws CatalogError InvalidInput (13) for no column, or an unknown option of a column */
function checkOrder(ordering: OrderArgument): Ordering[] {
  const list = isList<string | Ordering | ColumnOrdering>(ordering) ? ordering : [ordering];
  if (list.length === 0) refuse('orderBy needs at least one column.', 'Write for instance orderBy("price").');
  return list.map((given) => {
    const order = typeof given === 'string' ? { column: given } : given;
    const isLanceDb = typeof order === 'object' && order !== null && 'columnName' in order;
    checkOptions(
      'orderBy',
      order,
      isLanceDb ? ['columnName', 'ascending', 'nullsFirst'] : ['column', 'descending', 'nullsFirst'],
    );
    if (!isLanceDb) {
      checkText('orderBy', 'column', order?.column);
      return order;
    }
    const { columnName, ascending, nullsFirst } = order;
    return {
      column: checkText('orderBy', 'column', columnName),
      ...(ascending === false && { descending: true }),
      ...(nullsFirst !== undefined && { nullsFirst }),
    };
  });
}

type OrderArgument = string | Ordering | ColumnOrdering | readonly (string | Ordering | ColumnOrdering)[];

// `Array.isArray` alone does not narrow a readonly array.
const isList = <T>(value: T | readonly T[] | string | object): value is readonly T[] => Array.isArray(value);

const text = (value: unknown): string => (typeof value === 'number' ? String(value) : describeType(value));

function refuse(what: string, hint: string): never {
  throw new CatalogError('InvalidInput', what, hint);
}

/**
 * A query that is built step by step and runs when it is read: `for await` yields record batches, `toArrow()` returns
 * a table, `toArray()` objects of the type `Row`. Every step returns a new query; a query can be read many times.
 */
export class Query<Row = AnyRow, Bigints = AnyRow>
  extends LanceDbQuery<Query<Row, Bigints>, Query<WithScore<Row>, Bigints>>
  implements AsyncIterable<RecordBatch>
{
  readonly #runner: QueryRunner;
  readonly #spec: QuerySpec;

  constructor(runner: QueryRunner, spec: QuerySpec = {}) {
    super();
    this.#runner = runner;
    this.#spec = spec;
  }

  /** The query as plain data. */
  get spec(): QuerySpec {
    return this.#spec;
  }

  /**
   * Returns only these columns, in this order; an object defines new columns by SQL: `select({ total: 'price *
   * quantity' })`. A `Map` or a list of pairs does the same.
   * @throws CatalogError InvalidInput (13) for no column
   */
  select<const Columns extends Selection>(
    columns: Columns,
  ): Query<SelectedRow<Row, Columns>, SelectedBigints<Bigints, Columns>> {
    const { columns: _, columnAliases: __, ...rest } = this.#spec;
    return new Query(this.#runner, { ...rest, ...checkSelection(columns) });
  }

  /**
   * Returns only rows for which this SQL expression is true; further calls narrow the result.
   * @throws CatalogError InvalidInput (13) for an empty expression
   */
  where(filter: string): Query<Row, Bigints> {
    checkFilter(filter);
    return this.#with({ filter: this.#spec.filter === undefined ? filter : `(${this.#spec.filter}) AND (${filter})` });
  }

  /** Returns at most this many rows. @throws CatalogError InvalidInput (13) unless a whole number ≥ 0 */
  limit(rows: number): Query<Row, Bigints> {
    return this.#with({ limit: checkCount('limit', rows) });
  }

  /**
   * Ends the result with the batch that reaches this many bytes. Batches have about 2 MB, so the result is only a
   * little larger than `bytes`. A result of less than `bytes` is complete. After a larger result, continue with
   * `offset`.
   * @throws CatalogError InvalidInput (13) unless a whole number ≥ 1
   */
  limitBytes(bytes: number): Query<Row, Bigints> {
    if (checkCount('limitBytes', bytes) === 0)
      refuse('limitBytes: 0 is not a number of bytes.', 'Pass a whole number from 1.');
    return this.#with({ maxBytes: bytes });
  }

  /** Skips this many rows. @throws CatalogError InvalidInput (13) unless a whole number ≥ 0 */
  offset(rows: number): Query<Row, Bigints> {
    return this.#with({ offset: checkCount('offset', rows) });
  }

  /**
   * Orders rows by distance to a vector; 10 rows unless `limit` is set. For a list of vectors see `addQueryVector`.
   * With `fullTextSearch`, the rows of both searches are ordered together; see `rerank`.
   * @throws CatalogError InvalidInput (13) if the vector is not a list of finite numbers, naming the position
   */
  nearestTo(
    vector: ArrayLike<number> | readonly ArrayLike<number>[],
    options: QueryOptions = {},
  ): Query<WithDistance<Row>, Bigints> {
    const vectors = isVectorList(vector) ? vector : [vector];
    const [values, ...more] = vectors.map(checkVector);
    const search = { ...checkVectorOptions(options), values: values! };
    return this.#with({ vector: more.length > 0 ? { ...search, more } : search });
  }

  /**
   * Adds a vector to a search by vector. The limit applies to each vector, and the column `query_index` tells which
   * vector found a row. If the column holds lists of vectors, all vectors are one search, which finds the lists that
   * are nearest to all of them.
   * @throws CatalogError InvalidInput (13) like `nearestTo`, and without `nearestTo` before
   */
  addQueryVector(vector: ArrayLike<number>): Query<Row, Bigints> {
    const { vector: search } = this.#spec;
    if (!search) refuse('addQueryVector needs a first vector.', 'Call nearestTo(vector) first.');
    return this.#with({ vector: { ...search, more: [...(search.more ?? []), checkVector(vector)] } });
  }

  /**
   * Sets how the rows of a search by vector and text are ordered: `nearestTo(vector).fullTextSearch('mug').rerank()`.
   * Default: by reciprocal rank fusion, `rrf({ k: 60 })`. The result has the columns `_distance`, `_score` (null if
   * only the other search found the row) and `_relevance_score`.
   * @throws CatalogError InvalidInput (13) for an object without a function `rerankHybrid`
   */
  rerank(reranker: Reranker | RRFReranker = new RRFReranker()): Query<Row, Bigints> {
    return this.#with({ rerank: checkReranker(reranker) });
  }

  /**
   * Finds rows that contain words of `query`, best first; 10 rows unless `limit` is set. `MatchQuery`, `PhraseQuery`
   * and others describe more than words: `fullTextSearch(new PhraseQuery('red mug', 'name'))`.
   * @throws CatalogError InvalidInput (13) for an empty string or an invalid query
   */
  fullTextSearch(query: string | FullTextQuery, options: FullTextOptions = {}): Query<WithScore<Row>, Bigints> {
    if (isFullTextQuery(query)) {
      checkOptions('fullTextSearch', options, []);
      return this.#with({ fullText: { query: checkFullTextQuery(query) } });
    }
    const found =
      typeof query !== 'string' ? `${describeType(query)}, not a string` : query.trim() === '' ? 'empty' : '';
    if (found !== '') refuse(`The search text is ${found}.`, 'Write for instance "red mug".');
    return this.#with({ fullText: { ...checkFullTextOptions(options), query } });
  }

  /**
   * Sorts by these columns, the first one first: `orderBy({ column: 'price', descending: true })`, or as in LanceDB's
   * packages `orderBy({ columnName: 'price', ascending: false })`.
   * @throws CatalogError InvalidInput (13) for none
   */
  orderBy(ordering: OrderArgument): Query<Row, Bigints> {
    return this.#with({ orderBy: checkOrder(ordering) });
  }

  /** Adds the column `_rowid`. */
  withRowId(): Query<WithColumns<Row, { _rowid: number }>, WithColumns<Bigints, { _rowid: bigint }>> {
    return this.#with({ withRowId: true });
  }

  /** Applies the filter to the rows that a search found. Then fewer rows than the limit may remain. */
  postfilter(): Query<Row, Bigints> {
    return this.#with({ prefilter: false });
  }

  /** Searches only indexed rows. Rows that were added after the last indexing are omitted. */
  fastSearch(): Query<Row, Bigints> {
    return this.#with({ fastSearch: true });
  }

  /**
   * Runs the query ("QueryTable"); a reader that stops early also stops the query in the engine.
   * @throws CatalogError as `execute`
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<RecordBatch, void, undefined> {
    const { batches } = await this.#runner.run(this.#spec);
    yield* batches;
  }

  /**
   * Runs the query ("QueryTable"). The result has the schema, which is known even if there are no rows, and the
   * batches: `for await (const batch of query.execute())`.
   * @throws CatalogError InvalidInput (13), ColumnNotFound (12), TableNotFound (4), and ServiceUnavailable (17) if the
   * stream breaks off or `timeoutMs` has passed
   */
  execute(options: QueryExecutionOptions = {}): RunningQuery {
    const running = this.#execute('execute', options).then(({ schema, batches }): QueryResult => {
      return { schema, batches, [Symbol.asyncIterator]: () => batches[Symbol.asyncIterator]() };
    });
    async function* batchesOf(): AsyncGenerator<RecordBatch, void, undefined> {
      yield* (await running).batches;
    }
    return Object.assign(running, { [Symbol.asyncIterator]: batchesOf });
  }

  /**
   * Returns the columns and types of the result without reading a row ("QueryTable").
   * @throws CatalogError as `execute`
   */
  async outputSchema(options: CallOptions = {}): Promise<Schema> {
    return (await this.#runner.run({ ...this.#spec, limit: 0 }, options.signal)).schema;
  }

  /** Returns the execution plan of the query as a string ("ExplainTableQueryPlan"); `explainPlan(true)` adds detail. */
  async explainPlan(options: boolean | (CallOptions & { verbose?: boolean | undefined }) = {}): Promise<string> {
    const given = typeof options === 'boolean' ? { verbose: options } : options;
    checkOptions('explainPlan', given, ['verbose', 'signal']);
    return this.#runner.explainPlan(this.#spec, given);
  }

  /** Runs the query and returns its execution plan with times and counts ("AnalyzeTableQueryPlan"). */
  async analyzePlan(options: CallOptions = {}): Promise<string> {
    checkOptions('analyzePlan', options, ['signal']);
    return this.#runner.analyzePlan(this.#spec, options);
  }

  /** Reads all rows of the result into memory. @throws CatalogError as `execute` */
  toArrow(options: QueryExecutionOptions = {}): Promise<ArrowTable> {
    return this.#toArrow('toArrow', options);
  }

  /**
   * Returns rows as objects. Their values are JavaScript values that `add` accepts again; the documentation of
   * notebooks describes them. 64-bit integers are numbers up to ±(2^53 − 1) and bigints beyond. With `{ int64: 'bigint'
   * }` all of them are bigints. Suitable for a few thousand rows; for large results `toArrow()` is far smaller and
   * faster.
   * @throws CatalogError as `execute`; InvalidInput (13) if two columns have one name, which an object can't hold
   */
  async toArray<Int64 extends 'number' | 'bigint' = 'number'>(
    options: QueryExecutionOptions & RowOptions & { int64?: Int64 | undefined } = {},
  ): Promise<RowWith<Row, Bigints, Int64>[]> {
    const { int64, ...execution } = options;
    checkChoice('toArray', 'int64', int64, ['number', 'bigint']);
    const rows: AnyRow[] = readRows(await this.#toArrow('toArray', execution), { int64 });
    return rows;
  }

  protected changeVector(step: string, change: QueryOptions): Query<Row, Bigints> {
    const { vector } = this.#spec;
    if (!vector) refuse(`${step} needs a vector to search by.`, `Write for instance nearestTo([0.1, 0.2]).${step}(…).`);
    const { values, more, ...options } = vector;
    const changed = checkVectorOptions(definedEntries({ ...options, ...change }), step);
    return this.#with({ vector: { ...changed, values, ...(more && { more }) } });
  }

  async #toArrow(call: string, options: QueryExecutionOptions): Promise<ArrowTable> {
    const { schema, batches } = await this.#execute(call, options);
    const all: RecordBatch[] = [];
    for await (const batch of batches) all.push(batch);
    return new ArrowTable(schema, all);
  }

  async #execute(call: string, options: QueryExecutionOptions): Promise<BatchStream> {
    checkOptions(call, options, ['maxBatchLength', 'signal', 'timeoutMs', ...(call === 'toArray' ? ['int64'] : [])]);
    const { maxBatchLength } = options;
    if (maxBatchLength !== undefined) checkPositive(call, 'maxBatchLength', maxBatchLength);
    const limit = startTimeLimit(call, options);
    const { schema, batches } = await limit.run((signal) => this.#runner.run(this.#spec, signal));
    const timed = options.timeoutMs === undefined ? batches : within(limit, batches);
    return { schema, batches: maxBatchLength === undefined ? timed : split(timed, maxBatchLength) };
  }

  #with<NewRow = Row, NewBigints = Bigints>(change: Partial<QuerySpec>): Query<NewRow, NewBigints> {
    return new Query(this.#runner, { ...this.#spec, ...change });
  }
}

/** Reads batches within a limit of time. */
async function* within(limit: TimeLimit, batches: AsyncIterable<RecordBatch>): AsyncGenerator<RecordBatch, void> {
  const reader = batches[Symbol.asyncIterator]();
  try {
    for (let next = await read(); !next.done; next = await read()) yield next.value;
  } finally {
    await reader.return?.();
  }
  function read(): Promise<IteratorResult<RecordBatch>> {
    return limit.run((signal) => (signal ? untilAborted(reader.next(), signal) : reader.next()));
  }
}

/** Splits batches, so that none has more than `rows` rows. */
async function* split(batches: AsyncIterable<RecordBatch>, rows: number): AsyncGenerator<RecordBatch, void> {
  for await (const batch of batches) {
    if (batch.numRows <= rows) yield batch;
    else for (let at = 0; at < batch.numRows; at += rows) yield batch.slice(at, at + rows);
  }
}

function checkCount(what: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new CatalogError(
    'InvalidInput',
    `${what}(${String(value)}) is not a number of rows.`,
    'Pass a whole number from 0.',
  );
}

/**
 * Checks that a filter is one expression. Filters are combined in parentheses, so an unmatched closing parenthesis
 * would end a filter early. The engine ignores text after a semicolon.
 * @throws CatalogError InvalidInput (13) for a filter that is empty, is not a string, is not one complete expression,
 * or has text after a semicolon
 */
export function checkFilter(filter: string): void {
  if (typeof filter === 'string' && filter.trim() !== '') {
    const problem = sqlProblem(filter) ?? (hasTextAfterSemicolon(filter) ? 'has text after a semicolon' : undefined);
    if (problem === undefined) return;
    const shown = filter.length > 200 ? `${filter.slice(0, 200)}…` : filter;
    throw new CatalogError(
      'InvalidInput',
      `The filter "${shown}" can't be parsed (it ${problem}).`,
      `Write SQL, for instance id > 3 AND name = 'mug'.`,
    );
  }
  const what =
    typeof filter === 'string' ? 'The filter is empty.' : `The filter is ${describeType(filter)}, not a string.`;
  throw new CatalogError('InvalidInput', what, `Write SQL, for instance "id > 3".`);
}

const isVectorList = (
  vector: ArrayLike<number> | readonly ArrayLike<number>[],
): vector is readonly ArrayLike<number>[] =>
  Array.isArray(vector) && vector.length > 0 && vector.every((one: unknown) => typeof one === 'object' && one !== null);

function checkVector(vector: ArrayLike<number>): number[] {
  const hint = 'Pass an array of numbers or a Float32Array.';
  // A notebook cell can pass values of other types.
  const given: unknown = vector;
  if (given instanceof Promise) {
    throw new CatalogError('InvalidInput', 'The vector to search by is a promise.', 'Write nearestTo(await vector).');
  }
  if (typeof given !== 'object' || given === null || !('length' in given)) {
    throw new CatalogError('InvalidInput', `The vector to search by is ${describeType(given)}.`, hint);
  }
  const values: unknown[] = Array.from(vector);
  if (values.length === 0) throw new CatalogError('InvalidInput', 'The vector to search by is empty.', hint);
  return values.map((value, position) => {
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    const what = typeof value === 'number' ? String(value) : describeType(value);
    throw new CatalogError('InvalidInput', `The vector to search by has ${what} at position ${position}.`, hint);
  });
}
