import assert from 'node:assert/strict';
import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { makeVector, type RecordBatch, Table } from '#arrow';
import { Spool } from '#engine/batches/bufferedRows.ts';
import { tempFolder } from '../../../harness/temp.ts';

const batch = (from: number): RecordBatch =>
  new Table({ id: makeVector(Int32Array.from({ length: 1000 }, (_, row) => from + row)) }).batches[0]!;

async function* batches(): AsyncGenerator<RecordBatch> {
  for (let count = 0; count < 5; count++) yield batch(count * 1000);
}

suite('a spool', () => {
  let before: string | undefined;
  let folder: string;
  setup(() => {
    before = process.env['TMPDIR'];
    folder = tempFolder();
    process.env['TMPDIR'] = folder;
  });
  teardown(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  });

  const file = (): string => join(folder, readdirSync(folder)[0]!, 'rows.arrows');

  test('gives back what it was given, as often as asked, and leaves nothing behind', async () => {
    const spool = await Spool.of(batch(0).schema, batches());
    for (let time = 0; time < 2; time++) {
      const ids: number[] = [];
      for await (const one of spool.batches()) ids.push(...(one.getChildAt(0)!.toArray() as Int32Array));
      assert.deepEqual(ids, [...Array(5000).keys()]);
    }
    await spool.dispose();
    assert.deepEqual(readdirSync(folder), []);
  });

  test('that lost its end is refused, wherever it was cut', async () => {
    const spool = await Spool.of(batch(0).schema, batches());
    for (const lost of [8, 100, 4000, 4200]) {
      truncateSync(file(), statSync(file()).size - lost);
      await assert.rejects(
        async () => {
          for await (const one of spool.batches()) assert.ok(one.numRows > 0);
        },
        { name: 'IpcError' },
      );
    }
    await spool.dispose();
  });
});
