import { type RecordBatch, Table as ArrowTable } from '#arrow';
import { type CallOptions, checkChoice, checkOptions } from '#catalog/arguments/options.ts';
import { checkText, checkTexts, whatItIs } from '#catalog/arguments/tableArguments.ts';
import { CatalogError } from '#shared/errors.ts';
import type { BatchStream, FullTextOptions, Ordering, QueryOptions, QueryRunner, QuerySpec } from './querySpec.ts';
import { sqlProblem } from './sqlTokens.ts';

// What a query is narrowed by, checked when it is said: a misspelled option that is quietly dropped finds other rows.

/** @throws CatalogError InvalidInput (13) for an unknown option, or one that makes no sense */
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
      refuse(`nearestTo: ${text(value)} is no ${name}.`, 'Give a whole number from 1.');
    }
  }
  for (const name of ['lowerBound', 'upperBound'] as const) {
    const value: unknown = options[name];
    if (value !== undefined && !Number.isFinite(value))
      refuse(`nearestTo: ${text(value)} is no ${name}.`, 'Give a number.');
  }
  return options;
}

/** @throws CatalogError InvalidInput (13) for an unknown option, or one that makes no sense */
function checkFullTextOptions(options: FullTextOptions): FullTextOptions {
  checkOptions('fullTextSearch', options, ['columns']);
  return options.columns === undefined ? {} : { columns: checkTexts('fullTextSearch', 'column', options.columns) };
}

/**
 * The columns of a result, by name or as new ones by their SQL.
 * @throws CatalogError InvalidInput (13) for none, or what is no text
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

/** @throws CatalogError InvalidInput (13) for no column, or an unknown option of one */
function checkOrder(ordering: string | Ordering | readonly (string | Ordering)[]): Ordering[] {
  const list: readonly (string | Ordering)[] = isList(ordering) ? ordering : [ordering];
  if (list.length === 0) refuse('orderBy names no column.', 'Write for instance orderBy("price").');
  return list.map((one) => {
    const order = typeof one === 'string' ? { column: one } : one;
    checkOptions('orderBy', order, ['column', 'descending', 'nullsFirst']);
    checkText('orderBy', 'column', order?.column);
    return order;
  });
}

// `Array.isArray` alone does not narrow a readonly array.
const isList = <T>(value: T | readonly T[] | string | object): value is readonly T[] => Array.isArray(value);

const text = (value: unknown): string => (typeof value === 'number' ? String(value) : whatItIs(value));

function refuse(what: string, hint: string): never {
  throw new CatalogError('InvalidInput', what, hint);
}

/**
 * A query that is narrowed step by step and runs when it is read: `for await` gives record batches, `toArrow()` a table,
 * `toArray()` objects. Every step gives a new query; one can be read many times.
 */
export class Query implements AsyncIterable<RecordBatch> {
  readonly #runner: QueryRunner;
  readonly #spec: QuerySpec;

  constructor(runner: QueryRunner, spec: QuerySpec = {}) {
    this.#runner = runner;
    this.#spec = spec;
  }

  /** What is asked for, as plain data. */
  get spec(): QuerySpec {
    return this.#spec;
  }

