import assert from 'node:assert/strict';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { specFromJson, specToJson, specWithoutSecrets } from '#jobs/jobSpec.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';

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
  test('comes back as it was', () => {
    assert.deepEqual(specFromJson(JSON.parse(JSON.stringify(specToJson(spec)))), withoutUndefined(spec));
  });

  test('has its keys in snake_case, and leaves names of the person as they are', () => {
    const json = specToJson(spec);
    assert.deepEqual([json['job_id'], json['read_version'], json['column']], ['bf-1', 7, 'someColumn']);
    assert.deepEqual(json['table'], { uri: '/data/t.lance', storage_options: spec.table.storageOptions });
  });

  test('can be written without what may be secret', () => {
    assert.equal(JSON.stringify(specWithoutSecrets(spec)).includes('secret'), false);
  });

  test('takes null for what is not given', () => {
    assert.equal(specFromJson({ ...specToJson(spec), where: null, task_size: null }).where, undefined);
  });

  const wrong: Readonly<Record<string, [unknown, RegExp]>> = {
    'no object': [[], /no object/],
    'another version': [{ ...specToJson(spec), version: 2 }, /its version is 2/],
    'no version': [{ ...specToJson(spec), version: undefined }, /its version is missing/],
    'no workers': [{ ...specToJson(spec), concurrency: 0 }, /"concurrency"/],
    'half a row': [{ ...specToJson(spec), checkpoint_size: 0.5 }, /"checkpointSize"/],
    'a table without an address': [{ ...specToJson(spec), table: { storage_options: {} } }, /"table"/],
    'settings that are no text': [{ ...specToJson(spec), table: { uri: 'x', storage_options: { a: 1 } } }, /"table"/],
    'a function of another kind': [{ ...specToJson(spec), function: { kind: 'wasm' } }, /"function"/],
    'a condition that is no text': [{ ...specToJson(spec), where: 7 }, /"where"/],
  };
  for (const [title, [value, words]] of Object.entries(wrong))
    test(`is refused with ${title}`, () =>
      assert.throws(
        () => specFromJson(value),
        (error) => isJobError(error) && error.kind === 'RequestInvalid' && words.test(error.message),
      ));
});

const withoutUndefined = (value: object): object =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));
