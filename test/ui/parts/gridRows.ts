import {
  Binary,
  Bool,
  type Data,
  type DataType,
  Decimal,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int64,
  LargeBinary,
  List,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
  TimestampMicrosecond,
  Uint64,
  Uint8,
  Utf8,
  vectorFromArray,
} from '#arrow';
import { deflateSync, crc32 } from 'node:zlib';
import { blobHeadSchema } from '#shared/arrow/blobs.ts';

const field = (name: string, type: DataType, metadata?: Map<string, string>) => new Field(name, type, true, metadata);

const vectorSize = 128;
const schema = new Schema([
  field('id', new Int64()),
  field('name', new Utf8()),
  field('price', new Decimal(2, 10)),
  field('score', new Float64()),
  field('in_stock', new Bool()),
  field('tags', new List(field('item', new Utf8()))),
  field('added', new TimestampMicrosecond('UTC')),
  field('embedding', new FixedSizeList(vectorSize, field('item', new Float32()))),
  field('picture', new Binary(), new Map([['mime', 'image/png']])),
]);

/** The first id: the smallest positive integer that a double can't represent. */
export const firstId = 9_007_199_254_740_993n;

const of = (type: DataType, values: unknown[]): Data => vectorFromArray(values, type).data[0]!;

/** Returns rows [start, end) of a virtual table: each value is computed from its row number. */
export function rowsOf(start: number, end: number): Table {
  const rows = Array.from({ length: end - start }, (_, i) => start + i);
  const decimals = new Uint32Array(
    rows.flatMap((row) => [
      (row % 100_000) - (row % 2 ? 200_000 : 0),
      row % 2 ? -1 : 0,
      row % 2 ? -1 : 0,
      row % 2 ? -1 : 0,
    ]),
  );
  const children = [
    of(
      schema.fields[0]!.type,
      rows.map((row) => firstId + BigInt(row)),
    ),
    of(
      schema.fields[1]!.type,
      rows.map((row) => (row % 30 === 7 ? null : row % 30 === 8 ? 'null' : `Product number ${row}`)),
    ),
    makeData({ type: new Decimal(2, 10), length: rows.length, nullCount: 0, data: decimals }),
    of(
      schema.fields[3]!.type,
      rows.map((row) => Math.sin(row) * 1000),
    ),
    of(
      schema.fields[4]!.type,
      rows.map((row) => row % 3 !== 0),
    ),
    of(
      schema.fields[5]!.type,
      rows.map((row) => ['new', `shelf ${row % 40}`].slice(0, row % 3)),
    ),
    makeData({
      type: new TimestampMicrosecond('UTC'),
      length: rows.length,
      nullCount: 0,
      data: BigInt64Array.from(rows, (row) => 1_708_480_168_831_982n + BigInt(row) * 61_000_001n),
    }),
    makeData({
      type: schema.fields[7]!.type as FixedSizeList,
      length: rows.length,
      nullCount: 0,
      child: makeData({
        type: new Float32(),
        data: Float32Array.from(
          { length: rows.length * vectorSize },
          (_, i) => Math.sin(i * 0.11 + Math.floor(i / vectorSize)) * Math.cos(i * 0.017),
        ),
      }),
    }),
    of(
      schema.fields[8]!.type,
      rows.map((row) => (row % 50 === 3 ? null : png(row))),
    ),
  ];
  const type = new Struct(schema.fields);
  const batch = new RecordBatch(schema, makeData({ type, length: rows.length, nullCount: 0, children }));
  return new Table(schema, [batch]);
}

export const streamOf = (start: number, end: number): Uint8Array => tableToIPC(rowsOf(start, end), 'stream');

/** Returns rows with a caption, an image and an SVG image. */
export function mediaRows(rows: readonly number[], images: readonly Uint8Array[], svg: Uint8Array): Table {
  const fields = [
    field('id', new Int64()),
    field('caption', new Utf8()),
    field('image', new Binary(), new Map([['mime', 'image/png']])),
    field('drawing', new Binary(), new Map([['mime', 'image/svg+xml']])),
  ];
  const values = [
    rows.map(BigInt),
    rows.map((row) => `Number ${row}: a caption that needs more than one line in a column of the usual width`),
    images,
    rows.map(() => svg),
  ];
  const media = new Schema(fields);
  const children = fields.map(({ type }, index) => of(type, [...values[index]!]));
  const type = new Struct(fields);
  const batch = new RecordBatch(media, makeData({ type, length: rows.length, nullCount: 0, children }));
  return new Table(media, [batch]);
}

