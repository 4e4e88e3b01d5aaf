import assert from 'node:assert/strict';
import { inRoot } from '../../scripts/paths.ts';
import { python } from '../harness/python.ts';
import { installedKernel } from './jupyterHome.ts';
import { command } from './support.ts';

suite('Cells of several shells at once', function () {
  this.timeout(150_000);
  let seen: Record<string, unknown>;

  suiteSetup(async () => {
    const { env } = await installedKernel();
    const script = inRoot('test/kernel/python/subshells.py');
    const { code, stdout, stderr } = await command(python(), [script], { env, seconds: 140 });
    assert.equal(code, 0, stderr);
    seen = JSON.parse(stdout) as Record<string, unknown>;
  });

  test('a cell keeps its output, its questions and its end while thousands of others run', () =>
    assert.deepEqual(seen['outlived'], [['execute_result', 'status'], 'ok']));

  test('an error has its place in the cell, whatever ran meanwhile without a number', () =>
    assert.deepEqual(seen['placed'], ['1:31', '5:1']));
});
