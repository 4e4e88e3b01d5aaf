import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { command } from '../support.ts';
import { installedKernel } from './jupyterHome.ts';

function packageIn(folder: string, name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  writeFileSync(join(path, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
  return path;
}

suite('Cells of several shells at once', function () {
  this.timeout(150_000);
  let seen: Record<string, unknown>;

  suiteSetup(async () => {
    const { env } = await installedKernel();
    const [cwd, folder] = [tempFolder(), tempFolder()];
    writeFileSync(join(cwd, 'package.json'), '{}');
    const args = [inRoot('test/kernel/python/subshells.py'), packageIn(folder, 'first'), packageIn(folder, 'second')];
    const { code, stdout, stderr } = await command(python(), args, { env, cwd, seconds: 140 });
    assert.equal(code, 0, stderr);
    seen = JSON.parse(stdout) as Record<string, unknown>;
  });

  test('a cell keeps its output, its questions and its end while thousands of others run', () =>
    assert.deepEqual(seen['outlived'], [['execute_result', 'status'], 'ok']));

  test('an error has its place in the cell, whatever ran meanwhile without a number', () =>
    assert.deepEqual(seen['placed'], ['1:31', '5:1']));

  test('packages are installed one after the other, and all are noted', () =>
    assert.deepEqual(seen['installed'], [
      ['ok', 'ok'],
      ['first', 'second'],
    ]));
});
