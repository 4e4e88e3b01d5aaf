import {
  Binary,
  type DataType,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int32,
  Int64,
  List,
  Schema,
  Table,
  TimestampMicrosecond,
  Utf8,
  vectorFromArray,
} from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';

const item = (type: DataType): Field => new Field('item', type, true);

const columns: readonly [name: string, type: DataType, value: (row: number) => unknown][] = [
  ['id', new Int64(), (row) => BigInt(row)],
  ['name', new Utf8(), (row) => (row % 7 === 0 ? null : `row ${row} – ✓`)],
  ['price', new Float64(), (row) => (row % 5 === 0 ? null : row / 3)],
  ['at', new TimestampMicrosecond('UTC'), (row) => (row % 11 === 0 ? null : 1_700_000_000_000 + row)],
  ['tags', new List(item(new Utf8())), (row) => [[], ['a', null], ['b', 'c', `${row}`], null][row % 4]],
  ['vector', new FixedSizeList(4, item(new Float32())), (row) => [row, 0.5, -row, 1]],
  ['bytes', new Binary(), (row) => (row % 3 === 0 ? null : Uint8Array.of(row & 255, 0))],
];

/** Metadata of the schema and of a column; a copy must contain both. */
const metadata = new Map([['made by', 'the tests']]);
const fieldMetadata = new Map([['unit', 'EUR']]);

const schema = new Schema(
  columns.map(([name, type]) => new Field(name, type, name !== 'id', name === 'price' ? fieldMetadata : undefined)),
  metadata,
);

/** Returns rows of many types with nulls, the same each time. */
export function manyKinds(count: number, from = 0): Table {
  const rows = Array.from({ length: count }, (_, index) => from + index);
  return new Table(
    schema,
    Object.fromEntries(columns.map(([name, type, value]) => [name, vectorFromArray(rows.map(value), type)])),
  );
}

const sparse = (column: number, row: number): number | null =>
  column % 2 === 1 || row % 3 === 0 ? null : row * column;

/** Returns sixty-four columns. The odd ones contain only nulls, the others a null in every third row. */
export function manyColumns(count: number): Table {
  const names = Array.from({ length: 64 }, (_, index) => `c${index}`);
  const fields = names.map((name) => new Field(name, new Int32(), true));
  return new Table(
    new Schema(fields),
    Object.fromEntries(
      names.map((name, column) => [
        name,
        vectorFromArray(
          Array.from({ length: count }, (_, row) => sparse(column, row)),
          new Int32(),
        ),
      ]),
    ),
  );
}

/** Returns the rows of a table as JSON for comparison, with integers and bytes as strings. */
export async function rowsOf(db: Catalog, path: readonly string[]): Promise<string[]> {
  const table = await db.openTable(path.at(-1) ?? '', path.slice(0, -1));
  const rows = await table.query().toArray();
  return rows
    .map((row) => JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)))
    .toSorted((a, b) => a.localeCompare(b));
}
