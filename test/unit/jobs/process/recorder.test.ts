import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRecorder, type Recorder } from '#jobs/process/recorder.ts';
import { JobFolders } from '#jobs/records/jobFolder.ts';
import { readLog } from '#jobs/records/jobLog.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { recordFor } from '../recordFor.ts';

const id = 'bf-00000000000000000a';
const secret = 'PLANTED-sEcReT';
const planned = {
  kind: 'planned',
  readVersion: 1,
  fragments: 1,
  rows: 10,
  committedFragments: 0,
  checkpointedFragments: 0,
  reusedRows: 0,
} as const;
const succeeded = { kind: 'succeeded', rows: 10, errors: 0, skipped: 0, bytesWritten: 40, version: 2 } as const;

suite('What is written down of a run', () => {
  let folders: JobFolders;
  let recorder: Recorder;
  setup(() => {
    folders = new JobFolders(join(tempFolder(), 'jobs'));
    const record = recordFor(id);
    folders.create(record, {
      table: { catalog: { implementation: 'dir', root: '/data' }, namespacePath: [], name: 'words' },
      column: 'length',
    });
    recorder = openRecorder(folders, record, [secret]);
  });
  teardown(() => recorder.close());

  const state = (): string | undefined => folders.read(id)?.progress.state;
  const events = (): string => readFileSync(join(folders.of(id), 'events.ndjson'), 'utf8');
  const logged = (): string => {
    recorder.close();
    return readLog(folders.of(id), 0).text;
  };

  test('says at once how it ended', () => {
    recorder.event(planned);
    recorder.event(succeeded);
    assert.equal(state(), 'succeeded');
    assert.ok(recorder.hasEnded());
  });

  test('keeps its first end, whatever comes later', () => {
    recorder.event({ kind: 'cancelled' });
    recorder.event(succeeded);
    recorder.interrupt('The system ended it.');
    assert.equal(state(), 'cancelled');
    assert.doesNotMatch(events(), /succeeded/);
  });

  test('stays readable when a runner tells of numbers that are none', () => {
    recorder.event(planned);
    recorder.event({
      kind: 'progress',
      rows: Number.NaN,
      errors: -1,
      computeSeconds: 0,
      readSeconds: 0,
      writeSeconds: 0,
    });
    recorder.keep('job', '7');
    assert.equal(state(), 'running');
    assert.equal(folders.read(id)?.progress.rows.done, 0);
    assert.match(logged(), /Invalid event: .*"progress"/);
  });

  test('is without secrets, also where a line comes in two pieces', () => {
    recorder.log(`key ${secret.slice(0, 5)}`);
    recorder.log(`${secret.slice(5)} was refused\n`);
    recorder.event({ kind: 'failed', code: 'StorageFailed', message: `No to ${secret}`, hint: '' });
    assert.match(logged(), /^key ••• was refused\n\S+Z Failed: No to •••\n$/);
    assert.doesNotMatch(events(), /PLANTED/);
    assert.equal(folders.read(id)?.progress.sentence, 'No to •••');
  });

  test('has the last line of the log, though it never ended', () => {
    recorder.log('one\ntwo');
    assert.equal(logged(), 'one\ntwo');
  });

  test('keeps what a runner needs to find its job again', () => {
    recorder.keep('ray.submission', 'x');
    assert.equal(recorder.kept('ray.submission'), 'x');
    assert.equal(recorder.kept('toString'), undefined);
    assert.equal(folders.read(id)?.kept['ray.submission'], 'x');
  });
});
