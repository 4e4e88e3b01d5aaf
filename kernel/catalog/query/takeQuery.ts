import type { RecordBatch } from '#arrow';
import { describeType } from '#catalog/arguments/tableArguments.ts';
import { gatherRows } from '#catalog/arrow/gatherRows.ts';
import { CatalogError } from '#shared/errors.ts';
import { Query } from './query.ts';
import type { BatchStream, QueryRunner, QuerySpec, Selection } from './querySpec.ts';
import type { AnyRow, SelectedBigints, SelectedRow, WithColumns } from './rowTypes.ts';

/** A query of given rows. It can select columns, but it can't filter, search or sort. */
export type TakeQuery<Row = AnyRow, Bigints = AnyRow> = Pick<
  Query<Row, Bigints>,
  'execute' | 'toArrow' | 'toArray' | 'outputSchema' | 'explainPlan' | 'analyzePlan' | typeof Symbol.asyncIterator
> & {
  /** Returns only these columns, in this order; an object defines new ones by SQL. */
  select<const Columns extends Selection>(
    columns: Columns,
  ): TakeQuery<SelectedRow<Row, Columns>, SelectedBigints<Bigints, Columns>>;
  /** Adds the column `_rowid`. */
  withRowId(): TakeQuery<WithColumns<Row, { _rowid: number }>, WithColumns<Bigints, { _rowid: bigint }>>;
};

/** The class of queries of given rows, under its name in LanceDB's package. */
export const TakeQuery = Query;

/** The columns that number the rows of a table in every query: with row ids, or with positions. */
type RowNumber = '_rowid' | '_rowoffset';

/** Maximum number of rows of one query. The filter of the query lists all of their numbers. */
const maxTaken = 50_000;

/** Starts a query of the rows with these ids, in this order. @throws CatalogError InvalidInput (13) */
export const takeRowIds = (runner: QueryRunner, rowIds: readonly (bigint | number)[]): TakeQuery =>
  new Query(new TakeRunner(runner, '_rowid', checkNumbers('takeRowIds', 'row id', rowIds)));

/** Starts a query of the rows at these positions, in this order. @throws CatalogError InvalidInput (13) */
export const takeOffsets = (runner: QueryRunner, offsets: readonly (bigint | number)[]): TakeQuery =>
  new Query(new TakeRunner(runner, '_rowoffset', checkNumbers('takeOffsets', 'offset', offsets)));

function checkNumbers(call: string, what: string, values: unknown): bigint[] {
  const hint = 'Pass an array of whole numbers from 0.';
  if (!Array.isArray(values) && !ArrayBuffer.isView(values))
    throw new CatalogError('InvalidInput', `Expected a list for ${call}, got ${describeType(values)}.`, hint);
  const list = Array.from(values as unknown as ArrayLike<unknown>);
  if (list.length > maxTaken) {
    const problem = `${call} got ${list.length} numbers, more than the maximum of ${maxTaken}.`;
    throw new CatalogError('InvalidInput', problem, 'Make several calls, or use query() with a filter.');
  }
  return list.map((value, position) => {
    const isNumber = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value));
    if (isNumber && value >= 0 && value < 2n ** 64n) return BigInt(value);
    const shown = typeof value === 'number' || typeof value === 'bigint' ? String(value) : describeType(value);
    throw new CatalogError('InvalidInput', `${call}: ${shown} at position ${position} is not a ${what}.`, hint);
  });
}

/** Reads rows by a filter on their numbers, which every server understands, and puts them in the requested order. */
class TakeRunner implements QueryRunner {
  readonly #runner: QueryRunner;
  readonly #by: RowNumber;
  readonly #numbers: readonly bigint[];

  constructor(runner: QueryRunner, by: RowNumber, numbers: readonly bigint[]) {
    this.#runner = runner;
    this.#by = by;
    this.#numbers = numbers;
  }

  async run(spec: QuerySpec, signal?: AbortSignal): Promise<BatchStream> {
    const { schema, batches } = await this.#runner.run(this.#filtered(spec), signal);
    const isIdColumnAdded = this.#by === '_rowid' && !hasRowId(spec);
    const read = this.#inOrder(batches, signal);
    if (!isIdColumnAdded) return { schema, batches: read };
    const names = schema.fields.map(({ name }) => name).filter((name) => name !== '_rowid');
    return { schema: schema.select(names), batches: without(read, names) };
  }

  explainPlan(spec: QuerySpec, options: Parameters<QueryRunner['explainPlan']>[1]): Promise<string> {
    return this.#runner.explainPlan(this.#filtered(spec), options);
  }

  analyzePlan(spec: QuerySpec, options: Parameters<QueryRunner['analyzePlan']>[1]): Promise<string> {
    return this.#runner.analyzePlan(this.#filtered(spec), options);
  }

  #filtered(spec: QuerySpec): QuerySpec {
    const { columns, columnAliases, withRowId, limit, ...others } = spec;
    const other = Object.keys(others)[0];
    if (other !== undefined) {
      const call = this.#by === '_rowid' ? 'takeRowIds' : 'takeOffsets';
      const hint = `Use query().where("${this.#by} IN (…)") instead.`;
      throw new CatalogError('InvalidInput', `${call} can't be combined with the option ${other} of queries.`, hint);
    }
    const base: QuerySpec = { ...(columns && { columns }), ...(columnAliases && { columnAliases }) };
    const needsIds = withRowId === true || (this.#by === '_rowid' && !hasRowId(spec));
    const unique = [...new Set(this.#numbers)];
    return {
      ...base,
      ...(needsIds && { withRowId: true }),
      ...(unique.length > 0 && { filter: `${this.#by} IN (${unique.join(', ')})` }),
      limit: limit === 0 ? 0 : unique.length,
    };
  }

  async *#inOrder(batches: AsyncIterable<RecordBatch>, signal: AbortSignal | undefined): AsyncGenerator<RecordBatch> {
    const all: RecordBatch[] = [];
    for await (const batch of batches) all.push(batch);
    signal?.throwIfAborted();
    const rows = this.#by === '_rowid' ? rowsById(all) : this.#rowsByOffset(all);
    yield* gatherRows(
      all,
      this.#numbers.flatMap((number) => rows.get(number) ?? []),
    );
  }

  /**
   * Maps each offset to the index of its row in the batches. The rows arrive in the order of the table, and only
   * offsets after the end of the table have no row.
   */
  #rowsByOffset(batches: readonly RecordBatch[]): Map<bigint, number> {
    const count = batches.reduce((total, { numRows }) => total + numRows, 0);
    const sorted = [...new Set(this.#numbers)].toSorted((a, b) => (a < b ? -1 : 1));
    return new Map(sorted.slice(0, count).map((offset, row) => [offset, row]));
  }
}

/** Whether the rows of a query have the column `_rowid` because the caller asked for it. */
const hasRowId = ({ withRowId, columns, columnAliases }: QuerySpec): boolean =>
  withRowId === true || (columns?.includes('_rowid') ?? false) || columnAliases?.['_rowid'] === '_rowid';

function rowsById(batches: readonly RecordBatch[]): Map<bigint, number> {
  const rows = new Map<bigint, number>();
  for (const batch of batches) {
    const ids = batch.getChild('_rowid');
    for (let row = 0; row < batch.numRows; row++) rows.set(BigInt(ids!.get(row)), rows.size);
  }
  return rows;
}

async function* without(batches: AsyncIterable<RecordBatch>, names: readonly string[]): AsyncGenerator<RecordBatch> {
  for await (const batch of batches) yield batch.select([...names]);
}
