import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { JobFolders } from '#jobs/records/jobFolder.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { isActive } from '#shared/jobs/jobLabels.ts';
import { isRecord } from '#shared/records.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { tempFolder } from '../../harness/temp.ts';
import { eventually } from '../eventually.ts';
import { countingJobs, pidOf, soon, type Counting } from './countingJobs.ts';

/** Yields all files below a folder with their content. A job that ends removes files meanwhile; these are left out. */
function* filesBelow(folder: string): Generator<{ path: string; text: string }> {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile()) continue;
    let text: string;
    try {
      text = readFileSync(path, 'latin1');
    } catch (error) {
      if (isRecord(error) && error['code'] === 'ENOENT') continue;
      throw error;
    }
    yield { path, text };
  }
}

/** Fills a disk completely. */
function fillDisk(folder: string): void {
  const file = openSync(join(folder, 'filler'), 'w');
  try {
    for (let size = 64 << 10; size > 0;) {
      try {
        writeSync(file, Buffer.alloc(size, 1));
      } catch {
        size >>= 1;
      }
    }
  } finally {
    closeSync(file);
  }
}

suite('A job whose surroundings fail', function () {
  this.timeout(90_000);

  test('goes on when what started it is killed with all of its group', async () => {
    const counting = await countingJobs();
    const args = [
      inRoot('test/contract/backfill/startAndWait.ts'),
      counting.folder,
      JSON.stringify(counting.request()),
    ];
    const starter = spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
    assert.ok(starter.pid);
    const [line] = (await once(starter.stdout, 'data')) as [Buffer];
    const id = line.toString().trim();
    process.kill(-starter.pid, 'SIGKILL');
    await once(starter, 'exit');
    const { state } = await counting.jobs.view(id, soon());
    assert.ok(isActive({ state }), state);
    counting.allow(10);
    assert.equal((await counting.until(id, (view) => !isActive(view))).state, 'succeeded');
  });

  test('is one job when two processes start it in the same moment', async () => {
    const counting = await countingJobs();
    const args = [
      inRoot('test/contract/backfill/startAndWait.ts'),
      counting.folder,
      JSON.stringify(counting.request()),
    ];
    const starters = [1, 2].map(() => spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }));
    const ids = await Promise.all(starters.map(async ({ stdout }) => String((await once(stdout, 'data'))[0]).trim()));
    for (const starter of starters) starter.kill('SIGKILL');
    assert.equal(ids[0], ids[1]);
    assert.deepEqual(
      (await counting.jobs.list(soon())).map((view) => view.id),
      [ids[0]],
    );
    counting.allow(10);
  });

  test('comes to its end on a disk that is full, and the record says so', async function () {
    // Creating a small disk requires the right to mount.
    if (process.getuid?.() !== 0) return this.skip();
    const disk = join(tempFolder(), 'disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', disk]);
    try {
      const counting = await countingJobs(join(disk, 'jobs'));
      counting.allow(2);
      const { id } = await counting.jobs.start(counting.request(), soon());
      await counting.until(id, (view) => view.fragments.done === 2);
      fillDisk(disk);
      assert.equal(statfsSync(disk).bavail, 0);
      await assert.rejects(
        counting.jobs.start(counting.request({ column: 'other' }), soon()),
        (error) => isJobError(error) && error.kind === 'StorageFull',
      );
      assert.equal((await counting.jobs.list(soon())).length, 1, 'and leaves no half of a record');
      counting.allow(10);
      const done = await counting.until(id, (view) => !isActive(view));
      assert.equal(done.state, 'succeeded');
      assert.deepEqual(done.fragments, { done: 10, total: 10 });
      rmSync(join(disk, 'filler'));
      const lines = readFileSync(join(counting.folder, id, 'events.ndjson'), 'utf8').split('\n');
      const whole = lines.filter((line) => line.startsWith('{') && line.endsWith('}'));
      assert.ok(whole.length > 2);
      for (const line of whole) assert.doesNotThrow(() => JSON.parse(line) as unknown, line);
    } finally {
      execFileSync('umount', ['--lazy', disk]);
    }
  });

  test('can be read while its record is replaced', async () => {
    const counting = await countingJobs();
    counting.allow(10);
    const { id } = await counting.jobs.start(counting.request(), soon());
    const folders = new JobFolders(counting.folder);
    let reads = 0;
    for await (const { state } of counting.jobs.follow(id, soon())) {
      const until = Date.now() + 200;
      for (; Date.now() < until; reads++) assert.ok(folders.read(id), 'a record is whole at any moment');
      if (state === 'succeeded') break;
    }
    assert.ok(reads > 100, `${reads} reads`);
  });
});

suite('Secrets of a job', function () {
  this.timeout(90_000);
  const planted = 'PLANTED-sEcReT-0123456789';
  let counting: Counting;
  let secretly: BackfillRequest;
  setup(async () => {
    counting = await countingJobs();
    const { catalog, ...table } = counting.request().table;
    assert.ok(catalog.implementation === 'dir');
    secretly = counting.request({
      table: { ...table, catalog: { ...catalog, storageOptions: { aws_secret_access_key: `${planted}-store` } } },
      ray: { address: 'http://127.0.0.1:8265', token: `${planted}-ray` },
    });
  });

  test('are in no file and no argument, though the runner tells them to everybody', async () => {
    counting.allow('tell');
    const { id } = await counting.jobs.start(secretly, soon());
    await eventually(async () => {
      const { text } = await counting.jobs.log(id, 0, soon());
      assert.match(text, /connecting with .*"aws_secret_access_key":"•••"/, 'it was told');
    });
    const pid = pidOf(counting, id);
    assert.ok(!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(planted));
    counting.allow(10);
    await counting.until(id, (view) => !isActive(view));
    const files = [...filesBelow(counting.folder)];
    assert.ok(files.some(({ path }) => path.endsWith('events.ndjson')));
    for (const { path, text } of files) assert.ok(!text.includes(planted), path);
    assert.ok(!JSON.stringify(await counting.jobs.list(soon())).includes(planted));
  });

  test('are asked for again when the job is resumed', async () => {
    const { id } = await counting.jobs.start(secretly, soon());
    await counting.jobs.cancel(id, soon());
    await assert.rejects(counting.jobs.resume(id, {}, soon()), (error) => {
      assert.ok(isJobError(error) && error.kind === 'RequestInvalid');
      assert.match(error.message, /needs the credentials of/);
      return true;
    });
    counting.allow(10);
    await counting.jobs.resume(id, { request: secretly }, soon());
    assert.equal((await counting.until(id, (view) => !isActive(view))).state, 'succeeded');
  });

  test('leave files that others can not read', async () => {
    const { id } = await counting.jobs.start(secretly, soon());
    for (const name of readdirSync(join(counting.folder, id)))
      assert.equal(statSync(join(counting.folder, id, name)).mode & 0o077, 0, name);
    counting.allow(10);
  });
});
