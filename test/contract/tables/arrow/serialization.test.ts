import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { request } from 'node:http';
import {
  Binary,
  Bool,
  DateDay,
  Decimal,
  Dictionary,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int32,
  Int64,
  List,
  Schema,
  Struct,
  type Table,
  tableFromIPC,
  TimestampMicrosecond,
  Utf8,
} from '#arrow';
import { inferRows } from '#catalog/arrow/inferRows.ts';
import { encodeBatches, rowsOfFile, streamOfFile, streamOfFiles } from '#engine/batches/ipcStream.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import type { DirTable } from '#engine/dir/dirTable.ts';
import { arrowFileMime, arrowStreamMime } from '#shared/mime.ts';
import { python } from '../../../harness/needs/python.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { type RawEngine, startRawEngine } from '../../engine/rawEngine.ts';

// The length of a stream proves nothing: the wrong copy of Arrow writes short and unreadable streams without an error.
// So pyarrow, which is independent of this project, reads the bytes, and the test compares its rows.

const schema = new Schema([
  new Field('id', new Int64(), false),
  new Field('name', new Utf8(), true),
  new Field('ok', new Bool(), true),
  new Field('ratio', new Float64(), true),
  new Field('price', new Decimal(2, 10, 128), true),
  new Field('at', new TimestampMicrosecond('UTC'), true),
  new Field('day', new DateDay(), true),
  new Field('bytes', new Binary(), true),
  new Field('tags', new List(new Field('item', new Utf8(), true)), true),
  new Field('vector', new FixedSizeList(3, new Field('item', new Float32(), true)), true),
  new Field('place', new Struct([new Field('x', new Int32(), true), new Field('y', new Utf8(), true)]), true),
  new Field('country', new Dictionary(new Utf8(), new Int32(), 1), true),
]);

const rowCount = 3000;
const rows = Array.from({ length: rowCount }, (_, row) => ({
  id: row,
  name: row % 7 === 0 ? null : `Zeile ${row} – ✓`,
  ok: row % 2 === 0,
  ratio: row / 3,
  price: `${row}.${String(row % 100).padStart(2, '0')}`,
  at: new Date(Date.UTC(2025, 0, 1) + row * 1000),
  day: new Date(Date.UTC(2025, 0, 1 + (row % 365))),
  bytes: Uint8Array.of(row & 255, 0, 255),
  tags: row % 3 === 0 ? [] : ['a', `b${row}`],
  vector: row % 11 === 0 ? null : [row, 0.5, -1],
  place: { x: row, y: row % 5 === 0 ? null : 'here' },
  country: ['DE', 'FR', 'IT'][row % 3]!,
}));

/** The rows as pyarrow writes them: JSON, times in microseconds, bytes in hexadecimal. */
const expected = rows.map((row) => ({
  ...row,
  at: row.at.getTime() * 1000,
  day: row.day.toISOString().slice(0, 10),
  bytes: Buffer.from(row.bytes).toString('hex'),
}));

const reader = `
import sys, json, datetime, decimal
import pyarrow as pa
data = sys.stdin.buffer.read()
source = pa.BufferReader(data)
table = (pa.ipc.open_file(source) if data[:6] == b"ARROW1" else pa.ipc.open_stream(source)).read_all()
table.validate(full=True)
def plain(value):
    if isinstance(value, bytes): return value.hex()
    if isinstance(value, datetime.datetime): return round(value.timestamp() * 1000000)
    return str(value)
print(json.dumps(table.to_pylist(), default=plain))
`;

