import { DataType, type Data, type Field, type RecordBatch, type Schema } from '#arrow';

// By default the engine returns batches of 1,024 rows. The overhead of such small batches costs as much as the reading
// itself: ten million narrow rows pass through a socket in 1.6 s in batches of 0.5 MB, in 1.1 s in batches of 2 MB.
// Larger batches gain little, and writer and reader each hold several batches in memory. 1,024 rows of 1 MB each would
// even need gigabytes, and the first of them would arrive only with the last. So the batch length follows from the row
// width, down to one row a batch.

const wantedBytes = 2 * 1024 * 1024;
const mostRows = 65_536;

/** Rows of a batch by the engine's default. */
export const engineRows = 1024;

/** Rows of the samples that estimate the width of all rows. */
export const sampleRows = { first: 4, narrow: 256 } as const;

/** Returns how many rows a batch should have, at least one. */
export function batchLength(bytesPerRow: number): number {
  const rows = 2 ** Math.floor(Math.log2(wantedBytes / Math.max(bytesPerRow, 1)));
  return Math.min(Math.max(rows, 1), mostRows);
}

/**
 * Returns the bytes per row of a schema, or of some of its columns. Returns `undefined` if rows differ in width, as with
 * strings, and for a column that the schema does not have under that name.
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
