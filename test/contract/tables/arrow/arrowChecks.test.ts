import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { type RecordBatch, Table, tableFromArrays, tableToIPC } from '#arrow';
import { readIpc } from '#catalog/arrow/ipcReader.ts';
import { schemaText } from '#shared/arrow/arrowTypes.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { columnFormatter, unlimited } from '#shared/format/cellText.ts';
import { inRoot } from '../../../../scripts/paths.ts';
import { tempFolder } from '../../../harness/temp.ts';
import {
  batchIn,
  bufferIn,
  type Message,
  messagesIn,
  setBigEndian,
  setBuffer,
  setNode,
  setRows,
} from '../../../unit/shared/arrow/arrowEdits.ts';
import { shapeRows, writeShapes } from './arrowShapes.ts';

// Arrow data from a server, a notebook or a file is checked before a value is shown. The tests edit bytes that pyarrow
// wrote. The stream reader and both builds of Arrow, for Node and for browsers, read the result.

type Read = (bytes: Uint8Array) => Promise<string[]>;
type Browser = { readArrow: (bytes: Uint8Array) => Table; columnFormatter: typeof columnFormatter };

/** Returns the columns of a table and then all cells, column by column. */
function cells(table: Table, format = columnFormatter): string[] {
  const columns = table.schema.fields.map((_, i) => {
    const read = format(table.getChildAt(i)!, { limits: unlimited });
    return Array.from({ length: table.numRows }, (__, row) => read(row).text);
  });
  return [schemaText(table.schema), ...columns.flat()];
}

// oxlint-disable-next-line typescript/require-await
async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
}

async function tableOf(bytes: Uint8Array, maxRows?: number): Promise<Table> {
  const { schema, batches } = await readIpc(pieces(bytes), undefined, { maxRows });
  const all: RecordBatch[] = [];
  for await (const batch of batches) all.push(batch);
  return new Table(schema, all);
}

/** Builds the reader as in webviews, with the other build of Arrow. */
async function browserReader(): Promise<Browser> {
  const contents = `export { readArrow } from '#shared/arrow/readArrow.ts';
export { columnFormatter } from '#shared/format/cellText.ts';`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: inRoot('webviews') },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    logLevel: 'silent',
  });
  const file = join(tempFolder(), 'reader.mjs');
  writeFileSync(file, outputFiles[0]!.contents);
  return (await import(pathToFileURL(file).href)) as Browser;
}

const isIpcError = (problem: string, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Error && error.name === 'IpcError', String(error));
  assert.equal((error as Error & { problem?: string }).problem, problem, error.message);
  assert.match(error.message, message);
  return true;
};

const last = <T>(list: readonly T[]): T => list.at(-1)!;

/** Changes the length of a vector in a batch or schema. */
function setCount(message: Message, field: number, count: number): void {
  const { metadata, header } = batchIn(message);
  metadata.writeInt32LE(count, header.target(field));
}

type Edit = (messages: readonly Message[]) => void;
const int32 =
  (buffer: number, index: number, value: number): Edit =>
  (messages) =>
    void bufferIn(last(messages), buffer).writeInt32LE(value, 4 * index);
const int64 =
  (buffer: number, index: number, value: bigint): Edit =>
  (messages) =>
    void bufferIn(last(messages), buffer).writeBigInt64LE(value, 8 * index);
const byte =
  (buffer: number, index: number, value: number): Edit =>
  (messages) =>
    void bufferIn(last(messages), buffer).writeInt8(value, index);
const rows =
  (count: number): Edit =>
  (messages) => {
    setRows(last(messages), count);
    setNode(last(messages), 0, 'length', count);
  };
const decreases = /^The column "x.*" has offsets that decrease\.$/;
const refers = /^The column "x.*" (?:refers to value \d+ of \d+|has an offset of \d+, but its data ends at \d+)\.$/;
const needed = /^The column "x.*" has \d+ (values|offsets|keys|type ids|bytes of validity)( where \d+ are needed)?\.$/;
const outside = /^The column "x.*" has a key outside of its dictionary of 3 values\.$/;

