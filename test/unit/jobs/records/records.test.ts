import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { findProcess } from '#jobs/records/control.ts';
import { JobFolders } from '#jobs/records/jobFolder.ts';
import { openJobLog, readLog } from '#jobs/records/jobLog.ts';
import { type JobRecord, parseRecord, recordText } from '#jobs/records/jobRecord.ts';
import { toJobView } from '#jobs/records/toJobView.ts';
import { replaceFile } from '#processes/files.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { createProgressReducer } from '#shared/jobs/foldEvents.ts';
import { newJobId } from '#shared/jobs/jobId.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { recordFor } from '../recordFor.ts';

const id = 'bf-00000000000000000a';
const request: BackfillRequest = {
  table: { catalog: { implementation: 'dir', root: '/data' }, namespacePath: [], name: 'words' },
  column: 'length',
};
const succeeded = createProgressReducer(0);
succeeded.add({ at: 5, kind: 'succeeded', rows: 1, errors: 0, skipped: 0, bytesWritten: 1, version: 2 });

const folders = (): JobFolders => new JobFolders(join(tempFolder(), 'jobs'));
const idAt = (time: number): string => newJobId(time, new Uint8Array(8));

const mark = (folder: string, more: object): void =>
  writeFileSync(
    join(folder, 'process.json'),
    JSON.stringify({ pid: process.pid, host: hostname(), address: join(folder, 's'), secret: 'x', ...more }),
  );

suite('The record of a job', () => {
  test('reads back as it was written, with keys in snake_case', () => {
    const record = recordFor(id);
    const text = recordText(record);
    const { source: _source, ...read } = parseRecord(text, id) ?? {};
    assert.deepEqual(JSON.parse(JSON.stringify(read)), JSON.parse(JSON.stringify(record)));
    assert.match(text, /"version": 1/);
    assert.match(text, /"runner_reason"/);
    assert.match(text, /"rest\.jobId": "7"/, 'names that a runner gave stay as they are');
  });

  test('keeps what a newer version has written into it', () => {
    const newer = { ...(JSON.parse(recordText(recordFor(id))) as object), version: 2, priority: { of_job: 'high' } };
    const read = parseRecord(JSON.stringify(newer), id);
    assert.ok(read);
    const written = JSON.parse(recordText({ ...read, run: 2 })) as Record<string, unknown>;
    assert.deepEqual(written['priority'], { of_job: 'high' });
    assert.equal(written['run'], 2);
  });

  test('of an older version, which kept nothing for runners, is read', () => {
    const { kept: _kept, ...older } = JSON.parse(recordText(recordFor(id))) as Record<string, unknown>;
    assert.deepEqual(parseRecord(JSON.stringify(older), id)?.kept, {});
  });

  test('that is not a valid record is ignored', () => {
    const whole = JSON.parse(recordText(recordFor(id))) as Record<string, unknown>;
    const wrong = [
      '',
      'null',
      '[]',
      '7',
      '{}',
      recordText(recordFor(id)).slice(0, -20),
      JSON.stringify({ ...whole, id: 'bf-00000000000000000b' }),
      JSON.stringify({ ...whole, runner: 'spark' }),
      JSON.stringify({ ...whole, table: 'words' }),
      JSON.stringify({ ...whole, progress: { state: 'lost' } }),
      JSON.stringify({ ...whole, kept: { a: 1 } }),
      JSON.stringify({ ...whole, created_at: '__proto__' }),
    ];
    for (const text of wrong) assert.equal(parseRecord(text, id), undefined, text);
  });
});

suite('Folders of jobs', function () {
  // Set a long limit, because the tests wait until each record is on the disk.
  this.timeout(60_000);
  test('are of the person alone, files too', () => {
    const made = folders();
    made.create(recordFor(id), request);
    assert.equal(statSync(made.of(id)).mode & 0o777, 0o700);
    for (const name of readdirSync(made.of(id)))
      assert.equal(statSync(join(made.of(id), name)).mode & 0o777, 0o600, name);
  });

  test('are listed newest first, and only those of jobs', () => {
    const made = folders();
    for (const time of [2, 3, 1]) made.create(recordFor(idAt(time)), request);
    mkdirSync(join(made.root, 'else'));
    assert.deepEqual(made.ids(), [3, 2, 1].map(idAt));
  });

  test('are nowhere to be seen once removed', () => {
    const made = folders();
    made.create(recordFor(id), request);
    made.remove(id);
    assert.deepEqual(readdirSync(made.root), []);
    assert.equal(made.read(id), undefined);
  });

  test('of ended jobs are kept two hundred, and all of those that could go on', () => {
    const made = folders();
    const ended: Partial<JobRecord> = { progress: succeeded.progress(6) };
    made.create(recordFor(idAt(1), { progress: { ...succeeded.progress(6), state: 'interrupted' } }), request);
    made.create(recordFor(idAt(2)), request);
    for (let time = 3; time < 206; time++) made.create(recordFor(idAt(time), ended), request);
    made.tidy();
    const left = made.ids();
    assert.equal(left.length, 202);
    assert.ok(left.includes(idAt(1)) && left.includes(idAt(2)) && !left.includes(idAt(5)) && left.includes(idAt(6)));
  });

  test('say what was asked, and whether that is all of it', () => {
    const made = folders();
    made.create(recordFor(id), { ...request, where: 'a_b > 1', numFrags: 2 });
    assert.deepEqual(made.readRequest(id), { request: { ...request, where: 'a_b > 1', numFrags: 2 }, isWhole: true });
    writeFileSync(join(made.of(id), 'request.json'), '{"request": {"table": 1}}');
    assert.equal(made.readRequest(id), undefined);
  });

  test('keep a file as it was when the new one can not be put in its place', () => {
    const path = join(tempFolder(), 'file');
    replaceFile(path, 'old', { isLasting: false });
    const missing = join(path, 'below');
    assert.throws(() => replaceFile(missing, 'new', { isLasting: true }));
    assert.equal(readFileSync(path, 'utf8'), 'old');
    assert.ok(!existsSync(missing));
  });
});

