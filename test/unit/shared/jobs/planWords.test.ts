import assert from 'node:assert/strict';
import { backfillCode } from '#shared/jobs/backfillCode.ts';
import { functionText, planLines } from '#shared/jobs/jobLabels.ts';
import { somePlan } from '../../extension/jobs/somePlan.ts';

const labels = (plan = somePlan()): string[] => planLines(plan).map(({ label }) => label);

suite('a plan in words', () => {
  test('tells what was counted from what is an estimate, and what that rests on', () => {
    const lines = new Map(planLines(somePlan()).map((one) => [one.label, one]));
    assert.deepEqual(lines.get('Rows to compute'), {
      label: 'Rows to compute',
      text: '750,000 of 1,000,000',
      basis: undefined,
    });
    assert.deepEqual(lines.get('Read'), { label: 'Read', text: 'about 48 MB', basis: 'the sizes of the data files' });
  });

  test('has a speed and a time once a trial has measured them', () => {
    assert.ok(!labels().includes('Time'));
    const basis = { estimatedFrom: 'a trial of one fragment' };
    const timed = somePlan({ rowsPerSecond: { value: 12_300, basis }, seconds: { value: 61, basis } });
    assert.deepEqual(labels(timed).slice(-2), ['Speed', 'Time']);
  });

  test('says of a function that a server alone has no language that it might be written in', () => {
    const { name, version, hash, inputs, output, onError } = somePlan().function;
    const made = { name, version, hash, inputs, output, onError, kind: 'server' } as const;
    assert.equal(functionText({ function: made }), 'A function that only the catalog server knows');
  });
});

suite('a backfill as code', () => {
  const table = { namespacePath: ['shop', 'e"u'], name: 'orders' };

  test('opens its table and asks for the column, with names as data', () => {
    assert.equal(
      backfillCode(table, 'c', {}),
      'const table = await db.openTable("orders", { namespacePath: ["shop","e\\"u"] });\nawait table.backfill("c");',
    );
  });

  test('has the options that were asked for, and no token', () => {
    const ray = { address: 'http://127.0.0.1:8265', token: 'secret-token' };
    const code = backfillCode(table, 'c', { runner: 'ray', ray, where: undefined, numFrags: 2 });
    assert.match(code, /"numFrags": 2/);
    assert.match(code, /"address": "http:\/\/127\.0\.0\.1:8265"/);
    assert.doesNotMatch(code, /secret-token|where/);
  });
});