/** Returns rows with the sizes and first bytes of blobs, as the extension host sends them. */
export function blobRows(blobs: readonly Uint8Array[], headBytes: number): Table {
  const blobSchema = blobHeadSchema('media');
  const [{ type }] = blobSchema.fields as [Field<Struct>];
  const heads = blobs.map((blob) => blob.subarray(0, headBytes));
  const valueOffsets = new BigInt64Array(blobs.length + 1);
  for (const [index, head] of heads.entries()) valueOffsets[index + 1] = valueOffsets[index]! + BigInt(head.length);
  const children = [
    makeData({ type: new Uint64(), data: BigUint64Array.from(blobs, ({ length }) => BigInt(length)) }),
    makeData({ type: new LargeBinary(), valueOffsets, data: new Uint8Array(Buffer.concat(heads)) }),
  ];
  const values = makeData({ type, length: blobs.length, nullCount: 0, children });
  const rows = makeData({
    type: new Struct(blobSchema.fields),
    length: blobs.length,
    nullCount: 0,
    children: [values],
  });
  return new Table(blobSchema, [new RecordBatch(blobSchema, rows)]);
}

/** Strings, numbers and vectors that are easily misread. */
export function oddRows(): Table {
  const size = 16;
  const vectors = [
    Array.from({ length: size }, (_, at) => Math.sin(at)),
    Array.from({ length: size }, () => 0),
    Array.from({ length: size }, (_, at) => (at < 2 ? Number.NaN : at)),
  ];
  const fields = [
    field('text', new Utf8()),
    field('number', new Float64()),
    field('flag', new Bool()),
    field('vector', new FixedSizeList(size, field('item', new Float32()))),
    field('bytes', new FixedSizeList(size, field('item', new Uint8()))),
    field('user\u202Ename', new Utf8()),
  ];
  const odd = ['', ' a  b ', 'evil\u202Etxt.exe', 'line 1\nline 2', '\u001B[31mred', 'שלום עולם', '👩‍👩‍👧 family', '""'];
  const children = [
    of(fields[0]!.type, odd),
    of(fields[1]!.type, [
      1.234567890123e-300,
      -1.7976931348623157e308,
      NaN,
      Infinity,
      -0,
      0.1,
      12345678901234568,
      5e-324,
    ]),
    of(fields[2]!.type, [true, false, null, true, true, true, true, true]),
    makeData({
      type: fields[3]!.type as FixedSizeList,
      length: odd.length,
      nullCount: 0,
      child: makeData({
        type: new Float32(),
        data: Float32Array.from(odd.flatMap((_, row) => vectors[row % vectors.length]!)),
      }),
    }),
    makeData({
      type: fields[4]!.type as FixedSizeList,
      length: odd.length,
      nullCount: 0,
      child: makeData({ type: new Uint8(), data: Uint8Array.from({ length: size * odd.length }, (_, at) => at * 7) }),
    }),
    of(fields[5]!.type, odd),
  ];
  const schemaOfOdd = new Schema(fields);
  const rows = makeData({ type: new Struct(fields), length: odd.length, nullCount: 0, children });
  return new Table(schemaOfOdd, [new RecordBatch(schemaOfOdd, rows)]);
}

const wideFields = (numColumns: number): Field[] =>
  Array.from({ length: numColumns }, (_, column) => field(`f${column}`, new Float64()));

/**
 * Returns rows [start, end) of a virtual table of numbers, each `row + column / 10,000`, as a stream.
 * @param only the positions of the wanted columns; all by default
 */
export function wideStreamOf(start: number, end: number, numColumns: number, only?: readonly number[]): Uint8Array {
  const positions = only ?? Array.from({ length: numColumns }, (_, column) => column);
  const all = wideFields(numColumns);
  const wide = new Schema(positions.map((column) => all[column]!));
  const length = end - start;
  const children = positions.map((column) =>
    makeData({
      type: new Float64(),
      length,
      data: Float64Array.from({ length }, (__, row) => start + row + column / 10_000),
    }),
  );
  const batch = new RecordBatch(wide, makeData({ type: new Struct(wide.fields), length, nullCount: 0, children }));
  return tableToIPC(new Table(wide, [batch]), 'stream');
}

export const wideSchema = (numColumns: number): Schema => new Schema(wideFields(numColumns));

const pictures = new Map<number, Uint8Array>();

/** Returns a PNG of 24 × 24 pixels whose color depends on a number. Caches the 256 PNGs, because many rows use them. */
export function png(seed: number): Uint8Array {
  const color = seed % 256;
  const picture = pictures.get(color) ?? drawPng(color);
  pictures.set(color, picture);
  return picture;
}

function drawPng(color: number): Uint8Array {
  const size = 24;
  const hue = [(color * 53) % 256, (color * 97) % 256, (color * 193) % 256];
  const lines = Buffer.concat(
    Array.from({ length: size }, (_, y) =>
      Buffer.from([0, ...Array.from({ length: size }, (__, x) => hue.map((part) => (part + x * y) % 256)).flat()]),
    ),
  );
  const header = Buffer.from([0, 0, 0, size, 0, 0, 0, size, 8, 2, 0, 0, 0]);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, body: Uint8Array): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const frame = Buffer.alloc(content.length + 8);
  frame.writeUInt32BE(body.length, 0);
  content.copy(frame, 4);
  frame.writeUInt32BE(crc32(content), content.length + 4);
  return frame;
}
