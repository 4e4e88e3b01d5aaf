import assert from 'node:assert/strict';
import { requestToResume } from '#jobs/service/resumeRequest.ts';
import { jobKey } from '#jobs/service/stateFolders.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { createProgressReducer } from '#shared/jobs/foldEvents.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { recordFor } from '../recordFor.ts';

const id = 'bf-00000000000000000a';
const fn = {
  name: 'length',
  version: '',
  hash: 'a'.repeat(64),
  inputs: [],
  output: '',
  onError: { mode: 'null' },
  kind: 'sql',
  expression: '1',
} as const;
const request: BackfillRequest = {
  table: { catalog: { implementation: 'dir', root: '/data' }, namespacePath: ['eu'], name: 'words' },
  column: 'length',
  where: 'x > 1',
  function: fn,
};
/** A job for the table of the request. */
const record = recordFor(id, { place: jobKey(request) });
const kept = { request, isWhole: true };
const done = createProgressReducer(0);
done.add({ at: 1, kind: 'succeeded', rows: 9, errors: 2, skipped: 0, bytesWritten: 1, version: 2 });
const succeeded = recordFor(id, { place: jobKey(request), progress: done.progress(2) });

suite('What a job is resumed by', () => {
  test('is what was asked, where that is whole', () => {
    assert.deepEqual(requestToResume(record, kept, {}), { ...request, runner: 'local' });
  });

  test('may be another runner', () => {
    assert.equal(requestToResume(record, kept, { runner: 'ray' }).runner, 'ray');
  });

  test('may do something else with rows that fail than before', () => {
    const failing = { request: { ...request, onError: { mode: 'fail' } }, isWhole: true } as const;
    assert.deepEqual(requestToResume(record, failing, { onError: { mode: 'skip' } }).onError, { mode: 'skip' });
    assert.deepEqual(requestToResume(record, failing, {}).onError, { mode: 'fail' });
  });

  test('has the catalog and the keys of now, and the rest as it was asked', () => {
    const catalog = { implementation: 'dir', root: '/data', storageOptions: { aws_secret_access_key: 'x' } } as const;
    const now = { ...request, where: 'y > 2', function: undefined, table: { ...request.table, catalog } };
    const resumed = requestToResume(record, { request, isWhole: false }, { request: now });
    assert.deepEqual(resumed.table.catalog, catalog);
    assert.equal(resumed.where, 'x > 1');
    assert.equal(resumed.function?.hash, fn.hash);
  });

  test('are the rows that stayed null, where the job is done', () => {
    const again = requestToResume(succeeded, kept, {});
    assert.equal(again.where, '(x > 1) AND `length` IS NULL');
    const oncemore = requestToResume(succeeded, { request: again, isWhole: true }, {});
    assert.equal(oncemore.where, again.where, 'and no longer the third time');
    const all = { request: { ...request, where: undefined }, isWhole: true };
    assert.equal(requestToResume(succeeded, all, {}).where, undefined, 'as every job does that has no condition');
  });

  for (const [what, how, has] of [
    ['without its keys', {}, { request, isWhole: false }],
    ['of which nothing can be read', {}, undefined],
    ['with another function', { request: { ...request, function: { ...fn, hash: 'b'.repeat(64) } } }, kept],
    ['at another column', { request: { ...request, column: 'other' } }, kept],
    [
      'in another catalog',
      { request: { ...request, table: { ...request.table, catalog: { implementation: 'dir', root: '/other' } } } },
      kept,
    ],
    ['at another table', { request: { ...request, table: { ...request.table, name: 'other' } } }, kept],
  ] as const) {
    test(`is refused ${what}`, () => {
      assert.throws(
        () => requestToResume(record, has, how),
        (error) => isJobError(error) && error.kind === 'RequestInvalid' && error.hint !== '',
      );
    });
  }
});
