import { type RecordBatch, Table as ArrowTable } from '#arrow';
import { type CallOptions, checkChoice, checkOptions } from '#catalog/arguments/options.ts';
import { checkText, checkTexts, describeType } from '#catalog/arguments/tableArguments.ts';
import { findDuplicate } from '#shared/arrow/columnPositions.ts';
import { CatalogError } from '#shared/errors.ts';
import type { BatchStream, FullTextOptions, Ordering, QueryOptions, QueryRunner, QuerySpec } from './querySpec.ts';
import { sqlProblem } from './sqlTokens.ts';

// Query steps are checked when they are called, because a misspelled option that is silently dropped would find other
// rows.

/** @throws CatalogError InvalidInput (13) for an unknown option or an invalid value */
function checkVectorOptions(options: QueryOptions): QueryOptions {
  checkOptions('nearestTo', options, [
    'column',
    'distanceType',
    'nprobes',
    'refineFactor',
    'ef',
    'bypassVectorIndex',
    'lowerBound',
    'upperBound',
  ]);
  if (options.column !== undefined) checkText('nearestTo', 'column', options.column);
  checkChoice('nearestTo', 'distanceType', options.distanceType, ['l2', 'cosine', 'dot']);
  for (const name of ['nprobes', 'refineFactor', 'ef'] as const) {
    const value: unknown = options[name];
    if (value !== undefined && !(Number.isSafeInteger(value) && Number(value) >= 1)) {
      refuse(`nearestTo: ${text(value)} is not a valid ${name}.`, 'Pass a whole number from 1.');
    }
  }
  for (const name of ['lowerBound', 'upperBound'] as const) {
    const value: unknown = options[name];
    if (value !== undefined && !Number.isFinite(value))
      refuse(`nearestTo: ${text(value)} is not a valid ${name}.`, 'Pass a number.');
  }
  return options;
}

/** @throws CatalogError InvalidInput (13) for an unknown option or an invalid value */
function checkFullTextOptions(options: FullTextOptions): FullTextOptions {
  checkOptions('fullTextSearch', options, ['columns']);
  return options.columns === undefined ? {} : { columns: checkTexts('fullTextSearch', 'column', options.columns) };
}

/**
 * Returns the columns of a result, by name or as new columns with their SQL.
 * @throws CatalogError InvalidInput (13) for none, or a name or SQL that is not a string
 */
function checkSelection(
  columns: readonly string[] | string | Readonly<Record<string, string>>,
): Pick<QuerySpec, 'columns' | 'columnAliases'> {
  if (typeof columns === 'string') return { columns: [checkText('select', 'column', columns)] };
  if (isList(columns)) return { columns: checkTexts('select', 'column', columns) };
  checkTexts('select', 'column', Object.keys(Object(columns)));
  for (const [name, sql] of Object.entries(columns)) checkText('select', `SQL for "${name}"`, sql);
  return { columnAliases: { ...columns } };
}

/** @throws CatalogError InvalidInput (13) for no column, or an unknown option of a column */
function checkOrder(ordering: string | Ordering | readonly (string | Ordering)[]): Ordering[] {
  const list: readonly (string | Ordering)[] = isList(ordering) ? ordering : [ordering];
  if (list.length === 0) refuse('orderBy needs at least one column.', 'Write for instance orderBy("price").');
  return list.map((one) => {
    const order = typeof one === 'string' ? { column: one } : one;
    checkOptions('orderBy', order, ['column', 'descending', 'nullsFirst']);
    checkText('orderBy', 'column', order?.column);
    return order;
  });
}

// `Array.isArray` alone does not narrow a readonly array.
const isList = <T>(value: T | readonly T[] | string | object): value is readonly T[] => Array.isArray(value);

const text = (value: unknown): string => (typeof value === 'number' ? String(value) : describeType(value));

function refuse(what: string, hint: string): never {
  throw new CatalogError('InvalidInput', what, hint);
}

/**
 * A query that is built step by step and runs when it is read: `for await` yields record batches, `toArrow()` returns
 * a table, `toArray()` objects. Every step returns a new query; a query can be read many times.
 */
export class Query implements AsyncIterable<RecordBatch> {
  readonly #runner: QueryRunner;
  readonly #spec: QuerySpec;

  constructor(runner: QueryRunner, spec: QuerySpec = {}) {
    this.#runner = runner;
    this.#spec = spec;
  }

  /** The query as plain data. */
  get spec(): QuerySpec {
    return this.#spec;
  }

