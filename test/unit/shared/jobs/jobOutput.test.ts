import assert from 'node:assert/strict';
import { isJobOutputNews, isJobOutputRequest, readJobOutput } from '#shared/jobs/jobOutput.ts';
import { someJob } from '../../extension/jobs/someJob.ts';

suite('A job in the output of a cell', () => {
  test('is read as it was saved', () => {
    const job = someJob();
    const saved: unknown = JSON.parse(JSON.stringify({ version: 1, job }));
    assert.deepEqual(readJobOutput(saved)?.rows, job.rows);
  });

  test('is none where a notebook holds anything else under its name', () => {
    for (const value of [null, 7, 'x', [], {}, { version: 1 }, { version: 2, job: someJob() }])
      assert.equal(readJobOutput(value), undefined);
    for (const part of ['id', 'state', 'rows', 'errors', 'can'])
      assert.equal(readJobOutput({ version: 1, job: { ...someJob(), [part]: 7 } }), undefined, part);
  });

  test('sends requests and receives jobs', () => {
    assert.ok(isJobOutputRequest({ kind: 'look', id: 'bf-1' }));
    assert.ok(isJobOutputRequest({ kind: 'act', id: 'bf-1', action: 'open' }));
    assert.ok(isJobOutputRequest({ kind: 'act', id: 'bf-1', action: 'cancel' }));
    for (const wrong of [null, {}, { kind: 'look' }, { kind: 'act', id: 'bf-1', action: 'rm' }, { kind: 'x', id: 'y' }])
      assert.ok(!isJobOutputRequest(wrong));
    assert.ok(isJobOutputNews({ kind: 'jobs', jobs: [someJob()] }));
    assert.ok(!isJobOutputNews({ kind: 'jobs', jobs: [{}] }));
  });
});