suite('Arrow data from outside', function () {
  this.timeout(60_000);
  let shapes: ReturnType<typeof writeShapes>;
  let readers: Record<'streams' | 'node' | 'browser', Read>;

  suiteSetup(async () => {
    shapes = writeShapes();
    const browser = await browserReader();
    readers = {
      streams: async (bytes) => cells(await tableOf(bytes)),
      node: (bytes) => Promise.resolve().then(() => cells(readArrow(bytes))),
      browser: (bytes) => Promise.resolve().then(() => cells(browser.readArrow(bytes), browser.columnFormatter)),
    };
  });

  const unsupportedShapes: Record<string, RegExp> = {
    list_view: /^The column "x" has the Arrow type ListView, which is not supported\.$/,
    large_list_view: /LargeListView/,
    run_end_encoded: /run-end encoded/,
    deep: /64 levels/,
  };

  test('of every type is read, and written and read again it is the same', async () => {
    for (const name of shapes.names.filter((shape) => !(shape in unsupportedShapes))) {
      const found = await readers.streams(shapes.bytesOf(name));
      assert.equal(found.length, 1 + shapeRows, name);
      for (const reader of ['node', 'browser'] as const)
        assert.deepEqual(await readers[reader](shapes.bytesOf(name)), found, name);
      for (const codec of ['lz4', 'zstd'])
        assert.deepEqual(await readers.streams(shapes.bytesOf(name, codec)), found, `${name}, ${codec}`);
      for (const kind of ['stream', 'file'] as const) {
        const again = tableToIPC(await tableOf(shapes.bytesOf(name)), kind);
        assert.deepEqual(await readers.node(again), found, `${name}, ${kind}`);
        assert.deepEqual(await readers.streams(again), found, `${name}, ${kind}`);
      }
    }
  });

  test('with a dictionary that grows is read', async () => {
    for (const read of Object.values(readers))
      assert.deepEqual((await read(shapes.bytesOf('delta'))).slice(1), ['DE', 'FR', 'DE', 'IT', 'FR']);
  });

  for (const [name, message] of Object.entries(unsupportedShapes)) {
    test(`is refused by name: ${name}`, async () => {
      for (const read of Object.values(readers))
        await assert.rejects(read(shapes.bytesOf(name)), isIpcError('unsupported', message));
    });
  }

  test('is refused by name: big-endian', async () => {
    for (const name of ['int32', 'utf8', 'list']) {
      const bytes = shapes.bytesOf(name === 'utf8' ? 'string' : name);
      setBigEndian(messagesIn(bytes)[0]!);
      for (const read of Object.values(readers))
        await assert.rejects(read(bytes), isIpcError('unsupported', /big-endian/));
    }
  });

  test('is refused by name: compressed data in a browser', async () => {
    await assert.rejects(readers.browser(shapes.bytesOf('int32', 'zstd')), isIpcError('unsupported', /ZSTD/));
  });

  const edits: [shape: string, what: string, edit: Edit, message: RegExp][] = [
    ['string', 'the last offset is 30 million', int32(1, shapeRows, 30_000_000), refers],
    ['string', 'an offset goes back', int32(1, 5, 100_000), decreases],
    ['string', 'the first offset is negative', int32(1, 0, -5), decreases],
    ['large_string', 'the last offset is 30 million', int64(1, shapeRows, 30_000_000n), refers],
    ['large_string', 'an offset is 2⁴⁰', int64(1, shapeRows, 2n ** 40n), decreases],
    ['large_string', 'an offset is negative', int64(1, 0, -1n), decreases],
    ['binary', 'the last offset is 30 million', int32(1, shapeRows, 30_000_000), refers],
    ['large_binary', 'an offset goes back', int64(1, 5, 100_000n), decreases],
    ['list', 'the last offset is 30 million', int32(1, shapeRows, 30_000_000), refers],
    ['list', 'an offset goes back', int32(1, 5, 90), decreases],
    ['large_list', 'the last offset is 30 million', int64(1, shapeRows, 30_000_000n), refers],
    ['map', 'the last offset is 30 million', int32(1, shapeRows, 30_000_000), refers],
    ['map', 'an offset goes back', int32(1, 5, 60), decreases],
    ['string_view', 'a length is negative', int32(1, 4 * 4, -1), /bytes that it does not have/],
    ['string_view', 'a value is in a buffer that is not there', int32(1, 4 * 4 + 2, 9), /bytes that it does not have/],
    ['binary_view', 'a value ends beyond its buffer', int32(1, 4 * 4 + 3, 1 << 20), /bytes that it does not have/],
    ['dictionary8', 'a key is 99', byte(1, 1, 99), outside],
    ['dictionary16', 'a key is negative', byte(1, 1, -1), outside],
    ['dictionary32', 'a key is 99', int32(1, 1, 99), outside],
    ['dictionary64', 'a key is 2⁴⁰', int64(1, 1, 2n ** 40n), outside],
    ['dictionary64', 'a key is negative', int64(1, 1, -1n), outside],
    ['sparse_union', 'a type id is unknown', byte(0, 1, 7), /unknown type id 7/],
    ['dense_union', 'a type id is negative', byte(0, 1, -1), /unknown type id -1/],
    ['dense_union', 'an offset is negative', int32(1, 1, -1), /refers to value -1/],
    ['dense_union', 'an offset is too large', int32(1, 1, 1000), refers],
    ['vector', 'the child has too few values', (all) => setNode(last(all), 1, 'length', 100), needed],
    ['struct', 'a child has too few values', (all) => setNode(last(all), 1, 'length', 10), needed],
    ['int32', 'it claims fewer nulls', (all) => setNode(last(all), 0, 'nulls', 1), /claims 1 nulls, but has 9/],
    ['int32', 'it claims no nulls', (all) => setNode(last(all), 0, 'nulls', 0), /claims 0 nulls, but has null values/],
    ['int32', 'it claims −1 nulls', (all) => setNode(last(all), 0, 'nulls', -1), /which -1 are null/],
    ['int32', 'it claims more nulls than rows', (all) => setNode(last(all), 0, 'nulls', 65), /65 are null/],
    ['int32', 'the column is longer than the batch', (all) => setNode(last(all), 0, 'length', 65), /65 values/],
    ['int32', 'the batch has 2·10⁹ rows', rows(2_000_000_000), needed],
    ['int32', 'the batch has 2⁴⁰ rows', rows(2 ** 40), /claims 1099511627776 rows/],
    ['int32', 'the batch has −1 rows', rows(-1), /claims -1 rows/],
    ['bool', 'the batch has 10,000 rows', rows(10_000), needed],
    ['plain_int32', 'the batch has 1000 rows', rows(1000), needed],
    ['decimal256', 'the batch has 10,000 rows', rows(10_000), needed],
    ['fixed_binary', 'the batch has 10,000 rows', rows(10_000), needed],
    ['interval', 'the batch has 10,000 rows', rows(10_000), needed],
    ['int32', 'a buffer starts beyond the batch', (all) => setBuffer(last(all), 1, 'offset', 4096), /beyond the batch/],
    ['int32', 'a buffer starts before the batch', (all) => setBuffer(last(all), 1, 'offset', -8), /beyond the batch/],
    ['int32', 'a buffer is 2³⁰ bytes', (all) => setBuffer(last(all), 1, 'length', 2 ** 30), /beyond the batch/],
    ['int32', 'a buffer is short', (all) => setBuffer(last(all), 1, 'length', 16), needed],
    ['string', 'the offsets are short', (all) => setBuffer(last(all), 1, 'length', 16), needed],
    ['string', 'the text is short', (all) => setBuffer(last(all), 2, 'length', 16), refers],
    ['int32', 'the validity is short', (all) => setBuffer(last(all), 0, 'length', 1), needed],
    ['dictionary32', 'the dictionary has no values', (all) => setNode(all[1]!, 0, 'length', 0), /claims 0 values/],
    [
      'int32',
      'the list of buffers is endless',
      (all) => setCount(last(all), 2, 2 ** 31 - 1),
      /ends beyond the metadata/,
    ],
    ['int32', 'the list of buffers is short', (all) => setCount(last(all), 2, 1), /1 nodes and 1 buffers/],
    ['int32', 'the list of columns is endless', (all) => setCount(all[0]!, 1, 2 ** 31 - 1), /ends beyond the metadata/],
  ];

  for (const [shape, what, edit, message] of edits) {
    test(`is refused: ${shape}, ${what}`, async () => {
      const bytes = shapes.bytesOf(shape);
      edit(messagesIn(bytes));
      for (const [reader, read] of Object.entries(readers))
        await assert.rejects(read(bytes), isIpcError('invalid', message), reader);
    });
  }

  test('is refused: a dictionary is missing', async () => {
    const bytes = shapes.bytesOf('dictionary32');
    const { metadata, body } = messagesIn(bytes)[1]!;
    const from = bytes.indexOf(metadata) - 8;
    const without = Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + 8 + metadata.length + body.length)]);
    for (const read of Object.values(readers))
      await assert.rejects(read(without), isIpcError('invalid', /lacks the dictionary 0/));
  });

  test('with a column without a name is one table', async () => {
    const table = tableFromArrays({ '': [1, 2], b: ['x', null] });
    const found = await readers.streams(tableToIPC(table, 'stream'));
    assert.equal(found[0], ': double, b: dictionary<int32, utf8>');
    for (const read of Object.values(readers)) assert.deepEqual(await read(tableToIPC(table, 'stream')), found);
  });

  test('keeps keys and views of nulls, which may be anything', async () => {
    for (const [shape, edit] of [
      ['dictionary32', int32(1, 3, 99)],
      ['string_view', int32(1, 3 * 4, -7)],
    ] as const) {
      const bytes = shapes.bytesOf(shape);
      edit(messagesIn(bytes));
      for (const read of Object.values(readers)) assert.equal((await read(bytes))[1 + 3], 'null');
    }
  });

  test('with more rows than requested is refused before they are read', async () => {
    const bytes = shapes.bytesOf('null');
    setRows(last(messagesIn(bytes)), 2_000_000_000);
    setNode(last(messagesIn(bytes)), 0, 'length', 2_000_000_000);
    setNode(last(messagesIn(bytes)), 0, 'nulls', 2_000_000_000);
    await assert.rejects(tableOf(bytes, 3), isIpcError('surplus', /2000000000 rows or more, but 3 were requested/));
    const whole = shapes.bytesOf('int32');
    const { length } = last(messagesIn(whole)).body;
    await assert.rejects(tableOf(whole.subarray(0, -length), 3), isIpcError('surplus', /64 rows or more/));
    assert.equal((await tableOf(whole, 64)).numRows, 64);
  });

  test('that claims a longer body than its buffers need is refused before it is read', async () => {
    const bytes = shapes.bytesOf('int32');
    const { metadata, table } = last(messagesIn(bytes));
    metadata.writeBigInt64LE(BigInt(2 ** 31 - 8), table.position(3));
    await assert.rejects(tableOf(bytes), isIpcError('invalid', /claims 2147483640 bytes/));
    await assert.rejects(readers.browser(bytes), isIpcError('invalid', /claims 2147483640 bytes/));
  });

  test('with columns of the same name keeps the values of each', async () => {
    const expected = ['x: int32, x: utf8, x: double'].concat(
      ['1', '-2147483648', '93', '-2147483648', '93'],
      ['a', 'b', 'c', 'b', 'c'],
      ['2.5', 'null', '1', 'null', '1'],
    );
    for (const read of Object.values(readers)) assert.deepEqual(await read(shapes.bytesOf('duplicates')), expected);
    const table = await tableOf(shapes.bytesOf('duplicates'));
    assert.deepEqual(await readers.node(tableToIPC(table, 'stream')), expected);
    assert.equal(table.slice(1, 3).getChildAt(0)!.get(1), 93);
    assert.equal(table.concat(table).numRows, 10);
  });

  test('with any one byte of its metadata or offsets changed is read or refused, and soon', async () => {
    // A fixed sequence of numbers, so that a failure can be repeated.
    let seed = 1;
    const next = (end: number): number => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((seed / 2 ** 32) * end);
    };
    const counts = { read: 0, refused: 0 };
    for (const name of shapes.names) {
      for (let round = 0; round < 100; round++) {
        const bytes = shapes.bytesOf(name);
        const messages = messagesIn(bytes);
        const { metadata, body } = messages[next(messages.length)]!;
        const target = body.length > 0 && round % 4 === 0 ? body : metadata;
        const [at, value] = [next(target.length), next(256)];
        target[at] = value;
        const start = performance.now();
        for (const reader of ['streams', 'node'] as const) {
          try {
            await readers[reader](bytes);
            counts.read++;
          } catch (error) {
            const what = `${name}, byte ${at} of ${target === body ? 'body' : 'metadata'} is ${value}: ${String(error)}`;
            assert.ok(error instanceof Error && error.name === 'IpcError', what);
            counts.refused++;
          }
        }
        assert.ok(performance.now() - start < 3000, `${name}, byte ${at} is ${value}: slow`);
      }
    }
    assert.ok(counts.read > 100 && counts.refused > 100, JSON.stringify(counts));
  });
});
