import { DataType, type Data, type Field, type RecordBatch, type Schema } from '#arrow';
import type { RowWidth } from './rowWidths.ts';

// By default the engine returns batches of 1,024 rows. The overhead of such small batches costs as much as the reading
// itself: ten million narrow rows pass through a socket in 1.6 s in batches of 0.5 MB, and in 1.1 s in batches of 2 MB.
// Larger batches gain little, and writer and reader each hold several batches in memory. Batches of 1,024 rows of 1 MB
// each would even need gigabytes, and the first row of a batch would arrive only together with its last row. So the
// batch length follows from the row width, down to one row a batch.

const wantedBytes = 2 * 1024 * 1024;
const mostRows = 65_536;
/**
 * Maximum rows of a batch if rows differ in width. The samples may miss the widest rows, and a batch of 65,536 such
 * rows could need gigabytes.
 */
const mostVaryingRows = 8_192;

/** Number of rows that the engine puts into a batch by default. */
const engineRows = 1024;
/** Maximum rows of a query that counts as a page. */
const pageRows = 4096;
/**
 * Maximum bytes of a page that is returned as one batch. The engine repeats the schema in each batch, which takes
 * longer than the rows if a table has thousands of columns.
 */
const onePageBytes = 8 * 1024 * 1024;

/** Number of rows of the first samples, and of the larger sample that follows if the rows are narrow. */
export const sampleRows = { first: 4, narrow: 256 } as const;

/**
 * Returns how many rows a batch should have, at least one. Returns `undefined` if the engine's own batches have a good
 * length.
 * @param limit the number of rows that the query requests
 */
export function batchLength({ bytes, isFixed }: RowWidth, limit?: number): number | undefined {
  const wanted = 2 ** Math.floor(Math.log2(wantedBytes / Math.max(bytes, 1)));
  const rows = Math.min(Math.max(wanted, 1), isFixed ? mostRows : mostVaryingRows);
  if (limit === undefined || limit > pageRows) return rows;
  // With larger batches the engine would read more rows than the page has.
  if (rows >= engineRows) return undefined;
  return limit * bytes <= onePageBytes ? Math.max(limit, 1) : rows;
}

/**
 * Returns the bytes per row of a schema, or of some of its columns. Returns `undefined` if rows differ in width, as
 * with strings, or if the schema has no column with a given name.
 */
export function fixedWidth({ fields }: Schema, columns?: readonly string[]): number | undefined {
  if (!columns) return sum(fields.map(({ type }) => widthOf(type)));
  const byName = new Map(fields.map(({ name, type }) => [name, type]));
  return sum(
    columns.map((name) => {
      const type = byName.get(name);
      return type && widthOf(type);
    }),
  );
}

function widthOf(type: DataType): number | undefined {
  if (DataType.isNull(type)) return 0;
  if (DataType.isBool(type)) return 1;
  if (DataType.isInt(type) || DataType.isTime(type) || DataType.isDecimal(type)) return type.bitWidth / 8;
  if (DataType.isFloat(type)) return [2, 4, 8][type.precision];
  if (DataType.isDate(type) || DataType.isTimestamp(type) || DataType.isDuration(type)) return 8;
  if (DataType.isFixedSizeBinary(type)) return type.byteWidth;
  if (DataType.isFixedSizeList(type)) {
    const item = widthOf(type.valueType);
    return item === undefined ? undefined : item * type.listSize;
  }
  if (DataType.isStruct(type)) return sum((type.children as readonly Field[]).map((child) => widthOf(child.type)));
  return undefined;
}

const sum = (widths: readonly (number | undefined)[]): number | undefined =>
  widths.reduce((total, width) => (total === undefined || width === undefined ? undefined : total + width), 0);

/** Returns the mean bytes per row of a sample. */
export function sampledWidth(sample: readonly RecordBatch[]): number {
  const rows = sample.reduce((total, batch) => total + batch.numRows, 0);
  const bytes = sample.reduce((total, batch) => total + bytesOf(batch.data), 0);
  return rows === 0 ? 0 : bytes / rows;
}

const bytesOf = (data: Data): number => data.byteLength + dictionaryBytes(data);

function dictionaryBytes({ dictionary, children }: Data): number {
  const own = dictionary?.data.reduce((total, values) => total + bytesOf(values), 0) ?? 0;
  return children.reduce((total, child) => total + dictionaryBytes(child), own);
}
