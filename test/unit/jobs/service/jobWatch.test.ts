import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { JobFolders } from '#jobs/records/jobFolder.ts';
import type { JobRecord } from '#jobs/records/jobRecord.ts';
import { JobWatch } from '#jobs/service/jobWatch.ts';
import { newJobId } from '#shared/jobs/jobId.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { eventually } from '../../../contract/eventually.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { recordFor } from '../recordFor.ts';

const idAt = (time: number): string => newJobId(time, new Uint8Array(8));

suite('Who watches jobs', function () {
  this.timeout(40_000);

  test('sees the others where one of them can not be looked at', async () => {
    const folders = new JobFolders(tempFolder());
    const table = { catalog: { implementation: 'dir', root: '/data' }, namespacePath: [], name: 'words' } as const;
    folders.create(recordFor(idAt(1)), { table, column: 'length' });
    // A link to itself. Reading a file below it fails with "too many links".
    symlinkSync(idAt(2), join(folders.root, idAt(2)));
    const seen: string[] = [];
    const stop = new AbortController();
    const onChange = (changed: readonly { readonly id: string }[]): void =>
      void seen.push(...changed.map(({ id }) => id));
    const watching = new JobWatch(folders, onChange, { signal: stop.signal }).run();
    try {
      await eventually(() => assert.deepEqual(seen, [idAt(1)]));
    } finally {
      stop.abort();
      await watching;
    }
  });

  test('takes no job for cut off whose end is written while its process is asked after', async () => {
    const id = idAt(1);
    const folders = new JobFolders(tempFolder());
    const table = { catalog: { implementation: 'dir', root: '/data' }, namespacePath: [], name: 'words' } as const;
    const record = recordFor(id);
    const running: JobRecord = { ...record, progress: { ...record.progress, state: 'running' } };
    folders.create(running, { table, column: 'length' });
    const read = folders.read.bind(folders);
    // Simulates the job's process: it writes another record right after the record is read, and ends.
    folders.read = (asked) => {
      const found = read(asked);
      folders.write({ ...running, progress: { ...running.progress, state: 'succeeded' } }, { isLasting: false });
      return found;
    };
    const states: string[] = [];
    const stop = new AbortController();
    const onChange = (changed: readonly JobView[]): void => void states.push(...changed.map(({ state }) => state));
    const watching = new JobWatch(folders, onChange, { signal: stop.signal }).run();
    try {
      await eventually(() => assert.deepEqual(states, ['succeeded']));
    } finally {
      stop.abort();
      await watching;
    }
  });
});
