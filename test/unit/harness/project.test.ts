import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../../../scripts/paths.ts';
import { enginePackage, platforms, sqlEnginePackage } from '../../../scripts/platforms.mjs';
import { oldestGo } from '../../harness/needs/goPrograms.ts';
import { notOnLinux } from '../../harness/needs/parts.ts';
import { tempFolder } from '../../harness/temp.ts';

suite('The project', function () {
  // Most tests start Node processes, which takes seconds on a busy machine.
  this.timeout(60_000);

  test('says in the README which parts cannot run on Linux, all of them', () => {
    const readme = readFileSync(inRoot('README.md'), 'utf8');
    for (const part of Object.values(notOnLinux)) assert.ok(readme.includes(part), part);
  });

  test('names in the README the Go that the tests of clusters need', () => {
    const readme = readFileSync(inRoot('README.md'), 'utf8');
    assert.ok(readme.includes(`(Go ${oldestGo.join('.')} or newer)`));
  });

  test('answers a command that does not exist with one sentence and code 2', () => {
    const { status, stderr } = spawnSync(process.execPath, [inRoot('scripts/boot.mjs'), 'launch'], {
      encoding: 'utf8',
    });
    assert.equal(status, 2);
    assert.match(stderr, /^"launch" is not a command of this project\. Commands: .*\.\n$/);
  });

  test('answers an option that does not exist with one sentence and code 2', () => {
    for (const command of ['start', 'test', 'package']) {
      const { status, stderr } = spawnSync(process.execPath, [inRoot('scripts/boot.mjs'), command, '--wat'], {
        encoding: 'utf8',
      });
      assert.equal(status, 2, command);
      assert.match(stderr, /^Unknown option '--wat'\..*\n$/, command);
    }
  });

  test('says what the tests of clusters lack on a machine, and how large it is, before anything is fetched', () => {
    const empty = tempFolder();
    const { status, stdout } = spawnSync(
      process.execPath,
      [inRoot('scripts/boot.mjs'), 'test', 'cluster', '--doctor'],
      {
        encoding: 'utf8',
        env: { ...process.env, LANCE_TEST_KUBE: empty },
      },
    );
    assert.equal(status, 1);
    assert.match(stdout, /API server [\d.]+, built by Go .*: \d+ MB to download, \d+ MB on disk\n/);
    assert.deepEqual(readdirSync(empty), []);
  });

  for (const failing of ['test', 'run test:cluster']) {
    test(`has CI run both halves of the tests, and fail, when "npm ${failing}" fails`, () => {
      const folder = tempFolder();
      // Stands in for npm, because the test checks how CI handles exit codes, not the results of tests.
      const npmStandIn = `#!/bin/sh\necho "npm $*"\n[ "$*" != "${failing}" ]\n`;
      writeFileSync(join(folder, 'npm'), npmStandIn, { mode: 0o755 });
      const PATH = `${folder}:${process.env['PATH']}`;
      const { status, stdout } = spawnSync(inRoot('.ci/run'), { encoding: 'utf8', env: { ...process.env, PATH } });
      assert.deepEqual([stdout, status], ['npm test\nnpm run test:cluster\n', 1]);
    });
  }

  test('only wires services where a window begins, in 80 lines at most', () => {
    const lines = readFileSync(inRoot('extension/extension.ts'), 'utf8').trimEnd().split('\n').length;
    assert.ok(lines <= 80, `extension.ts has ${lines} lines: move what it does into the folder that it belongs to`);
  });

  test('knows the native package of every platform that the engine names', () => {
    const manifest = JSON.parse(readFileSync(inRoot('node_modules/@lancedb/lancedb/package.json'), 'utf8')) as {
      optionalDependencies: Record<string, string>;
    };
    const named = Object.keys(manifest.optionalDependencies).filter((name) => name.startsWith('@lancedb/'));
    const known = platforms.map((platform) => enginePackage(platform)).filter((name) => name !== null);
    assert.deepEqual(known.toSorted(), named.toSorted());
  });

  test('knows the native package of every platform that the SQL engine names', () => {
    const manifest = JSON.parse(readFileSync(inRoot('node_modules/@duckdb/node-bindings/package.json'), 'utf8')) as {
      optionalDependencies: Record<string, string>;
    };
    const known = platforms.map((platform) => sqlEnginePackage(platform));
    assert.deepEqual(known.toSorted(), Object.keys(manifest.optionalDependencies).toSorted());
  });

  test('gives notebooks declarations that anyone can resolve', () => {
    const files = readdirSync(inRoot('dist/types'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.d.ts'),
    );
    assert.ok(files.length > 3);
    for (const file of files) {
      const text = readFileSync(join(inRoot('dist/types'), file), 'utf8');
      assert.doesNotMatch(text, /(?:from|import\()\s*['"](?:#|[^'"]*\.ts['"])/, file);
    }
  });
});
