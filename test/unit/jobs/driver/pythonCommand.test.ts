import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../../../../scripts/paths.ts';
import { tempFolder } from '../../../harness/temp.ts';

function run(args: readonly string[], env: NodeJS.ProcessEnv) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [inRoot('kernel/cli.ts'), 'python', ...args], {
    encoding: 'utf8',
    env: { ...process.env, XDG_DATA_HOME: tempFolder(), ...env },
  });
  return { status, stdout, stderr };
}

suite('lance-catalog python', function () {
  this.timeout(60_000);

  test('says why no Python will do and what makes one', () => {
    const { status, stdout } = run([], { LANCE_CATALOG_PYTHON: '/bin/false' });
    assert.equal(status, 1);
    assert.match(stdout, /\/bin\/false \(of \$LANCE_CATALOG_PYTHON\): It does not run/);
    assert.match(stdout, /To create an environment \(about 450 MB\), run: lance-catalog python install/);
  });

  test('makes no environment while another process makes it, also one that has only just begun', () => {
    const data = tempFolder();
    mkdirSync(join(data, 'lance-catalog'));
    writeFileSync(join(data, 'lance-catalog/python.lock'), '');
    const { status, stderr } = run(['install'], { XDG_DATA_HOME: data, PATH: '' });
    assert.notEqual(status, 0);
    assert.match(stderr, /Another process is creating the Python environment/);
  });

  test('removes an environment only where there is one', () => {
    const { status, stdout } = run(['remove'], {});
    assert.deepEqual([status, stdout], [0, 'There is no Lance Catalog environment.\n']);
  });

  test('refuses what it does not know', () => {
    const { status, stderr } = run(['uninstall'], {});
    assert.equal(status, 2);
    assert.match(stderr, /There is no command "python uninstall"/);
  });
});