  /**
   * Returns only these columns, in this order; an object defines new ones by SQL:
   * `select({ total: 'price * quantity' })`.
   * @throws CatalogError InvalidInput (13) for none
   */
  select(columns: readonly string[] | string | Readonly<Record<string, string>>): Query {
    const { columns: _, columnAliases: __, ...rest } = this.#spec;
    return new Query(this.#runner, { ...rest, ...checkSelection(columns) });
  }

  /**
   * Returns only rows for which this SQL expression is true; further calls narrow the result.
   * @throws CatalogError InvalidInput (13) for an empty expression
   */
  where(filter: string): Query {
    checkFilter(filter);
    return this.#with({ filter: this.#spec.filter === undefined ? filter : `(${this.#spec.filter}) AND (${filter})` });
  }

  /** Returns at most this many rows. @throws CatalogError InvalidInput (13) unless a whole number ≥ 0 */
  limit(rows: number): Query {
    return this.#with({ limit: checkCount('limit', rows) });
  }

  /** Skips this many rows. @throws CatalogError InvalidInput (13) unless a whole number ≥ 0 */
  offset(rows: number): Query {
    return this.#with({ offset: checkCount('offset', rows) });
  }

  /**
   * Orders rows by distance to a vector; 10 rows unless `limit` is set.
   * @throws CatalogError InvalidInput (13) if the vector is not a list of finite numbers, naming the position
   */
  nearestTo(vector: ArrayLike<number>, options: QueryOptions = {}): Query {
    return this.#with({ vector: { ...checkVectorOptions(options), values: checkVector(vector) } });
  }

  /**
   * Finds rows that contain words of `query`, best first; 10 rows unless `limit` is set.
   * @throws CatalogError InvalidInput (13) for an empty string
   */
  fullTextSearch(query: string, options: FullTextOptions = {}): Query {
    if (typeof query !== 'string' || query.trim() === '') {
      throw new CatalogError('InvalidInput', 'The search text is empty.', 'Write for instance "red mug".');
    }
    return this.#with({ fullText: { ...checkFullTextOptions(options), query } });
  }

  /**
   * Sorts by these columns, the first one first: `orderBy({ column: 'price', descending: true })`.
   * @throws CatalogError InvalidInput (13) for none
   */
  orderBy(ordering: string | Ordering | readonly (string | Ordering)[]): Query {
    return this.#with({ orderBy: checkOrder(ordering) });
  }

  /** Adds the column `_rowid`. */
  withRowId(): Query {
    return this.#with({ withRowId: true });
  }

  /** Applies the filter to the rows that a search found. Then fewer rows than the limit may remain. */
  postfilter(): Query {
    return this.#with({ prefilter: false });
  }

  /** Searches only indexed rows. Rows that were added after the last indexing are omitted. */
  fastSearch(): Query {
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
   * Returns the result as a stream of batches and its schema ("QueryTable"). The schema is known even if there are no
   * rows.
   * @throws CatalogError InvalidInput (13), ColumnNotFound (12), TableNotFound (4), and ServiceUnavailable (17) if the
   * stream breaks off
   */
  execute(options: CallOptions = {}): Promise<BatchStream> {
    return this.#runner.run(this.#spec, options.signal);
  }

  /** Returns the execution plan of the query as a string ("ExplainTableQueryPlan"). */
  explainPlan(options: CallOptions & { verbose?: boolean | undefined } = {}): Promise<string> {
    return this.#runner.explainPlan(this.#spec, options);
  }

  /** Runs the query and returns its execution plan with times and counts ("AnalyzeTableQueryPlan"). */
  analyzePlan(options: CallOptions = {}): Promise<string> {
    return this.#runner.analyzePlan(this.#spec, options);
  }

  /** Reads all rows of the result into memory. @throws CatalogError as `execute` */
  async toArrow(options: CallOptions = {}): Promise<ArrowTable> {
    const { schema, batches } = await this.#runner.run(this.#spec, options.signal);
    const all: RecordBatch[] = [];
    for await (const batch of batches) all.push(batch);
    return new ArrowTable(schema, all);
  }

  /**
   * Returns rows as objects. Suitable for a few thousand rows; for large results `toArrow()` is far smaller and
   * faster.
   * @throws CatalogError as `execute`; InvalidInput (13) if two columns have one name, which an object can't hold
   */
  async toArray(options: CallOptions = {}): Promise<Record<string, unknown>[]> {
    const table = await this.toArrow(options);
    const duplicate = findDuplicate(table.schema);
    if (duplicate !== undefined) {
      const what = `The result has several columns with the name "${duplicate}", which objects can't hold.`;
      throw new CatalogError('InvalidInput', what, 'Use toArrow(), and getChildAt(position) for each column.');
    }
    return table.toArray().map((row) => row.toJSON());
  }

  #with(change: Partial<QuerySpec>): Query {
    return new Query(this.#runner, { ...this.#spec, ...change });
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
 * would end a filter early.
 * @throws CatalogError InvalidInput (13) for an empty filter, one that is not a string, or an incomplete one
 */
export function checkFilter(filter: string): void {
  if (typeof filter === 'string' && filter.trim() !== '') {
    const problem = sqlProblem(filter);
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

function checkVector(vector: ArrayLike<number>): number[] {
  const hint = 'Pass an array of numbers or a Float32Array.';
  // A notebook cell can pass values of other types.
  const given: unknown = vector;
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
