import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RecordBatch, Table, tableFromIPC, tableToIPC } from '#arrow';
import { ipcMessages } from '#catalog/arrow/ipcMessages.ts';
import { IpcError } from '#shared/arrow/ipcError.ts';
import { readIpc } from '#catalog/arrow/ipcReader.ts';
import { python } from '../../../harness/needs/python.ts';
import { tempFolder } from '../../../harness/temp.ts';

// The data of these tests is from another writer: pyarrow writes it and prints its content as JSON. There are streams
// and files, with and without compressed buffers, several batches, replaced and extended dictionaries, nested and large
// types.

const writer = `
import sys, json, datetime, decimal
import pyarrow as pa
folder = sys.argv[1]
n = 3000
def some(i, value): return None if i % 7 == 0 else value
def rows(start):
    ids = range(start, start + n)
    return pa.record_batch({
        "id": pa.array(ids, pa.int64()),
        "text": pa.array([some(i, f"Zeile {i} – ✓" * (i % 5)) for i in ids], pa.utf8()),
        "same": pa.array([12345] * n, pa.uint64()),
        "noise": pa.array([(i * 2654435761) % 4294967296 for i in ids], pa.uint32()),
        "flag": pa.array([some(i, i % 2 == 0) for i in ids]),
        "list": pa.array([some(i, list(range(i % 4))) for i in ids], pa.list_(pa.int32())),
        "large": pa.array([some(i, "L" * (i % 9)) for i in ids], pa.large_utf8()),
        "vector": pa.array([[i, 0.5, -1] for i in ids], pa.list_(pa.float32(), 3)),
        "place": pa.array([some(i, {"x": i, "y": None if i % 5 == 0 else str(i)}) for i in ids]),
        "price": pa.array([some(i, decimal.Decimal(i).scaleb(-2)) for i in ids], pa.decimal128(20, 2)),
        "country": pa.array([some(i, "DE FR IT".split()[i % 3] + str(start)) for i in ids]).dictionary_encode(),
        "nothing": pa.nulls(n),
    })
first, second = rows(0), rows(n)
unified = pa.Table.from_batches([first, second]).unify_dictionaries().to_batches()
def text(value): return value.hex() if isinstance(value, bytes) else str(value)
expected = [row for batch in (first, second) for row in batch.to_pylist()]
json.dump(expected, open(f"{folder}/expected.json", "w"), default=text)
for codec in (None, "lz4", "zstd"):
    options = pa.ipc.IpcWriteOptions(compression=codec)
    deltas = pa.ipc.IpcWriteOptions(compression=codec, emit_dictionary_deltas=True)
    name = codec or "plain"
    for kind, batches, make, how in (
        ("stream", (first, second), pa.ipc.new_stream, options),
        ("deltas", unified, pa.ipc.new_stream, deltas),
        ("file", unified, pa.ipc.new_file, options),
        ("old", (first, second), pa.ipc.new_stream, pa.ipc.IpcWriteOptions(metadata_version=pa.ipc.MetadataVersion.V4, use_legacy_format=True)),
    ):
        with make(f"{folder}/{kind}.{name}", first.schema, options=how) as out:
            for batch in batches: out.write_batch(batch)
    with pa.ipc.new_file(f"{folder}/none.{name}", first.schema, options=options): pass
`;

const folder = tempFolder();
const kinds = ['stream', 'deltas', 'file', 'old'] as const;
const codecs = ['plain', 'lz4', 'zstd'] as const;
const bytesOf = (name: string): Buffer => readFileSync(join(folder, name));

/** Yields the bytes in parts, as a connection does. */
async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) {
    // Copy each chunk to an odd position, because no code may rely on the position of a chunk in its buffer.
    const copy = new Uint8Array(Math.min(size, bytes.length - at) + 1).subarray(1);
    copy.set(bytes.subarray(at, at + copy.length));
    yield copy;
  }
}

async function read(bytes: Uint8Array, size = 65_536): Promise<Table> {
  const { schema, batches } = await readIpc(pieces(bytes, size));
  const all: RecordBatch[] = [];
  for await (const batch of batches) all.push(batch);
  return new Table(schema, all);
}

