import assert from 'node:assert/strict';
import { endText, errorLines, jobDetails, jobJson, jobLine, jobTable, planJson } from '#jobs/report/jobText.ts';
import { planText } from '#jobs/report/planRows.ts';
import type { BackfillPlan, Figure } from '#shared/jobs/jobPlan.ts';
import type { JobView } from '#shared/jobs/jobView.ts';

const view: JobView = {
  id: 'bf-1',
  table: { catalog: '/data', implementation: 'dir', namespacePath: ['shop'], name: 'products' },
  column: 'length',
  functionName: 'len',
  functionHash: 'a'.repeat(64),
  runner: 'local',
  runnerReason: 'It needs nothing.',
  options: { taskSize: 10, ray: { address: 'http://127.0.0.1:8265', token: 'a-secret' } },
  state: 'running',
  sentence: 'It computes.',
  failure: undefined,
  createdAt: 1_000,
  startedAt: 2_000,
  endedAt: undefined,
  rows: { done: 420, total: 1000, reused: 20 },
  fragments: { done: 2, total: 5 },
  rowsPerSecond: 100,
  secondsLeft: 6,
  errors: {
    count: 3,
    samples: [{ fragment: 1, row: 2, message: 'no\u001b[31m text', inputs: { someText: 'x\ny' } }],
  },
  skipped: 0,
  conflicts: 0,
  bytesWritten: 4096,
  version: 3,
  bottleneck: undefined,
  can: { cancel: true, resume: false, retry: false, remove: false },
};

const ended: JobView = { ...view, state: 'succeeded', endedAt: 7_000, rows: { done: 1000, total: 1000, reused: 20 } };

const counted = (value: number): Figure => ({ value, basis: 'counted' });

const plan: BackfillPlan = {
  column: 'length',
  function: {
    kind: 'sql',
    expression: 'length(caption)',
    name: 'len',
    version: '2',
    hash: 'abc',
    inputs: ['caption'],
    output: '',
    onError: { mode: 'fail' },
  },
  runner: 'local',
  runnerReason: 'It needs nothing.',
  others: [{ runner: 'ray', isPossible: false, reason: 'No Ray is named.' }],
  options: { taskSize: 10 },
  readVersion: 4,
  rows: { total: counted(1000), toCompute: counted(400), done: counted(600), reused: counted(0) },
  fragments: { total: counted(5), toCompute: counted(1), done: counted(4) },
  bytes: {
    read: counted(2_000_000),
    written: counted(1600),
    rewritten: { value: 5e9, basis: { estimatedFrom: 'file sizes' } },
  },
  versions: counted(5),
  rowsPerSecond: undefined,
  seconds: { value: 90, basis: { estimatedFrom: 'a trial' } },
  notes: [{ level: 'warning', text: 'Rows are written anew.' }],
};

suite('the report of a job', () => {
  test('is a line while it runs, with how far it is and what failed', () => {
    assert.equal(
      jobLine(view),
      'shop/products.length: running · 42 % · 100 rows/s · 6 s left · 3 rows failed · It computes.',
    );
  });

  test('names what holds it up in the place of what it does', () => {
    assert.match(jobLine({ ...view, bottleneck: 'It waits for nodes.' }), / · It waits for nodes\.$/);
  });

  test('is a table of all jobs, one line each', () => {
    const [head = '', first = '', ...more] = jobTable([view], 61_000).split('\n');
    assert.match(head, /^id +column +function +runner +state +progress +begun$/);
    assert.match(first, /^bf-1 +shop\/products\.length +len +local +running +42 %.* 60 s ago$/);
    assert.equal(more.length, 0);
  });

  test('is a table without its less needed columns where lines are short, and cut where they are shorter still', () => {
    const [head = ''] = jobTable([view], 61_000, 80).split('\n');
    assert.match(head, /^id +column +state +progress +begun$/);
    const [few = '', row = ''] = jobTable([view], 61_000, 68).split('\n');
    assert.match(few, /^id +column +state +progress$/);
    assert.ok(row.length <= 68, row);
    assert.match(jobTable([view], 61_000, 20), /\nbf-1 .*…$/);
  });

  test('says at the end how many rows it took how long for', () => {
    assert.equal(endText(ended), 'shop/products.length: 980 rows in 5 s; 20 kept from an earlier run.');
    assert.match(endText({ ...ended, skipped: 7 }), /; 7 of them failed, left for the next run; 20 kept/);
    const failure = { code: 'StorageFull', message: 'The disk is full.', hint: '' };
    assert.match(endText({ ...view, state: 'failed', failure }), /: The disk is full\.$/);
  });

  test('says at the end of one that failed what can be done', () => {
    for (const message of ['It threw.', 'It threw'] as const) {
      const failure = { code: 'FunctionFailed', message, hint: 'Mend it.' };
      assert.match(endText({ ...view, state: 'failed', failure }), /: It threw\. Mend it\.$/);
    }
  });

  test('says no time of one that ended without a word', () => {
    assert.match(jobDetails(view), /^took .* so far$/m);
    assert.doesNotMatch(jobDetails({ ...view, state: 'interrupted', endedAt: undefined }), /^took/m);
  });

  test('has the rows that failed with what they were given, and nothing that a terminal would obey', () => {
    assert.deepEqual(errorLines(view), [
      '3 rows failed:',
      '  fragment 1, row 2: no\\x1b[31m text (someText = x y)',
      '  … and 2 more',
    ]);
    assert.ok(jobDetails(view).endsWith(errorLines(view).join('\n')));
  });

  test('is JSON in snake_case, in which names of columns stay as they are and no token is', () => {
    const json = JSON.stringify(jobJson(view));
    assert.match(json, /"rows_per_second":100,"seconds_left":6/);
    assert.match(json, /"inputs":\{"someText":"x\\ny"\}/);
    assert.match(json, /"task_size":10,"ray":\{"address":"http:\/\/127\.0\.0\.1:8265"\}/);
    assert.ok(!json.includes('a-secret'));
  });

  test('has the settings of a cluster with the names of labels as somebody has given them', () => {
    const cluster = { headGroup: { nodeSelector: { 'example.com/nodePool': 'ray' } } };
    const made = { ...view, options: { ray: { cluster, rayCluster: 'backfills' } } };
    assert.match(
      JSON.stringify(jobJson(made)),
      /"ray":\{"cluster":\{"headGroup":\{"nodeSelector":\{"example\.com\/nodePool"/,
    );
  });
});

suite('the report of a plan', () => {
  test('are figures that were counted, and estimates with what they were made from', () => {
    assert.deepEqual(planText(plan).split('\n'), [
      '  function   len 2 (SQL) of caption',
      '  runner     local (this machine): It needs nothing.',
      '  version    reads version 4',
      '  rows       400 rows of 1,000 to compute, 600 done',
      '  fragments  1 fragment of 5',
      '  reads      2 MB',
      '  writes     1.6 KB',
      '  rewrites   about 5 GB (estimate from file sizes)',
      '  creates    5 versions at most',
      '  takes      about 2 min (estimate from a trial)',
      '  warning    Rows are written anew.',
      '  not        ray: No Ray is named.',
    ]);
  });

  test('is JSON in snake_case without the code of the function', () => {
    const json = JSON.stringify(planJson(plan));
    assert.match(json, /"to_compute":\{"value":400,"basis":"counted"\}/);
    assert.match(json, /"basis":\{"estimated_from":"file sizes"\}/);
    assert.match(json, /"function":\{"name":"len","version":"2","hash":"abc","kind":"sql","inputs":\["caption"\]\}/);
    assert.ok(!json.includes('length(caption)'));
  });
});
