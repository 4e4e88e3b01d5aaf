import assert from 'node:assert/strict';
import { jobsChecks, jobsHostChecks } from '#shared/jobs/jobShapes.ts';
import { toCamel, toSnake } from '#shared/jobs/caseKeys.ts';
import { toJobView } from '#jobs/records/toJobView.ts';
import { recordFor } from '../../jobs/recordFor.ts';

const table = { catalog: { implementation: 'dir', root: '/data' }, namespacePath: ['shop'], name: 'words' };
const fn = {
  name: 'f',
  version: '',
  hash: 'a'.repeat(64),
  inputs: ['text'],
  output: '',
  onError: { mode: 'retry', attempts: 2 },
  kind: 'sql',
  expression: 'length(text)',
};
const request = { table, column: 'length', function: fn, where: 'a > 1', concurrency: 2 };

/** A valid example of each request. If an example is missing, this does not compile. */
const fine: { readonly [K in keyof typeof jobsChecks]: unknown } = {
  readFunction: { table, column: 'c', source: { kind: 'sql', expression: '1' } },
  register: { table, column: 'c', function: fn },
  computedColumns: { table },
  accept: { hash: 'x' },
  isAccepted: { hash: 'x' },
  plan: request,
  try: request,
  sample: request,
  start: request,
  list: null,
  log: { id: 'x', from: 0 },
  cancel: { id: 'x' },
  resume: { id: 'x', request, runner: 'ray' },
  remove: { id: 'x' },
  watch: null,
};

suite('Messages about jobs', () => {
  for (const [method, params] of Object.entries(fine)) {
    const check = jobsChecks[method as keyof typeof jobsChecks];
    test(`"${method}" is taken as it is meant`, () => {
      assert.ok(check(params));
      assert.ok(check(JSON.parse(JSON.stringify(params))));
    });
    test(`"${method}" is refused as anything else`, () => {
      for (const wrong of [undefined, 7, 'x', [], ...(params === null ? [{}] : [null, {}])]) assert.ok(!check(wrong));
    });
  }

  test('are refused where one part is of another type', () => {
    for (const wrong of [
      { ...request, where: 1 },
      { ...request, concurrency: -1 },
      { ...request, concurrency: 1.5 },
      { ...request, runner: 'spark' },
      { ...request, onError: { mode: 'retry' } },
      { ...request, ray: { port: 1 } },
      { ...request, function: { ...fn, kind: 'perl' } },
      { ...request, function: { ...fn, inputs: 'text' } },
      { ...request, table: { ...table, namespacePath: [1] } },
      { ...request, table: { ...table, catalog: { implementation: 'dir' } } },
      { ...request, allowStoredCode: 'all' },
    ])
      assert.ok(!jobsChecks.start(wrong), JSON.stringify(wrong));
  });

  test('name a Ray in each way that there is', () => {
    const cluster = { namespace: 'geneva', headGroup: { nodeSelector: { 'my_domain/ray_head': 'true' } } };
    for (const ray of [
      { address: 'http://127.0.0.1:8265' },
      { address: 'http://127.0.0.1:8265', token: 'x' },
      { profile: 'prod' },
      { profile: 'prod', rayCluster: 'mine' },
      { cluster, rayCluster: 'mine' },
    ]) {
      assert.ok(jobsChecks.start({ ...request, ray }), JSON.stringify(ray));
      assert.deepEqual(toCamel(toSnake({ ray })), { ray });
    }
    assert.ok(!jobsChecks.start({ ...request, ray: { cluster: 'prod', rayCluster: 'mine' } }));
  });

  test('tell of jobs that are whole', () => {
    const view = toJobView(recordFor('bf-00000000000000000a'), { kind: 'gone', words: '' }, 0);
    assert.ok(jobsHostChecks.jobsChanged({ changed: [view], removed: ['x'] }));
    assert.ok(jobsHostChecks.jobsChanged(JSON.parse(JSON.stringify({ changed: [view], removed: [] }))));
    for (const part of ['id', 'table', 'state', 'rows', 'errors', 'can'] as const)
      assert.ok(!jobsHostChecks.jobsChanged({ changed: [{ ...view, [part]: undefined }], removed: [] }), part);
    assert.ok(!jobsHostChecks.jobsChanged({ changed: [{ ...view, state: 'lost' }], removed: [] }));
  });
});

suite('Keys of JSON', () => {
  test('are in snake_case outside and come back', () => {
    const value = { commitGranularity: 1, onError: { mode: 'fail' }, list: [{ numFrags: 2 }], none: null };
    assert.deepEqual(toSnake(value), {
      commit_granularity: 1,
      on_error: { mode: 'fail' },
      list: [{ num_frags: 2 }],
      none: null,
    });
    assert.deepEqual(toCamel(toSnake(value)), value);
  });

  test('stay as they are where they are names of people', () => {
    const value = {
      storageOptions: { awsRegion: 'x', aws_key: 'y' },
      inputs: { Caption_Text: '' },
      'headers.xTeam': 'z',
    };
    assert.deepEqual(toCamel(toSnake(value)), value);
    assert.deepEqual(toSnake(value), {
      storage_options: value.storageOptions,
      inputs: value.inputs,
      'headers.xTeam': 'z',
    });
  });
});
