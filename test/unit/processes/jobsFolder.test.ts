import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { mayHaveRunningJobs } from '#processes/jobsFolder.ts';
import { tempFolder } from '../../harness/temp.ts';

/** Creates a folder of jobs with one job, with or without a mark. */
function folderWith(mark: unknown): string {
  const folder = tempFolder();
  const job = join(folder, 'bf-00000000000000000a');
  mkdirSync(job);
  if (mark !== undefined)
    writeFileSync(join(job, 'process.json'), typeof mark === 'string' ? mark : JSON.stringify(mark));
  return folder;
}

suite('A look for jobs that run', () => {
  for (const [what, mark, found] of [
    ['finds one whose process runs', { pid: process.pid, host: hostname() }, true],
    ['finds one that another machine may run', { pid: 1, host: 'another.example' }, true],
    ['finds none whose process was killed', { pid: 2 ** 30, host: hostname() }, false],
    ['finds none that has ended', undefined, false],
    ['finds none in what nobody can read', '{"pid": ', false],
    ['takes no group of processes for one', { pid: -1, host: hostname() }, false],
  ] as const) {
    test(what, async () => assert.equal(await mayHaveRunningJobs(folderWith(mark)), found));
  }

  test('finds none where there never was one', async () => {
    assert.equal(await mayHaveRunningJobs(join(tempFolder(), 'none')), false);
  });
});
