import assert from 'node:assert/strict';
import { Field, Int64, Schema, Table, tableToIPC, vectorFromArray } from '#arrow';
import { openArrow } from '#engine/server/arrowBody.ts';
import { isCatalogError } from '#shared/errors.ts';

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) {
    await Promise.resolve();
    yield bytes.subarray(start, start + size);
  }
}

const schema = new Schema([new Field('id', new Int64(), true)]);
const table = new Table(schema, { id: vectorFromArray([1n, 2n, 3n], new Int64()) });

async function read(bytes: Uint8Array, size = 7): Promise<bigint[]> {
  const body = await openArrow(pieces(bytes, size));
  const ids: bigint[] = [];
  for await (const batch of body.batches) for (const row of batch) ids.push(row['id'] as bigint);
  assert.equal(body.numRows, ids.length);
  return ids;
}

const invalid = (word: RegExp) => (error: unknown) => isCatalogError(error, 'InvalidInput') && word.test(error.message);

suite('an Arrow body', () => {
  test('is read in whatever pieces it comes', async () => {
    const bytes = tableToIPC(table, 'stream');
    for (const size of [1, 5, 64, bytes.length]) assert.deepEqual(await read(bytes, size), [1n, 2n, 3n]);
  });

  test('may be a schema alone', async () => {
    const bytes = tableToIPC(new Table(schema), 'stream');
    assert.deepEqual(
      (await openArrow(pieces(bytes, 9))).schema.fields.map(({ name }) => name),
      ['id'],
    );
    assert.deepEqual(await read(bytes), []);
  });

  test('is never a file, and the refusal says what to send', async () => {
    await assert.rejects(read(tableToIPC(table, 'file'), 3), invalid(/file.*stream/));
  });

  test('that is cut off anywhere is refused, and is no shorter table', async () => {
    const bytes = tableToIPC(table, 'stream');
    for (let length = 0; length < bytes.length; length++) {
      await assert.rejects(read(bytes.subarray(0, length), 50), invalid(/not an Arrow stream/), `cut at ${length}`);
    }
  });

  test('that is something else is refused', async () => {
    await assert.rejects(read(Buffer.from('<html>no such thing</html>'.repeat(20))), invalid(/not an Arrow stream/));
  });

  test('lets a failure of the connection through as it is', async () => {
    const bytes = tableToIPC(table, 'stream');
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield bytes.subarray(0, 40);
      throw new DOMException('', 'AbortError');
    }
    await assert.rejects(openArrow(broken()), { name: 'AbortError' });
  });
});
