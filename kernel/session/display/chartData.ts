import { types } from 'node:util';
import { DataType, type Schema, Table as ArrowTable, type RecordBatch } from '#arrow';
import { readRows } from '#catalog/arrow/rowValues.ts';
import { Query } from '#catalog/query/query.ts';
import { isDecimal } from '#catalog/values/decimal.ts';
import { isDuration } from '#catalog/values/duration.ts';
import { CatalogError } from '#shared/errors.ts';
import { batchAdopter } from '#shared/arrow/adoptTable.ts';
import {
  arrowTable,
  isArrowSchema,
  isArrowVector,
  isAsyncIterable,
  isBatchStream,
  isCatalogTable,
  isObject,
  isRecordBatch,
} from './typeGuards.ts';

// Data in the specification of a chart. Chart libraries know plain objects, strings and numbers only: an Arrow table as
// `data.values` draws an empty chart, without an error.

/** Rows of a table or a query that a chart gets by default. More rows make notebooks slow to open. */
const chartRows = 5000;

/** `limit` is the maximum number of rows of each table. */
type ReadOptions = { limit?: number | undefined; signal?: AbortSignal | undefined };

/** A specification with plain data, and a sentence for each table that has more rows. */
export type ChartSpec = { spec: Record<string, unknown>; notes: string[] };

/**
 * Returns the specification with tables, queries and values of rows converted to plain data. It is a promise only if
 * something has to be read.
 * @throws CatalogError InvalidInput (13) if two columns of a table have one name; any error of a query
 */
export function chartSpec(spec: Record<string, unknown>, options: ReadOptions): ChartSpec | Promise<ChartSpec> {
  const reader = new ChartReader(options, namesIn(spec));
  const made = { spec: reader.convert(spec, []) as Record<string, unknown>, notes: reader.notes };
  return reader.pending.length === 0 ? made : settled(reader.pending, made);
}

async function settled(pending: readonly Promise<void>[], made: ChartSpec): Promise<ChartSpec> {
  await Promise.all(pending);
  return made;
}

/** Collects the strings of a specification, in which columns are named: `field: 'price'`, `'datum.price > 3'`. */
function namesIn(spec: unknown, depth = 0): string {
  if (typeof spec === 'string') return `${spec}\n`;
  if (depth > maxDepth || !isPlain(spec)) return '';
  if (Array.isArray(spec) && spec.length > maxNamed) return '';
  return Object.entries(spec)
    .filter(([key]) => key !== 'values' && key !== 'datasets')
    .map(([, value]) => namesIn(value, depth + 1))
    .join('');
}

const maxDepth = 100;
/** A longer array holds data and no names. */
const maxNamed = 1000;

