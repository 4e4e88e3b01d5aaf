import {
  type DataType,
  Field,
  FixedSizeList,
  Float32,
  Int32,
  Int64,
  makeData,
  makeVector,
  RecordBatch,
  Schema,
  Struct,
  Table as ArrowTable,
  Utf8,
  vectorFromArray,
} from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import type { Table } from '#catalog/table/table.ts';

export const textOf = (id: number): string => 'word '.repeat(id % 7) + String(id);

/** Returns how many rows below an id `textTable` has deleted. */
export const deletedBelow = (id: number): number => Math.ceil((id - 5) / 97);

/** Returns the expected value of a row, computed without the code under test. */
export const lengthOf = (id: number, text = textOf(id)): number => text.length;

const schema = (dimensions: number, type: DataType) =>
  new Schema([
    new Field('id', new Int64(), true),
    new Field('text', new Utf8(), true),
    ...(dimensions > 0
      ? [new Field('vector', new FixedSizeList(dimensions, new Field('item', new Float32(), true)), true)]
      : []),
    new Field('length', type, true),
  ]);

/** Returns rows from an id on as one batch, which becomes one fragment. */
export function rowsFrom(first: number, count: number, dimensions = 0, type: DataType = new Int32()): ArrowTable {
  const fields = schema(dimensions, type);
  const ids = BigInt64Array.from({ length: count }, (_, row) => BigInt(first + row));
  const texts = vectorFromArray(
    Array.from({ length: count }, (_, row) => textOf(first + row)),
    new Utf8(),
  );
  const floats = new Float32Array(count * dimensions).map((_, at) => Math.fround(Math.sin(first * dimensions + at)));
  const children = [
    makeVector(ids).data[0]!,
    texts.data[0]!,
    ...(dimensions > 0
      ? [
          makeData({
            type: fields.fields[2]!.type as FixedSizeList,
            length: count,
            nullCount: 0,
            child: makeVector(floats).data[0]!,
          }),
        ]
      : []),
    makeData({
      type,
      length: count,
      nullCount: count,
      nullBitmap: new Uint8Array(Math.ceil(count / 8)),
      data: new Int32Array(count),
    } as never),
  ];
  return new ArrowTable(fields, [
    new RecordBatch(fields, makeData({ type: new Struct(fields.fields), length: count, nullCount: 0, children })),
  ]);
}

/**
 * Creates a table of strings with an empty column `length`, in the given number of fragments. Every 97th row is
 * deleted.
 */
export async function textTable(
  db: Catalog,
  name: string,
  { fragments = 8, rows = 8000, dimensions = 0 }: { fragments?: number; rows?: number; dimensions?: number } = {},
): Promise<Table> {
  const each = rows / fragments;
  const table = await db.createTable(name, rowsFrom(0, each, dimensions));
  for (let fragment = 1; fragment < fragments; fragment++) await table.add(rowsFrom(fragment * each, each, dimensions));
  await table.delete('id % 97 = 5');
  return table;
}

/** Returns rows as `[id, text, length]`, sorted by id. */
export async function lengths(table: Table, where = 'TRUE'): Promise<[number, string, number | null][]> {
  const found = await table.query().where(where).select(['id', 'text', 'length']).toArrow();
  const columns = ['id', 'text', 'length'].map((name) => found.getChild(name)!);
  return Array.from({ length: found.numRows }, (_, row): [number, string, number | null] => [
    Number(columns[0]!.get(row)),
    String(columns[1]!.get(row)),
    columns[2]!.get(row) as number | null,
  ]).toSorted(([a], [b]) => a - b);
}
