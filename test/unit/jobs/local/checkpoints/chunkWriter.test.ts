import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Field, Int32, makeVector, tableFromArrays } from '#arrow';
import { Checkpoints } from '#jobs/local/checkpoints/checkpoints.ts';
import { ChunkWriter } from '#jobs/local/checkpoints/chunkWriter.ts';
import { FolderStore } from '#jobs/local/checkpoints/folderStore.ts';
import { contextOf, rowFunction } from '../../../../contract/backfill/local/localJobs.ts';
import { tempFolder } from '../../../../harness/temp.ts';

test('What is computed is kept every ten seconds, however few rows it is', async () => {
  const folder = tempFolder();
  const { spec } = contextOf({
    catalog: { implementation: 'dir', root: folder },
    table: 't',
    function: rowFunction('n', ''),
  }).context;
  const checkpoints = new Checkpoints(new FolderStore(folder), spec, new Field('n', new Int32(), true));
  const header = { jobId: 'bf-a', functionHash: spec.function.hash, column: 'n', where: null, readVersion: 1 };
  let now = 0;
  const writer = new ChunkWriter(checkpoints, header, 100, () => now);
  const [inputs] = tableFromArrays({ n: Int32Array.of(1) }).batches;
  for (let row = 0; row < 4; row++, now += 4000) {
    const addresses = BigUint64Array.of(BigInt(row));
    const parts = { addresses, hashes: addresses, key: undefined, value: makeVector(Int32Array.of(row)).data[0]! };
    const rows = { fragment: 0, ...parts, states: new Uint8Array(1) };
    const read = { fragment: 0, addresses, inputs: inputs!, key: undefined, value: undefined };
    await writer.add({ rows, errors: [null], read, isReused: false });
  }
  assert.deepEqual(readdirSync(join(folder, checkpoints.path)), ['f0-0-4.arrow']);
});
