import {
  Binary,
  type DataType,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int32,
  Int64,
  Int8,
  List,
  Map_,
  Schema,
  Struct,
  Table,
  tableToIPC,
  Utf8,
  type Vector,
  vectorFromArray,
} from '#arrow';
import { encodePng } from '../../../scripts/sample/pictures.ts';

const field = (name: string, type: DataType): Field => new Field(name, type, true);

export const longLine = 'All work and no play makes a long text. ';
/** A text that would be markup, a terminal command and an override of the direction if it were not data. */
export const hostileText =
  '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u001b[31m\u202Egnp.exe';

const entry = new Struct([field('key', new Utf8()), field('value', new Int32())]);
const orderType = new Struct([
  field('order_id', new Int64()),
  field('customer', new Struct([field('name', new Utf8()), field('tags', new List(field('item', new Utf8())))])),
  field('total', new Float64()),
  field('note', new Utf8()),
]);

/** The columns of the rows, each with the value of a row. */
const columns: readonly { name: string; type: DataType; value: (row: number) => unknown }[] = [
  { name: 'id', type: new Int64(), value: (row) => 9_007_199_254_740_993n + BigInt(row) },
  {
    name: 'note',
    type: new Utf8(),
    value: (row) => [hostileText, null, 'two\nlines', '', `row ${row}\n${longLine.repeat(20)}`][row % 5],
  },
  {
    name: 'json',
    type: new Utf8(),
    value: (row) =>
      `{"row": ${row}, "big": 12345678901234567890, "list": [1, 2.50, null, true, {"deep": ["a", "b"]}], "__proto__": {"x": 1}, "text": "${longLine.repeat(12)}"}`,
  },
  {
    name: 'order',
    type: orderType,
    value: (row) => ({
      order_id: 9_007_199_254_740_993n + BigInt(row),
      customer: { name: `Customer ${row}`, tags: ['new', 'eu'] },
      total: row === 1 ? Number.NaN : row + 0.5,
      note: null,
    }),
  },
  {
    name: 'many',
    type: new List(field('item', new Int32())),
    value: (row) => Array.from({ length: row === 0 ? 1000 : row % 10 }, (_, at) => at * at),
  },
  {
    name: 'attributes',
    type: new Map_(field('entries', entry) as never),
    value: (row) =>
      new Map([
        ['a', row],
        ['b', row + 1],
      ]),
  },
  {
    name: 'embedding',
    type: new FixedSizeList(384, field('item', new Float32())),
    value: (row) =>
      Array.from({ length: 384 }, (_, at) => (row === 2 ? 0 : Math.sin(at * 0.11 + row) * Math.cos(at * 0.017))),
  },
  {
    name: 'codes',
    type: new FixedSizeList(16, field('item', new Int8())),
    value: (row) => Array.from({ length: 16 }, (_, at) => at - row),
  },
  { name: 'picture', type: new Binary(), value: (row) => pictureOf(row) },
  {
    name: 'bytes',
    type: new Binary(),
    value: (row) => Uint8Array.from({ length: 3000 }, (_, at) => (at * 7 + row) % 256),
  },
];

/** Returns a PNG of 320 × 200 pixels; in row 1, one that is damaged. */
function pictureOf(row: number): Uint8Array {
  const [width, height] = [320, 200];
  const rgba = new Uint8Array(width * height * 4);
  for (let at = 0; at < width * height; at++)
    rgba.set([(at % width) % 256, Math.floor(at / width) % 256, (row * 60) % 256, 255], at * 4);
  const png = encodePng({ width, height, rgba });
  return row === 1 ? png.slice(0, 40) : png;
}

export const detailSchema = new Schema(columns.map(({ name, type }) => field(name, type)));

/** Position of a column. */
export const detailColumn = (name: string): number => columns.findIndex((column) => column.name === name);

/** Returns rows [start, end) with values that are worth a look, as a stream. */
export function detailStream(start: number, end: number, only?: readonly number[]): Uint8Array {
  const wanted = only ?? columns.map((_, column) => column);
  const rows = Array.from({ length: end - start }, (_, at) => start + at);
  const vectors = wanted.map((at): [string, Vector] => {
    const { name, type, value } = columns[at]!;
    return [name, vectorFromArray(rows.map(value), type)];
  });
  const schema = new Schema(wanted.map((at) => detailSchema.fields[at]!));
  const table = new Table(Object.fromEntries(vectors));
  return tableToIPC(
    new Table(
      schema,
      table.batches.map((batch) => batch),
    ),
    'stream',
  );
}
