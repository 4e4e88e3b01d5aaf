import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Catalog } from '#catalog/catalog.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { endGroup, trackProcessGroup } from '../../../scripts/processes.ts';
import { fullKey, type ServeProcess, startServeWithCatalog } from '../../contract/serve/serveProcess.ts';
import { clientPython, type PythonClient } from '../../harness/needs/pythonClients.ts';
import { unshareFlags } from '../../harness/needs/rayNeeds.ts';

const places: readonly (readonly string[])[] = [[], ['depot'], ['depot', 'north']];

type Results = Readonly<Record<string, unknown>>;

/** Runs the program of a client in each of the places. Returns the results of its steps in each. */
async function runClient(client: PythonClient, uri: string): Promise<Results[]> {
  const program = inRoot(`test/cluster/clients/${client}Client.py`);
  // All processes of a Ray end with their process namespace.
  const inNamespace = client === 'lanceRay' ? ['unshare', ...unshareFlags().filter((flag) => flag !== '--net')] : [];
  const [command, ...args] = [...inNamespace, clientPython(client), program, uri, fullKey, JSON.stringify(places)];
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, RAY_USAGE_STATS_ENABLED: '0', DO_NOT_TRACK: '1' },
    detached: true,
  });
  trackProcessGroup(child);
  try {
    const [out, said] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    const lines = out.split('\n').filter((line) => line.startsWith('{'));
    assert.equal(lines.length, places.length, `${client} ended early:\n${said.slice(-4000)}`);
    return lines.map((line) => JSON.parse(line) as Results);
  } finally {
    await endGroup(child, 5000);
  }
}

/** The result of each step in a place. `of` returns the names that were written there. */
const steps: Readonly<
  Record<PythonClient, (of: (...names: string[]) => string[], path: readonly string[]) => Results>
> = {
  pylance: (of, path) => ({
    versions_of_packages: ['14.0.2', '0.13.0', '0.13.0'],
    write_dataset: of('a', 'b', 'c'),
    dataset: of('a', 'b', 'c'),
    append: of('a', 'b', 'c', 'd'),
    filter_rows: [3, 4],
    nearest: [4, 3],
    update: of('new a')[0],
    delete: 3,
    merge_insert: of('new a', 'C', 'd', 'e'),
    add_columns: [2, 6, 8, 10],
    drop_columns: ['id', 's', 'v'],
    tags: 1,
    old_version: of('a', 'b', 'c'),
    scalar_index: ['id_idx'],
    compaction: 4,
    rest_create_table: of('x', 'y'),
    rest_insert: 3,
    rest_query: of('z'),
    rest_filter: of('x', 'y'),
    rest_update: 1,
    rest_delete: [3, 9],
    rest_list_tables: ['made', 'orders'],
    rest_describe_table: ['made', path],
    rest_rename_table: ['orders', 'renamed'],
    rest_drop_table: ['orders'],
    rest_missing_table: 'TableNotFoundError',
  }),
  daft: (of) => ({
    versions_of_packages: ['0.7.26', '0.6.0'],
    write_lance: of('a', 'b', 'c'),
    append: of('a', 'b', 'c', 'd'),
    where: of('c', 'd'),
    count: 4,
    aggregate: [10],
    location: of('a', 'b', 'c', 'd'),
    scalar_index: of('d'),
    compaction: 4,
    overwrite: of('g', 'h'),
  }),
  lanceRay: (of) => ({
    versions_of_packages: ['2.60.0', '0.5.0'],
    write_lance: of('a', 'b', 'c'),
    append: of('a', 'b', 'c', 'd'),
    filter_rows: of('c', 'd'),
    columns: ['id'],
    count: 4,
    add_columns: [2, 4, 6, 8],
    scalar_index: of('d'),
    compaction: 4,
    overwrite: of('g', 'h'),
  }),
};

/** The rows of the table that a client leaves. */
const left: Readonly<Record<PythonClient, readonly string[]>> = {
  pylance: ['C', 'd', 'e', 'new a'],
  daft: ['g', 'h'],
  lanceRay: ['g', 'h'],
};

suite('Clients in Python of one server', function () {
  this.timeout(300_000);
  let server: ServeProcess;
  let catalog: Catalog;

  suiteSetup(async () => {
    ({ server, catalog } = await startServeWithCatalog());
    for (const path of places) if (path.length > 0) await catalog.createNamespace(path);
  });
  suiteTeardown(async () => {
    await catalog.close();
    await server.stop();
  });

  for (const client of ['pylance', 'daft', 'lanceRay'] as const) {
    suite(client, () => {
      let results: Results[];
      suiteSetup(async () => {
        results = await runClient(client, server.address);
      });
      suiteTeardown(async () => {
        for (const path of places)
          for (const name of await catalog.tableNames(path)) await catalog.dropTable(name, path);
      });

      for (const [index, path] of places.entries()) {
        const place = path.join('/') || 'root';
        const of = (...names: string[]): string[] => names.map((name) => `${name} of ${place}`);
        for (const [step, result] of Object.entries(steps[client](of, path)))
          test(`${step.replaceAll('_', ' ')} in ${place}`, () => assert.deepEqual(results[index]?.[step], result));

        test(`left its rows in ${place}, and no other table`, async () => {
          assert.deepEqual(await catalog.tableNames(path), ['orders']);
          const table = await catalog.openTable('orders', path);
          const found = (await table.query().select(['s']).toArray()).map((row) => String(row['s']));
          assert.deepEqual(found.toSorted(), of(...left[client]));
        });
      }
    });
  }
});