/** Whether a value is an array or an object without a class. Values of classes are left to JSON. */
function isPlain(value: unknown): value is object {
  if (!isObject(value) || types.isProxy(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || prototype === Object.prototype;
}

/** @throws CatalogError InvalidInput (13) for `data` without a value, which would be an empty chart without an error */
function checkData(data: unknown): void {
  const isMissing = data === undefined || (isPlain(data) && 'values' in data && data.values === undefined);
  if (!isMissing) return;
  throw new CatalogError(
    'InvalidInput',
    'The chart has no data: its value is undefined.',
    'If it is the result of another cell, check that this cell has run without an error.',
  );
}

class ChartReader {
  readonly notes: string[] = [];
  readonly pending: Promise<void>[] = [];
  readonly #limit: number;
  readonly #signal: AbortSignal | undefined;
  readonly #names: string;

  constructor({ limit = chartRows, signal }: ReadOptions, names: string) {
    this.#limit = limit;
    this.#signal = signal;
    this.#names = names;
  }

  /** @param above the objects that contain the value, so that a cycle ends; JSON reports it later */
  convert(value: unknown, above: readonly object[]): unknown {
    if (typeof value === 'bigint') return Number(value);
    if (!isObject(value) || typeof value === 'function' || types.isProxy(value)) return value;
    if (isDecimal(value) || isDuration(value)) return Number(value);
    if (types.isDate(value) || above.includes(value)) return value;
    // Bytes of a row are an image or the like, which no chart draws.
    if (types.isUint8Array(value)) return Object.hasOwn(value, 'toJSON') ? undefined : Array.from(value);
    if (types.isTypedArray(value)) return Array.from<number | bigint, number>(value, Number);
    if (types.isMap(value)) return this.convert(Object.fromEntries(value), [...above, value]);
    if (types.isSet(value)) return this.convert([...value], [...above, value]);
    if (isArrowVector(value)) return this.#vector(value);
    if (isArrowSchema(value)) return value;
    if (isRecordBatch(value)) return this.#rows([value]);
    const table = isPlain(value) ? undefined : arrowTable(value);
    if (table) return this.#rowsOf(table, table.numRows);
    if (Array.isArray(value)) return this.#list(value, above);
    return isPlain(value) ? this.#entries(value, above) : value;
  }

  #list(list: readonly unknown[], above: readonly object[]): unknown[] {
    if (list.length > 0 && list.every(isRecordBatch)) return this.#rows(list);
    const inside = [...above, list];
    return list.map((item) => this.convert(item, inside));
  }

  #entries(value: object, above: readonly object[]): Record<string, unknown> {
    const inside = [...above, value];
    const plain: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      if (key === 'data') checkData(item);
      const read = this.#read(item);
      if (read) {
        this.pending.push(read.then((rows) => void define(plain, key, key === 'data' ? { values: rows } : rows)));
        // The key keeps its position.
        define(plain, key, null);
      } else {
        const isTable = key === 'data' && isObject(item) && !isPlain(item) && !types.isTypedArray(item);
        const converted = this.convert(item, inside);
        define(plain, key, isTable && Array.isArray(converted) ? { values: converted } : converted);
      }
    }
    return plain;
  }

  /** Reads the rows of a value that has to be awaited; `undefined` for any other value. */
  #read(value: unknown): Promise<unknown> | undefined {
    if (!isObject(value) || types.isProxy(value)) return undefined;
    if (types.isPromise(value)) return value.then((found) => this.#read(found) ?? this.convert(found, []));
    if (value instanceof Query) return this.#query(value);
    if (isCatalogTable(value)) return this.#query(value.query());
    if (isBatchStream(value)) return this.#stream(value.batches as AsyncIterable<unknown>, value.schema);
    const isStream = isAsyncIterable(value) && !isRecordBatch(value) && !arrowTable(value);
    return isStream ? this.#stream(value) : undefined;
  }

  async #query(query: Query): Promise<unknown[]> {
    const bound = this.#limit + 1;
    const { limit, vector } = query.spec;
    // A vector search has its own limit.
    const isBounded = limit !== undefined ? limit <= bound : vector !== undefined;
    const table = await (isBounded ? query : query.limit(bound)).toArrow({ signal: this.#signal });
    return this.#rowsOf(table, isBounded ? table.numRows : null);
  }

  async #stream(batches: AsyncIterable<unknown>, schema?: Schema): Promise<unknown[]> {
    const kept: unknown[] = [];
    let rows = 0;
    for await (const batch of batches) {
      this.#signal?.throwIfAborted();
      kept.push(batch);
      rows += isRecordBatch(batch) ? batch.numRows : 1;
      if (rows > this.#limit) break;
    }
    if (kept.length === 0 && schema) return [];
    return kept.every(isRecordBatch) ? this.#rows(kept, null) : kept.map((item) => this.convert(item, []));
  }

  /** @param total number of all rows; null if it is unknown */
  #rows(batches: readonly RecordBatch[], total?: number | null): unknown[] {
    const [first] = batches;
    const { schema } = arrowTable(first)!;
    const adopt = batchAdopter(schema);
    const table = new ArrowTable(
      schema,
      batches.map((batch) => adopt(batch)!),
    );
    return this.#rowsOf(table, total === undefined ? table.numRows : total);
  }

  #rowsOf(table: ArrowTable, total: number | null): unknown[] {
    const shown = table.numRows > this.#limit ? table.slice(0, this.#limit) : table;
    if (shown.numRows < table.numRows) {
      const rows = `the first ${this.#limit.toLocaleString('en-US')} ${total === null ? '' : `of ${total.toLocaleString('en-US')} `}rows`;
      this.notes.push(
        `The chart draws ${rows}. Aggregate the rows first, for example with sql, or pass { limit: ${this.#limit * 10} } as a second argument.`,
      );
    }
    const names = shown.schema.fields.filter(({ name, type }) => this.#isUsed(name, type)).map(({ name }) => name);
    const part = names.length === shown.numCols ? shown : shown.select(names);
    return readRows(part, { int64: 'bigint' }).map((row) => this.convert(row, []));
  }

  /** Whether a chart may use a column. Vectors and lists, which are large, are used only if the specification names them. */
  #isUsed(name: string, type: DataType): boolean {
    if (DataType.isBinary(type) || DataType.isLargeBinary(type) || DataType.isFixedSizeBinary(type)) return false;
    const isList = DataType.isFixedSizeList(type) || DataType.isList(type) || DataType.isLargeList(type);
    return !isList || this.#names.includes(name);
  }

  #vector(vector: unknown): unknown[] {
    const table = arrowTable(vector)!;
    return readRows(table, { int64: 'bigint' }).map(({ value }) => this.convert(value, []));
  }
}

/** Sets a property, also one named `__proto__`. */
const define = (target: object, key: string, value: unknown): object =>
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