function readByPyarrow(bytes: Uint8Array): unknown {
  const { status, stdout, stderr } = spawnSync(python(), ['-c', reader], {
    input: bytes,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    timeout: 60_000,
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

async function joined(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

suite('serialised tables, read back by pyarrow', function () {
  this.timeout(90_000);
  const root = tempFolder();
  let engine: RawEngine;
  let table: DirTable;

  suiteSetup(async () => {
    const db = await openDir({ root });
    table = await db.createTable('t', inferRows(rows, schema));
    engine = await startRawEngine();
  });
  suiteTeardown(() => engine.stop());

  const query = async (accept: string | undefined, body: object): Promise<{ type: string; bytes: Uint8Array }> => {
    const options = { method: 'POST', path: '/v1/table/t/query', headers: engine.headers(root) };
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          ...options,
          socketPath: engine.socket,
          headers: { ...options.headers, 'content-type': 'application/json', ...(accept && { accept }) },
        },
        (response) => {
          joined(response).then(
            (bytes) => resolve({ type: response.headers['content-type'] ?? '', bytes }),
            (error: unknown) => reject(error as Error),
          );
        },
      );
      sent.once('error', reject);
      sent.end(JSON.stringify({ vector: {}, k: rowCount, ...body }));
    });
  };

  test('a stream of the engine over REST', async () => {
    const { type, bytes } = await query(arrowStreamMime, {});
    assert.equal(type, arrowStreamMime);
    assert.deepEqual(readByPyarrow(bytes), expected);
  });

  test('a file of the engine over REST, which is what the specification answers with', async () => {
    const { type, bytes } = await query(undefined, {});
    assert.equal(type, arrowFileMime);
    assert.equal(Buffer.from(bytes.subarray(0, 6)).toString(), 'ARROW1');
    assert.deepEqual(readByPyarrow(bytes), expected);
  });

  test('a stream and a file of no rows', async () => {
    for (const accept of [arrowStreamMime, undefined]) {
      const { bytes } = await query(accept, { filter: 'id < 0' });
      assert.deepEqual(readByPyarrow(bytes), []);
      assert.deepEqual(
        tableFromIPC(bytes).schema.fields.map(({ name }) => name),
        schema.fields.map(({ name }) => name),
      );
    }
  });

  test("the engine's own buffers cut into one stream", async () => {
    const native = await table.executeIpc({});
    assert.ok(native && 'buffers' in native, 'the engine has no buffers to pass on');
    assert.deepEqual(readByPyarrow(await joined(streamOfFiles(native.schema, native.buffers))), expected);
  });

  test('a page of one buffer, and the number of its rows', async () => {
    const page = await table.executeIpc({ limit: 10, offset: 5 });
    assert.ok(page && 'only' in page, 'a page of ten rows came in several buffers');
    assert.equal(rowsOfFile(page.only), 10);
    assert.deepEqual(readByPyarrow(streamOfFile(page.only)), expected.slice(5, 15));
    const end = await table.executeIpc({ limit: 10, offset: rowCount - 4 });
    assert.ok(end && 'buffers' in end, 'fewer rows than the limit can have others after them');
    assert.deepEqual(readByPyarrow(await joined(streamOfFiles(end.schema, end.buffers))), expected.slice(-4));
  });

  test('pages that begin in one file of the table and end in another', async () => {
    const db = await openDir({ root });
    const twice = await db.createTable('twice', inferRows(rows, schema));
    await twice.add(inferRows(rows, schema));
    const page = await twice.executeIpc({ limit: 20, offset: rowCount - 10 });
    assert.ok(page && 'buffers' in page, 'rows of two files came in one buffer');
    const found = readByPyarrow(await joined(streamOfFiles(page.schema, page.buffers)));
    assert.deepEqual(found, [...expected.slice(-10), ...expected.slice(0, 10)]);
  });

  test('batches encoded again, in both formats', async () => {
    for (const format of ['stream', 'file'] as const) {
      const { schema: found, batches } = await table.query().execute();
      assert.deepEqual(readByPyarrow(await joined(encodeBatches(format, found, batches))), expected);
    }
  });

  test('rows sent to a server and read from it', async () => {
    const { EngineProcess } = await import('#catalog/engineProcess.ts');
    const { engineEntry } = await import('../../subjects.ts');
    const process_ = await EngineProcess.start({ entry: engineEntry(), node: { path: process.execPath, env: {} } });
    try {
      const db = process_.catalog(tempFolder());
      const made = await db.createTable('copy', inferRows(rows, schema));
      const bytes = await made.queryIpc({});
      assert.deepEqual(readByPyarrow(bytes), expected);
      const decoded: Table = await made.toArrow();
      assert.equal(decoded.numRows, rowCount);
      assert.deepEqual(
        decoded.getChild('id')?.toArray(),
        BigInt64Array.from(rows, ({ id }) => BigInt(id)),
      );
      assert.deepEqual(
        [...decoded.getChild('name')!],
        rows.map(({ name }) => name),
      );
    } finally {
      await process_.dispose();
    }
  });
});
