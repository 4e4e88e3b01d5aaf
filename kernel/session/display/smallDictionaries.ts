import {
  type Data,
  DataType,
  type Dictionary,
  makeData,
  RecordBatch,
  Struct,
  Table as ArrowTable,
  Vector,
} from '#arrow';
import { gatherValues } from '#catalog/arrow/gatherRows.ts';

/**
 * Returns a table whose dictionaries have only the values of its rows. A stream has each dictionary as a whole, so a few
 * rows of a large table would be as large as all of its distinct values.
 */
export function withSmallDictionaries(table: ArrowTable): ArrowTable {
  const columns = table.schema.fields.map((_, index) => smallColumn(table.getChildAt(index), table.numRows));
  if (columns.every((column) => column === undefined)) return table;
  const { schema } = table;
  const batches = table.batches.map(({ data, numRows }, batch) => {
    const children = data.children.map((child, index) => columns[index]?.[batch] ?? child);
    const struct = new Struct(schema.fields);
    return new RecordBatch(schema, makeData({ type: struct, length: numRows, nullCount: 0, children }));
  });
  return new ArrowTable(schema, batches);
}

/** Returns the chunks of a column with a smaller dictionary; undefined if its dictionary is small. */
function smallColumn(column: Vector | null, numRows: number): Data[] | undefined {
  const [first] = column?.data ?? [];
  if (!column || !first || !DataType.isDictionary(first.type)) return undefined;
  const dictionaries = [...new Set(column.data.map(({ dictionary }) => dictionary as Vector))];
  let total = 0;
  const starts = new Map(
    dictionaries.map((dictionary) => [dictionary, (total += dictionary.length) - dictionary.length]),
  );
  if (total <= numRows) return undefined;
  const used = new Map<number, number>();
  const chunks = column.data.map((data) => {
    const start = starts.get(data.dictionary as Vector)!;
    return Array.from({ length: data.length }, (_, row) => {
      if (!data.getValid(row)) return undefined;
      const position = start + Number((data.values as ArrayLike<number | bigint>)[row]);
      const known = used.get(position) ?? used.size;
      used.set(position, known);
      return known;
    });
  });
  const values = dictionaries.flatMap(({ data }) => data as readonly Data[]);
  const dictionary = new Vector(gatherValues(first.type.dictionary as DataType, values, [...used.keys()]));
  return chunks.map((positions) => chunkOf(first.type as Dictionary, positions, dictionary));
}

function chunkOf(type: Dictionary, positions: readonly (number | undefined)[], dictionary: Vector): Data {
  const { length } = positions;
  const nullBitmap = new Uint8Array((length + 7) >> 3);
  const indices = new (type.indices.ArrayType as new (length: number) => { [row: number]: number | bigint })(length);
  const isBig = indices instanceof BigInt64Array || indices instanceof BigUint64Array;
  let nullCount = 0;
  for (const [row, position] of positions.entries()) {
    if (position === undefined) nullCount++;
    else {
      nullBitmap[row >> 3]! |= 1 << (row & 7);
      indices[row] = isBig ? BigInt(position) : position;
    }
  }
  return makeData({ type, length, nullCount, nullBitmap, data: indices as never, dictionary }) as Data;
}
