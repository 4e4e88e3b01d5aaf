import assert from 'node:assert/strict';
import { type JobSpec, specToJson, specWithoutSecrets } from '#jobs/jobSpec.ts';

const spec: JobSpec = {
  version: 1,
  jobId: 'bf-1',
  table: { uri: '/data/t.lance', storageOptions: { aws_secret_access_key: 'secret', someOther: 'x' } },
  column: 'someColumn',
  function: {
    name: 'f',
    version: '1',
    hash: 'ab12',
    inputs: ['someText'],
    output: 'AAAA',
    onError: { mode: 'retry', attempts: 3 },
    kind: 'python',
    takes: 'row',
    code: 'def f(x): return x',
    entry: 'f',
  },
  where: undefined,
  concurrency: 2,
  taskSize: undefined,
  checkpointSize: 4096,
  commitGranularity: 8,
  numFrags: undefined,
  readVersion: 7,
};

suite('a job as JSON', () => {
  test('has its keys in snake_case, and leaves names of the person as they are', () => {
    const json = specToJson(spec);
    assert.deepEqual([json['job_id'], json['read_version'], json['column']], ['bf-1', 7, 'someColumn']);
    assert.deepEqual(json['table'], { uri: '/data/t.lance', storage_options: spec.table.storageOptions });
  });

  test('can be written without what may be secret', () => {
    assert.equal(JSON.stringify(specWithoutSecrets(spec)).includes('secret'), false);
  });
});
