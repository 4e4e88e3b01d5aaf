import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Catalog } from '#catalog/catalog.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { trackProcessGroup } from '../../../scripts/processes.ts';
import { fullKey, type ServeProcess, startServeWithCatalog } from '../../contract/serve/serveProcess.ts';

type Step = [name: string, error: string | null];

const python = inRoot('.toolchain/python/bin/python');
const stepCount = 54;

/** Runs the steps of LanceDB's remote client in a namespace. */
async function runSteps(server: ServeProcess, namespace: readonly string[]): Promise<Step[]> {
  const program = inRoot('test/cluster/clients/lancedbRemoteClient.py');
  const child = spawn(python, [program, server.address, fullKey, JSON.stringify(namespace)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  trackProcessGroup(child);
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Step);
}

suite("LanceDB's remote client in Python", function () {
  this.timeout(240_000);
  let server: ServeProcess;
  let catalog: Catalog;

  suiteSetup(async () => {
    ({ server, catalog } = await startServeWithCatalog());
    await catalog.createNamespace(['depot']);
    await catalog.createTable('untouched', [{ id: 1 }], ['depot']);
    await catalog.createNamespace(['depot', 'north']);
  });
  suiteTeardown(async () => {
    await catalog.close();
    await server.stop();
  });

  for (const [place, namespace] of [
    ['a namespace', ['depot', 'north']],
    ['the root', []],
  ] as const) {
    test(`does each of its steps in ${place}`, async () => {
      const steps = await runSteps(server, namespace);
      assert.deepEqual(
        steps.filter(([, error]) => error !== null),
        [],
      );
      assert.equal(steps.length, stepCount);
    });

    test(`leaves the tables of ${place} where they belong`, async () => {
      assert.deepEqual(await catalog.tableNames(namespace), ['kept']);
      assert.deepEqual(await catalog.tableNames([...namespace, 'goal']), ['moved']);
      const kept = await catalog.openTable('kept', namespace);
      assert.equal(await kept.countRows(), 12);
      const moved = await catalog.openTable('moved', [...namespace, 'goal']);
      assert.deepEqual(await moved.query().toArray(), [{ id: 7 }]);
      assert.deepEqual(await catalog.tableNames(['depot']), ['untouched']);
      assert.deepEqual(
        (await catalog.listNamespaces(namespace)).namespaces,
        namespace.length > 0 ? ['goal'] : ['depot', 'goal'],
      );
    });
  }
});
