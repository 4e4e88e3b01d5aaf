import assert from 'node:assert/strict';
import { tableFromIPC } from '#arrow';
import { JobFolders } from '#jobs/records/jobFolder.ts';
import { openJobLog } from '#jobs/records/jobLog.ts';
import { openJobs } from '#jobs/service/openJobs.ts';
import { serverJobs } from '#jobs/service/serverJobs.ts';
import { newJobId } from '#shared/jobs/jobId.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { recordFor } from '../recordFor.ts';

suite('The jobs of a server', () => {
  test('tell all lines of a log, however long it is', async () => {
    const folders = new JobFolders(tempFolder());
    const id = newJobId(1, new Uint8Array(8));
    const place = { catalog: { implementation: 'dir', root: '/data' }, namespacePath: ['eu'], name: 'words' } as const;
    const { table } = recordFor(id);
    folders.create(recordFor(id, { table: { ...table, catalog: '/data' } }), { table: place, column: 'length' });
    const log = openJobLog(folders.of(id));
    for (let line = 0; line < 40; line++) log.write(`${line} ${'é'.repeat(6000)}\n`);
    log.close();
    const catalog = { location: '/data', namespacePath: [] };
    const jobs = serverJobs(openJobs({ folder: folders.root }));
    const { signal } = new AbortController();
    const lines = tableFromIPC(await jobs.events({ catalog, id, signal })).toArray();
    assert.deepEqual(
      lines.map(({ line }) => String(line).split(' ')[0]),
      Array.from({ length: 40 }, (_, line) => String(line)),
    );
  });
});
