import {
  Field,
  Float64,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from '#arrow';
import type { ColumnPosition } from '#shared/protocol/webviewMessages.ts';

const field = (name: string, type: Field['type'], nullable = true) => new Field(name, type, nullable);

const geo = new Struct([field('lat', new Float64()), field('lon', new Float64())]);
const address = new Struct([
  field('street', new Utf8()),
  field('zip', new Int32()),
  field('geo', geo),
  field('post.box', new Utf8()),
]);
/** A table with structs in structs: the columns `id`, `address` and `name`. */
export const nestedSchema = new Schema([
  field('id', new Int64(), false),
  field('address', address),
  field('name', new Utf8()),
]);

/** Returns rows [start, end). Every fourth address is null, and every third one has no place. */
export function nestedRows(start: number, end: number): Table {
  const rows = Array.from({ length: end - start }, (_, index) => start + index);
  const places = rows.map((row) =>
    row % 4 === 3
      ? null
      : {
          street: `${row} Main Street`,
          zip: 10_000 + row,
          geo: row % 3 === 2 ? null : { lat: row / 8, lon: -row / 8 },
          'post.box': row % 2 === 0 ? `Box ${row}` : null,
        },
  );
  const children = [
    vectorFromArray(rows.map(BigInt), new Int64()).data[0]!,
    vectorFromArray(places, address).data[0]!,
    vectorFromArray(
      rows.map((row) => `Name ${row}`),
      new Utf8(),
    ).data[0]!,
  ];
  const type = new Struct(nestedSchema.fields);
  const data = makeData({ type, length: rows.length, nullCount: 0, children });
  return new Table(nestedSchema, [new RecordBatch(nestedSchema, data)]);
}

/** Returns columns and nested fields of the rows as a stream, as a table returns them. */
export function nestedStream(start: number, end: number, columns: readonly ColumnPosition[]): Uint8Array {
  const rows = nestedRows(start, end);
  const picked = columns.map((column) => {
    const [first = 0, ...inner] = typeof column === 'number' ? [column] : column;
    let [values, found, name] = [
      rows.toArray().map((row) => row.toJSON()[rows.schema.fields[first]!.name] as unknown),
      rows.schema.fields[first]!,
      rows.schema.fields[first]!.name,
    ];
    for (const index of inner) {
      const next = (found.type as Struct).children[index]!;
      values = values.map((value) => (value as Record<string, unknown> | null)?.[next.name] ?? null);
      name = `${name}.${next.name}`;
      found = next;
    }
    return { name, type: found.type, values };
  });
  const fields = picked.map(({ name, type }) => field(name, type));
  const children = picked.map(({ type, values }) => vectorFromArray(values, type).data[0]!);
  const schema = new Schema(fields);
  const data = makeData({ type: new Struct(fields), length: end - start, nullCount: 0, children });
  return tableToIPC(new Table(schema, [new RecordBatch(schema, data)]), 'stream');
}
