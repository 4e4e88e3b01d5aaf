import assert from 'node:assert/strict';
import { Field, Int64, makeData, RecordBatch, Schema, Struct, tableFromIPC, vectorFromArray } from '#arrow';
import { encodeBatches } from '#engine/batches/ipcStream.ts';

function batch(ids: bigint[], nullable: boolean): RecordBatch {
  const schema = new Schema([new Field('id', new Int64(), nullable)]);
  const children = [vectorFromArray(ids, new Int64()).data[0]!];
  return new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: ids.length, children }));
}

suite('batches encoded as Arrow', () => {
  test('are all there though they differ in what may be null, in either format', async () => {
    const schema = new Schema([new Field('id', new Int64(), true)]);
    for (const format of ['file', 'stream'] as const) {
      async function* batches(): AsyncGenerator<RecordBatch> {
        yield batch([1n, 2n], false);
        await Promise.resolve();
        yield batch([3n], true);
        yield batch([4n], false);
      }
      const chunks: Uint8Array[] = [];
      for await (const chunk of encodeBatches(format, schema, batches())) chunks.push(chunk);
      const read = tableFromIPC(Buffer.concat(chunks));
      assert.deepEqual([...read.getChild('id')!], [1n, 2n, 3n, 4n], format);
      assert.equal(read.schema.fields[0]!.nullable, true);
    }
  });
});
