import assert from 'node:assert/strict';
import { withoutSecrets } from '#jobs/records/withoutSecrets.ts';
import { withAbsolutePaths } from '#jobs/service/stateFolders.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';

const request: BackfillRequest = {
  table: { catalog: { implementation: 'dir', root: 's3://bucket/db' }, namespacePath: [], name: 't' },
  column: 'c',
  ray: { profile: 'prod' },
};

suite('Where the process of a job looks for a profile', () => {
  test('is the folder in which it was asked for, and stays that when the job is resumed elsewhere', () => {
    assert.deepEqual(withAbsolutePaths(request).ray, { profile: 'prod', folder: process.cwd() });
    const asked = { ...request, ray: { profile: 'prod', folder: '/home/me/shop' } };
    assert.deepEqual(withAbsolutePaths(withoutSecrets(asked).request).ray, { ...asked.ray, rayCluster: undefined });
  });
});
