import type { DataType, Table as ArrowTable } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { columnReader } from '#catalog/arrow/rowValues.ts';
import type { Ordering } from '#catalog/query/querySpec.ts';
import type { Table } from '#catalog/table/table.ts';
import { typedLiteral } from '#catalog/typedLiteral.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import {
  filteredQuery,
  isSame,
  keyColumns,
  keysReader,
  listRows,
  type ListOptions,
  rowIdsOf,
  type ViewSpec,
} from './listRows.ts';
import type { KeyValue } from './keyOrder.ts';
import { RowIdList } from './rowIdList.ts';

type ReadOptions = CallOptions & {
  /** Columns of the result. Default: all. */
  readonly columns?: readonly string[] | undefined;
};

/**
 * Sorted or filtered rows of one version of a table. The order is that of the engine: NaN is larger than every number,
 * -0 less than 0, text is compared by its bytes in UTF-8, and nulls are last unless `nullsFirst` is set. Rows with equal
 * values are in the order of their row ids, so that every row is on exactly one page.
 *
 * The first rows are read at once. All other pages need the list of row ids, which is made once by `list`.
 */
export class TableView {
  readonly #table: Table;
  readonly #spec: ViewSpec;
  #list: Promise<RowIdList> | undefined;

  /** @param table opened at a version, because row ids may change with the version */
  constructor(table: Table, spec: ViewSpec) {
    this.#table = table;
    this.#spec = spec;
  }

  /**
   * Reads the first `count` rows without the list of row ids: first the keys of these rows, then the other columns.
   * `isFinal` is false if very many rows have the same keys as the last one. Then the list may begin with other ones of
   * them.
   * @throws CatalogError as `list`
   */
  async firstRows(
    count: number,
    { columns, signal }: ReadOptions = {},
  ): Promise<{ rows: ArrowTable; isFinal: boolean }> {
    const orderBy = this.#spec.orderBy ?? [];
    if (orderBy.length === 0) {
      const query = filteredQuery(this.#table, this.#spec).limit(count);
      return { rows: await (columns ? query.select(columns) : query).toArrow({ signal }), isFinal: true };
    }
    const { ids, isFinal } = await this.#firstIds(count, orderBy, signal);
    return { rows: await this.#take(ids, { columns, signal }), isFinal };
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

  /** Reads the rows at the positions [start, end). Makes the list first if there is none. @throws CatalogError as `list` */
  async rows(start: number, end: number, { columns, signal }: ReadOptions = {}): Promise<ArrowTable> {
    const ids = await (await this.list({ signal })).slice(start, end);
    return this.#take(ids, { columns, signal });
  }

  /** Deletes the list of row ids. The table stays open. */
  async close(): Promise<void> {
    const list = this.#list;
    this.#list = undefined;
    await (await list?.catch(() => undefined))?.close();
  }

  async #makeList(options: ListOptions): Promise<RowIdList> {
    const list = new RowIdList();
    try {
      await listRows(this.#table, this.#spec, list, options);
      return list;
    } catch (error) {
      await list.close();
      throw error;
    }
  }

  async #take(ids: BigUint64Array, { columns, signal }: ReadOptions): Promise<ArrowTable> {
    const take = this.#table.takeRowIds(Array.from(ids));
    const rows = await (columns ? take.select(columns) : take).toArrow({ signal });
    if (rows.numRows === ids.length) return rows;
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
    signal: AbortSignal | undefined,
  ): Promise<{ ids: BigUint64Array; isFinal: boolean }> {
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
      return { ids: await (await this.list({ signal })).slice(0, count), isFinal: true };
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
      return { ids: await ids.slice(0, count), isFinal: true };
    }
    const filter = equalRows(sorted, count, columns);
    const same = filter === undefined ? undefined : await query.where(filter).limit(maxTied).toArrow({ signal });
    const tied = same && readKeyRows(same, orderBy).flatMap(({ id, keys }) => (isSame(keys, next.keys) ? [id] : []));
    if (!tied || tied.length < count - start) return { ids: await ids.slice(0, count), isFinal: false };
    const first = await ids.slice(0, start);
    const rest = BigUint64Array.from(tied)
      .toSorted()
      .subarray(0, count - start);
    return { ids: BigUint64Array.from([...first, ...rest]), isFinal: same.numRows < maxTied };
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
  // A name with a dot may be the path of a nested column.
  if (columns.some((name) => /[.`]/.test(name))) return undefined;
  const conditions = columns.map((column, index) => {
    const { type, data } = table.slice(row, row + 1).getChildAt(index)!;
    const value = columnReader(data[0]!)(0);
    const name = `\`${column}\``;
    if (value === null) return `${name} IS NULL`;
    if (Number.isNaN(value)) return `isnan(${name})`;
    const isInfinite = value === Infinity || value === -Infinity;
    return `${name} = ${isInfinite ? `CAST('${value}' AS DOUBLE)` : typedLiteral(type as DataType, value, column)}`;
  });
  return conditions.join(' AND ');
}