suite('The process of a job', () => {
  const never = new AbortController().signal;

  test('has ended if its mark is missing or can not be read', async () => {
    const folder = tempFolder();
    assert.deepEqual(await findProcess(folder, never), { kind: 'gone' });
    writeFileSync(join(folder, 'process.json'), '{"pid": "');
    assert.deepEqual(await findProcess(folder, never), { kind: 'gone' });
  });

  test('has ended if its socket does not listen, even if another process has its id now', async () => {
    const folder = tempFolder();
    mark(folder, { pid: process.pid });
    const { kind } = await findProcess(folder, never);
    assert.equal(kind, 'gone');
  });

  test('on another machine counts as alive for as long as it says so', async () => {
    const folder = tempFolder();
    mark(folder, { host: 'another.example' });
    assert.deepEqual(await findProcess(folder, never), { kind: 'elsewhere', host: 'another.example' });
    const longAgo = new Date(Date.now() - 600_000);
    utimesSync(join(folder, 'process.json'), longAgo, longAgo);
    assert.deepEqual(await findProcess(folder, never), { kind: 'gone', markedAt: longAgo.getTime() });
  });

  test('may be on its way for a minute, and then is not coming', () => {
    const queued = { ...createProgressReducer(1000).progress(1000), state: 'queued' as const };
    const at = (now: number) => toJobView(recordFor(id, { progress: queued }), { kind: 'gone', words: '' }, now).state;
    assert.deepEqual([at(1000), at(60_000), at(62_000)], ['queued', 'queued', 'interrupted']);
  });

  test('that came up and is gone is not waited for, but one of an earlier run has nothing to say', () => {
    const queued = { ...createProgressReducer(1000).progress(1000), state: 'queued' as const };
    const marked = (markedAt: number) =>
      toJobView(recordFor(id, { progress: queued }), { kind: 'gone', words: '', markedAt }, 2000).state;
    assert.deepEqual([marked(500), marked(1500)], ['queued', 'interrupted']);
  });

  test('that said something before it died is quoted', () => {
    const { sentence } = toJobView(recordFor(id), { kind: 'gone', words: 'JavaScript heap out of memory' }, 0);
    assert.match(sentence, /\(JavaScript heap out of memory\)/);
  });
});

suite('The log of a job', () => {
  test('keeps its first part and its last ones, and says what is missing between', () => {
    const folder = tempFolder();
    const log = openJobLog(folder);
    const line = `${'x'.repeat(1023)}\n`;
    const lines = 20 * 1024;
    for (let at = 0; at < lines; at++) log.write(line);
    log.close();
    const size = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    assert.ok(size <= 9 << 20, `${size} bytes are kept`);
    let next = 0;
    let text = '';
    for (;;) {
      const piece = readLog(folder, next);
      if (piece.next === next) break;
      text += piece.text;
      next = piece.next;
    }
    assert.equal(next, lines * 1024, 'offsets are those of all that was written');
    assert.match(text, /\n… \d+ bytes omitted …\n/);
    assert.ok(text.startsWith(line) && text.endsWith(line));
  });

  test('is never cut within a character', () => {
    const folder = tempFolder();
    const log = openJobLog(folder);
    const words = 'a€😀ü'.repeat(60_000);
    log.write(words);
    log.close();
    let text = '';
    for (let next = 0; ;) {
      const piece = readLog(folder, next);
      if (piece.next === next) break;
      assert.ok(!piece.text.includes('\uFFFD'));
      text += piece.text;
      next = piece.next;
    }
    assert.equal(text, words);
  });

  test('goes on in the part that an earlier process left', () => {
    const folder = tempFolder();
    for (const word of ['one\n', 'two\n']) {
      const log = openJobLog(folder);
      log.write(word);
      log.close();
    }
    assert.deepEqual(readLog(folder, 0), { text: 'one\ntwo\n', next: 8 });
  });
});
