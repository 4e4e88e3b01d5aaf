import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { inRoot } from '../../../scripts/paths.ts';
import { tempFolder } from '../../harness/temp.ts';

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
    assert.match(stdout, /"lance-catalog python install" makes an environment, about 450 MB/);
  });

  test('removes an environment only where there is one', () => {
    const { status, stdout } = run(['remove'], {});
    assert.deepEqual([status, stdout], [0, 'There is no environment of Lance Catalog.\n']);
  });

  test('refuses what it does not know', () => {
    const { status, stderr } = run(['uninstall'], {});
    assert.equal(status, 2);
    assert.match(stderr, /"python uninstall" is no command/);
  });
});
