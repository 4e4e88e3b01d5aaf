import assert from 'node:assert/strict';
import {
  Binary,
  Bool,
  DateDay,
  Decimal,
  Dictionary,
  DurationMillisecond,
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int32,
  Int64,
  List,
  makeData,
  makeVector,
  Map_,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableFromIPC,
  TimestampMicrosecond,
  TimestampNanosecond,
  TimestampSecond,
  Uint64,
  Utf8,
  vectorFromArray,
} from '#arrow';
import { buildColumn } from '#catalog/arrow/buildColumn.ts';
import { inferRows } from '#catalog/arrow/inferRows.ts';
import { type ExportFormat, exportFormats, formatOfFile } from '#catalog/export/exportFormats.ts';
import { exportRows } from '#catalog/export/exportRows.ts';
import { ParquetTail } from '#catalog/export/parquetTail.ts';

async function* batchesOf(table: Table): AsyncGenerator<RecordBatch> {
  yield* table.batches;
}

async function* manyOf(table: Table, count: number): AsyncGenerator<RecordBatch> {
  for (let at = 0; at < count; at++) yield* table.batches;
}

async function bytesOf(table: Table, format: ExportFormat, batches = batchesOf(table)): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of exportRows({ schema: table.schema, batches }, format)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const textOf = async (table: Table, format: ExportFormat): Promise<string> => (await bytesOf(table, format)).toString();

const field = (name: string, type: Field['type']): Field => new Field(name, type, true);

const entries = new Struct<{ key: Utf8; value: Int64 }>([
  new Field('key', new Utf8(), false),
  field('value', new Int64()) as Field<Int64>,
]);

/** Columns with the text of their first value in CSV and in JSON. The second value of each is null. */
const columns: Record<string, { column: Table; csv: string; json: string }> = {};

