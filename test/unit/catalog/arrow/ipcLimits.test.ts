import assert from 'node:assert/strict';
import { zstdCompressSync } from 'node:zlib';
import { compressionRegistry, CompressionType, makeVector, RecordBatchStreamWriter, Table, tableToIPC } from '#arrow';
import { ipcMessages } from '#catalog/arrow/ipcMessages.ts';
import { IpcError } from '#shared/arrow/ipcError.ts';
import { readIpc } from '#catalog/arrow/ipcReader.ts';

const megabyte = 2 ** 20;

/** Returns eight columns of a megabyte of zeros, compressed to a few hundred bytes. */
function compressed(): Uint8Array {
  const codec = compressionRegistry.get(CompressionType.ZSTD)!;
  compressionRegistry.set(CompressionType.ZSTD, { ...codec, encode: (bytes) => zstdCompressSync(bytes) });
  const writer = new RecordBatchStreamWriter({ compressionType: CompressionType.ZSTD });
  const names = Array.from({ length: 8 }, (_, index) => `c${index}`);
  writer.writeAll(
    new Table(Object.fromEntries(names.map((name) => [name, makeVector(new Float64Array(megabyte / 8))]))),
  );
  const bytes = writer.finish().toUint8Array(true);
  compressionRegistry.set(CompressionType.ZSTD, codec);
  return bytes;
}

// oxlint-disable-next-line typescript/require-await
async function* inPieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function rowsOf(bytes: Uint8Array, limit?: number): Promise<number> {
  let rows = 0;
  for await (const batch of (await readIpc(inPieces(bytes, 2 ** 20), limit)).batches) rows += batch.numRows;
  return rows;
}

suite('Arrow data that claims to be large', function () {
  this.timeout(20_000);

  test('is refused where the buffers of a batch are more than the limit together', async () => {
    const bytes = compressed();
    assert.ok(bytes.length < 10_000);
    assert.equal(await rowsOf(bytes, 8 * megabyte), megabyte / 8);
    await assert.rejects(rowsOf(bytes, 7 * megabyte), (error) => {
      return error instanceof IpcError && error.problem === 'malformed' && error.message.includes(String(7 * megabyte));
    });
    // Bytes that one reader has decompressed must not count for the next reader.
    assert.equal(await rowsOf(bytes, 8 * megabyte), megabyte / 8);
  });

  test('takes no memory before it comes', async () => {
    const claimed = Buffer.from(tableToIPC(new Table({ x: makeVector(new Float64Array(2 ** 24)) }), 'stream'));
    // Count allocations, because the memory of the process also shrinks when earlier buffers are collected.
    const allocate = Buffer.allocUnsafeSlow.bind(Buffer);
    const original = Object.getOwnPropertyDescriptor(Buffer, 'allocUnsafeSlow')!;
    let asked = 0;
    Buffer.allocUnsafeSlow = (size) => {
      asked += size;
      return allocate(size);
    };
    try {
      const messages = ipcMessages(inPieces(claimed.subarray(0, megabyte), megabyte));
      await messages.next();
      await assert.rejects(messages.next(), (error) => error instanceof IpcError && error.problem === 'cut');
    } finally {
      Object.defineProperty(Buffer, 'allocUnsafeSlow', original);
    }
    assert.ok(asked > megabyte && asked < 32 * megabyte, `${asked} bytes`);
  });

  test('is read whole when it does come', async () => {
    const values = Float64Array.from({ length: 3 * megabyte }, (_, index) => index);
    const bytes = tableToIPC(new Table({ x: makeVector(values) }), 'stream');
    const { batches } = await readIpc(inPieces(bytes, 1_000_003));
    const read: unknown[] = [];
    for await (const batch of batches) read.push(batch.getChildAt(0)!.toArray());
    assert.equal(read.length, 1);
    assert.ok(Buffer.from(values.buffer).equals(Buffer.from((read[0] as Float64Array).slice().buffer)));
  });
});