  /**
   * Only these columns, in this order; an object names new ones by SQL: `select({ total: 'price * quantity' })`.
   * @throws CatalogError InvalidInput (13) for none
   */
  select(columns: readonly string[] | string | Readonly<Record<string, string>>): Query {
    const { columns: _, columnAliases: __, ...rest } = this.#spec;
    return new Query(this.#runner, { ...rest, ...checkSelection(columns) });
  }

  /**
   * Only rows for which this SQL expression holds; a second call narrows further.
   * @throws CatalogError InvalidInput (13) for an empty one
   */
  where(filter: string): Query {
    checkFilter(filter);
    return this.#with({ filter: this.#spec.filter === undefined ? filter : `(${this.#spec.filter}) AND (${filter})` });
  }

  /** At most this many rows. @throws CatalogError InvalidInput (13) unless a whole number ≥ 0 */
  limit(rows: number): Query {
    return this.#with({ limit: checkCount('limit', rows) });
  }

  /** Skips this many rows. @throws CatalogError InvalidInput (13) unless a whole number ≥ 0 */
  offset(rows: number): Query {
    return this.#with({ offset: checkCount('offset', rows) });
  }

  /**
   * Rows by distance to a vector; 10 of them unless `limit` says otherwise.
   * @throws CatalogError InvalidInput (13) for what is no list of finite numbers, naming the position
   */
  nearestTo(vector: ArrayLike<number>, options: QueryOptions = {}): Query {
    return this.#with({ vector: { ...checkVectorOptions(options), values: checkVector(vector) } });
  }

  /**
   * Rows that hold words of a text, best first; 10 of them unless `limit` says otherwise.
   * @throws CatalogError InvalidInput (13) for an empty text
   */
  fullTextSearch(query: string, options: FullTextOptions = {}): Query {
    if (typeof query !== 'string' || query.trim() === '') {
      throw new CatalogError('InvalidInput', 'The text to search for is empty.', 'Write for instance "red mug".');
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

  /** Applies the filter to what a search found, which may leave fewer rows than the limit. */
  postfilter(): Query {
    return this.#with({ prefilter: false });
  }

  /** Searches only what is indexed, and leaves out rows that were added since. */
  fastSearch(): Query {
    return this.#with({ fastSearch: true });
  }

  /** Runs it ("QueryTable"); who stops reading ends it at its source. @throws CatalogError as `execute` */
  async *[Symbol.asyncIterator](): AsyncGenerator<RecordBatch, void, undefined> {
    const { batches } = await this.#runner.run(this.#spec);
    yield* batches;
  }

  /**
   * The result as a stream of batches with its schema known, even where there is no row ("QueryTable").
   * @throws CatalogError InvalidInput (13), ColumnNotFound (12), TableNotFound (4), and ServiceUnavailable (17) where the
   * stream breaks off
   */
  execute(options: CallOptions = {}): Promise<BatchStream> {
    return this.#runner.run(this.#spec, options.signal);
  }

  /** How the query would be run, as text ("ExplainTableQueryPlan"). */
  explainPlan(options: CallOptions & { verbose?: boolean | undefined } = {}): Promise<string> {
    return this.#runner.explainPlan(this.#spec, options);
  }

  /** Runs the query and says how it was run, with times and counts ("AnalyzeTableQueryPlan"). */
  analyzePlan(options: CallOptions = {}): Promise<string> {
    return this.#runner.analyzePlan(this.#spec, options);
  }

  /** All rows of the result in memory. @throws CatalogError as `execute` */
  async toArrow(options: CallOptions = {}): Promise<ArrowTable> {
    const { schema, batches } = await this.#runner.run(this.#spec, options.signal);
    const all: RecordBatch[] = [];
    for await (const batch of batches) all.push(batch);
    return new ArrowTable(schema, all);
  }

  /** Rows as objects. Fine for a few thousand; a large result is far smaller and faster as `toArrow()`. */
  async toArray(options: CallOptions = {}): Promise<Record<string, unknown>[]> {
    return (await this.toArrow(options)).toArray().map((row) => row.toJSON());
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
    'Give a whole number from 0.',
  );
}

/**
 * A filter stands in parentheses beside others, and the engine reads one until a parenthesis that closes none.
 * @throws CatalogError InvalidInput (13) for an empty filter, one that is not text, or one that is only a part of one
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
  const what = typeof filter === 'string' ? 'The filter is empty.' : `The filter is ${whatItIs(filter)}, not text.`;
  throw new CatalogError('InvalidInput', what, `Write SQL, for instance "id > 3".`);
}

function checkVector(vector: ArrayLike<number>): number[] {
  const hint = 'Give an array of numbers or a Float32Array.';
  // What a notebook gives is not always what the type says.
  const given: unknown = vector;
  if (typeof given !== 'object' || given === null || !('length' in given)) {
    throw new CatalogError('InvalidInput', `The vector to search by is ${whatItIs(given)}.`, hint);
  }
  const values: unknown[] = Array.from(vector);
  if (values.length === 0) throw new CatalogError('InvalidInput', 'The vector to search by is empty.', hint);
  return values.map((value, position) => {
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    const what = typeof value === 'number' ? String(value) : whatItIs(value);
    throw new CatalogError('InvalidInput', `The vector to search by has ${what} at position ${position}.`, hint);
  });
}