function add(name: string, type: Field['type'], value: unknown, csv: string, json = csv): void {
  const data = buildColumn(type, [value, null]);
  const schema = new Schema([field('x', type)]);
  const row = makeData({ type: new Struct(schema.fields), length: 2, nullCount: 0, children: [data] });
  columns[name] = { column: new Table(schema, [new RecordBatch(schema, row)]), csv, json };
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

add('a boolean', new Bool(), false, 'false');
add('a safe integer', new Int64(), -(2n ** 53n - 1n), '-9007199254740991');
add('an unsafe integer', new Int64(), 2n ** 53n, '9007199254740992', '"9007199254740992"');
add('the largest integer', new Uint64(), 2n ** 64n - 1n, '18446744073709551615', '"18446744073709551615"');
add('a 16-bit float', new Float16(), 0.1, '0.1');
add('a 32-bit float', new Float32(), 0.1, '0.1');
add('a 64-bit float', new Float64(), 1e-7, '1e-7');
add('negative zero', new Float64(), -0, '-0');
add('NaN', new Float64(), Number.NaN, 'NaN', 'null');
add('an infinity', new Float32(), -Infinity, '-Infinity', 'null');
add(
  'a decimal',
  new Decimal(9, 38, 128),
  12345678901234567890123456789n,
  '12345678901234567890.123456789',
  '"12345678901234567890.123456789"',
);
add('a date before 1970', new DateDay(), -1, '1969-12-31', '"1969-12-31"');
add('a timestamp in seconds', new TimestampSecond(), 0n, '1970-01-01T00:00:00', '"1970-01-01T00:00:00"');
add(
  'a timestamp with a zone',
  new TimestampMicrosecond('Europe/Berlin'),
  1_500_000n,
  '1970-01-01T00:00:01.500000Z',
  '"1970-01-01T00:00:01.500000Z"',
);
add('nanoseconds', new TimestampNanosecond(), -1n, '1969-12-31T23:59:59.999999999', '"1969-12-31T23:59:59.999999999"');
add('a duration', new DurationMillisecond(), 90_061_001n, '1d 1h 1m 1.001s', '"1d 1h 1m 1.001s"');
add('bytes', new Binary(), Uint8Array.of(0, 255, 16), 'AP8Q', '"AP8Q"');
add('an image', new Binary(), Buffer.from('iVBORw0KGgo=', 'base64'), 'iVBORw0KGgo=', '"iVBORw0KGgo="');
add('an empty string', new Utf8(), '', '""', '""');
add('a plain string', new Utf8(), ' =1+1 ü', ' =1+1 ü', '" =1+1 ü"');
add('quotes and lines', new Utf8(), 'a "b", c\r\nd', '"a ""b"", c\r\nd"', String.raw`"a \"b\", c\r\nd"`);
add('a dictionary', new Dictionary(new Utf8(), new Int32()), 'a,b', '"a,b"', '"a,b"');
add('a list', new List(field('item', new Utf8())), ['a', null], '"[""a"",null]"', '["a",null]');
add(
  'a vector',
  new FixedSizeList(3, field('item', new Float32())),
  [0.1, Number.NaN, 2],
  '"[0.1,null,2]"',
  '[0.1,null,2]',
);
add(
  'a struct',
  new Struct([field('a "b"', new Int64()), field('c', new Bool())]),
  [1n, null],
  quoted(String.raw`{"a \"b\"":1,"c":null}`),
  String.raw`{"a \"b\"":1,"c":null}`,
);
add(
  'a map',
  new Map_(new Field('entries', entries, false)),
  [['k', 2n ** 60n]],
  quoted('{"k":"1152921504606846976"}'),
  '{"k":"1152921504606846976"}',
);

suite('Exported rows', () => {
  test('are CSV with exact values, null as an empty field and an empty string in quotes', async () => {
    for (const [name, { column, csv }] of Object.entries(columns))
      assert.equal(await textOf(column, 'csv'), `x\r\n${csv}\r\n\r\n`, name);
  });

  test('are JSON with exact values, as lines and as one array', async () => {
    for (const [name, { column, json }] of Object.entries(columns)) {
      assert.equal(await textOf(column, 'jsonl'), `{"x":${json}}\n{"x":null}\n`, name);
      assert.equal(await textOf(column, 'json'), `[\n{"x":${json}},\n{"x":null}\n]\n`, name);
      JSON.parse(await textOf(column, 'json'));
    }
  });

  test('have names that need quotes, and several columns and batches', async () => {
    const one = inferRows([{ 'a,"b"': 1, c: 'x' }]);
    const two = new Table(one.schema, [...one.batches, ...one.batches]);
    assert.equal(await textOf(two, 'csv'), '"a,""b""",c\r\n1,x\r\n1,x\r\n');
    assert.equal(
      await textOf(two, 'json'),
      String.raw`[
{"a,\"b\"":1,"c":"x"},
{"a,\"b\"":1,"c":"x"}
]
`,
    );
  });

  test('are valid files without rows', async () => {
    const none = new Table(columns['a vector']!.column.schema);
    assert.equal(await textOf(none, 'csv'), 'x\r\n');
    assert.equal(await textOf(none, 'jsonl'), '');
    assert.deepEqual(JSON.parse(await textOf(none, 'json')), []);
    assert.deepEqual(await readBack(none, 'arrow'), [0, 'FixedSizeList[3]<Float32>']);
    assert.deepEqual(await readBack(none, 'parquet'), [0, 'FixedSizeList[3]<Float32>']);
  });

  test('are Arrow although each batch has its own dictionary', async () => {
    const type = new Dictionary(new Utf8(), new Int32(), 1);
    const schema = new Schema([field('x', type)]);
    const dictionary = (values: string[]) =>
      new RecordBatch(schema, new Table({ x: vectorFromArray(values, type) }).batches[0]!.data);
    const [one, two] = [dictionary(['a', 'b']), dictionary(['c', 'a'])];
    async function* batches(): AsyncGenerator<RecordBatch> {
      yield one;
      yield two;
    }
    const bytes = await bytesOf(new Table(schema), 'arrow', batches());
    assert.deepEqual([...tableFromIPC(bytes).getChild('x')!], ['a', 'b', 'c', 'a']);
  });

  test('fail with the error of their source in every format, after earlier batches', async () => {
    const table = new Table({ x: makeVector(new Float64Array(100)) });
    for (const format of exportFormats) {
      for (const good of [0, 1, 3]) {
        async function* batches(): AsyncGenerator<RecordBatch> {
          for (let count = 0; count < good; count++) yield* table.batches;
          throw new Error('The source failed.');
        }
        await assert.rejects(bytesOf(table, format, batches()), /The source failed/, `${format} ${good}`);
      }
    }
  });

  test('close their source if the reader stops', async () => {
    const table = new Table({ x: makeVector(new Float64Array(100_000).map(() => Math.random())) });
    for (const format of exportFormats) {
      let [read, isClosed] = [0, false];
      async function* batches(): AsyncGenerator<RecordBatch> {
        try {
          for (; ; read++) yield* table.batches;
        } finally {
          isClosed = true;
        }
      }
      for await (const _ of exportRows({ schema: table.schema, batches: batches() }, format)) break;
      assert.ok(isClosed, format);
      const before = read;
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(read, before, format);
    }
  });

  test('have their number in the end of a Parquet file, which may come in any pieces', async () => {
    const x = makeVector(new Float64Array(300_000).map(() => Math.random()));
    const bytes = await bytesOf(new Table({ x }), 'parquet', manyOf(new Table({ x }), 40));
    const tail = new ParquetTail();
    for (let at = 0; at < bytes.length; at += 1_000_003) tail.add(bytes.subarray(at, at + 1_000_003));
    assert.equal(tail.readRowCount(), 12_000_000);
    assert.ok(bytes.length > 64 * 2 ** 20, 'The file has several groups.');
    const cut = new ParquetTail();
    cut.add(bytes.subarray(bytes.length - 100));
    assert.equal(cut.readRowCount(), undefined);
  });

  test('are refused as JSON if two columns have one name', async () => {
    const schema = new Schema([field('x', new Bool()), field('x', new Bool())]);
    await assert.rejects(bytesOf(new Table(schema), 'jsonl'), /several columns with the name "x"/);
  });

  test('have a format by the ending of a file', () => {
    assert.equal(formatOfFile('/a.csv/b.PARQUET'), 'parquet');
    assert.equal(formatOfFile('a.ndjson'), 'jsonl');
    assert.equal(formatOfFile('a.csv/b'), undefined);
    assert.equal(formatOfFile('a.txt'), undefined);
  });
});

async function readBack(table: Table, format: 'arrow' | 'parquet'): Promise<[rows: number, type: string]> {
  const bytes = await bytesOf(table, format);
  const parquet = await import('parquet-wasm/node');
  const found = tableFromIPC(format === 'arrow' ? bytes : parquet.readParquet(bytes).intoIPCStream());
  return [found.numRows, String(found.schema.fields[0]!.type)];
}