/** Returns rows in the form of pyarrow: numbers and strings, decimals as strings. */
function plainRows(table: Table): unknown[] {
  const scale = 100n;
  const decimal = (words: Uint32Array): string => {
    const unscaled = words.reduceRight((total, word) => (total << 32n) + BigInt(word), 0n);
    return `${unscaled / scale}.${String(unscaled % scale).padStart(2, '0')}`;
  };
  return table.toArray().map((row) => {
    const { price, ...rest } = row.toJSON();
    const values: unknown = JSON.parse(
      JSON.stringify({ ...rest, price: null }, (_, value: unknown) =>
        typeof value === 'bigint' ? Number(value) : value,
      ),
    );
    return { ...(values as object), price: price === null ? null : decimal(price as Uint32Array) };
  });
}

const isCut = (error: unknown): boolean => error instanceof IpcError && error.problem === 'cut';

suite('Arrow data of other writers', function () {
  this.timeout(60_000);
  let expected: unknown[];

  suiteSetup(() => {
    const { status, stderr } = spawnSync(python(), ['-c', writer, folder], { encoding: 'utf8', timeout: 50_000 });
    assert.equal(status, 0, stderr);
    expected = JSON.parse(bytesOf('expected.json').toString()) as unknown[];
  });

  for (const kind of kinds) {
    for (const codec of codecs) {
      test(`is read as it was written: ${kind}, ${codec}`, async () => {
        const table = await read(bytesOf(`${kind}.${codec}`));
        assert.equal(table.batches.length, 2);
        assert.deepEqual(plainRows(table), expected);
      });
    }
  }

  test('is read in pieces of any size', async () => {
    for (const size of [1, 3, 7, 1 << 20]) {
      const table = await read(bytesOf('file.lz4'), size);
      assert.deepEqual([...table.getChild('id')!], [...tableFromIPC(bytesOf('file.plain')).getChild('id')!]);
    }
  });

  test('can be written again once it was decompressed', async () => {
    const again = tableFromIPC(tableToIPC(await read(bytesOf('stream.zstd')), 'stream'));
    assert.deepEqual(plainRows(again), expected);
  });

  test('without a batch still has its schema', async () => {
    for (const codec of codecs) {
      const table = await read(bytesOf(`none.${codec}`));
      assert.equal(table.numRows, 0);
      assert.equal(String(table.schema.fields[1]), 'text: Utf8');
    }
  });

  test('that is cut off anywhere is never read as a shorter table', async () => {
    for (const name of ['stream.plain', 'file.lz4', 'old.plain']) {
      const bytes = bytesOf(name);
      const cuts = Array.from({ length: 60 }, (_, index) => Math.floor((bytes.length * index) / 60));
      // Cut at the ends of messages, so that all remaining messages are complete; the last bytes are the end mark or
      // the footer.
      for (const cut of [
        ...cuts,
        bytes.length - 1,
        bytes.length - 4,
        bytes.length - 6,
        bytes.length - 8,
        bytes.length - 10,
      ]) {
        await assert.rejects(read(bytes.subarray(0, cut)), isCut, `${name} cut at ${cut} of ${bytes.length}`);
      }
    }
  });

  test('that is something else is an error and not a table', async () => {
    const html = Buffer.from('<!doctype html><html><body>Sign in first</body></html>'.repeat(20));
    for (const bytes of [html, Buffer.from('{"error":"no"}'), Buffer.alloc(4000), Buffer.alloc(64, 0x41)]) {
      await assert.rejects(read(bytes), IpcError);
    }
  });

  test('that is damaged is an error or other values, and never runs on', async () => {
    const bytes = bytesOf('stream.lz4');
    for (let at = 0; at < bytes.length; at += Math.floor(bytes.length / 150)) {
      const damaged = Buffer.from(bytes);
      damaged[at] = damaged[at]! ^ 0x55;
      await read(damaged).catch((error: unknown) => assert.ok(error instanceof IpcError, String(error)));
    }
  });

  test('gives a batch as soon as its last byte is there', async () => {
    const bytes = bytesOf('stream.plain');
    const end = await endOfFirstBatch(bytes);
    const silent = (async function* () {
      yield bytes.subarray(0, end);
      // From here on no more data arrives.
      await new Promise(() => undefined);
    })();
    const { batches } = await readIpc(silent);
    for await (const batch of batches) {
      assert.equal(batch.numRows, 3000);
      return;
    }
  });
});

/** Returns the end of the first record batch of a stream. */
async function endOfFirstBatch(bytes: Buffer): Promise<number> {
  let end = 0;
  for await (const message of ipcMessages(pieces(bytes, bytes.length))) {
    end += message.bytes.length;
    if (message.kind === 'batch') return end;
  }
  throw new Error('There is no batch.');
}
