import { type Data, type DataType, Field, makeData, RecordBatch, Schema, Struct } from '#arrow';
import { joinBatches } from './joinBatches.ts';

/**
 * Returns rows of batches in the given order, in batches of up to 4,096 rows.
 * @param rows positions over all batches; a position may occur several times
 */
export function gatherRows(batches: readonly RecordBatch[], rows: readonly number[]): RecordBatch[] {
  const starts: number[] = [];
  let total = 0;
  for (const { numRows } of batches) {
    starts.push(total);
    total += numRows;
  }
  const batchAt = (row: number): number => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= row) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const slices: RecordBatch[] = [];
  for (let at = 0; at < rows.length;) {
    const first = rows[at]!;
    const index = batchAt(first);
    const batch = batches[index]!;
    const start = first - starts[index]!;
    let length = 1;
    while (start + length < batch.numRows && rows[at + length] === first + length) length++;
    slices.push(batch.slice(start, start + length));
    at += length;
  }
  return joinBatches(slices);
}

/**
 * Returns values of chunks of a column in the given order, in chunks of up to 4,096 values.
 * @param positions over all chunks; a position may occur several times
 */
export function gatherValues(type: DataType, chunks: readonly Data[], positions: readonly number[]): Data[] {
  const schema = new Schema([new Field('value', type, true)]);
  const batches = chunks.map((chunk) => {
    const struct = new Struct(schema.fields);
    return new RecordBatch(schema, makeData({ type: struct, length: chunk.length, nullCount: 0, children: [chunk] }));
  });
  return gatherRows(batches, positions).map(({ data }) => data.children[0]!);
}
