import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as upstream from '@lancedb/lancedb';
import type { Catalog } from '#catalog/catalog.ts';
import { openRest } from '#catalog/rest/restCatalog.ts';
import { tempFolder } from '../../harness/temp.ts';
import { pathsRead } from '../fileReads.ts';
import { type PlainServer, startPlainServer } from '../rest/plainServer.ts';
import { forEachSubject } from '../subjects.ts';

type Version = { version: number; timestamp_millis?: number; metadata?: Record<string, string> };
type Reply = { versions: Version[]; page_token?: string };

/** Runs a call and returns the number of manifests that this process read meanwhile. */
const manifestsRead = async (call: () => Promise<unknown>): Promise<number> =>
  (await pathsRead('readFile', call)).filter((path) => path.endsWith('.manifest')).length;

/** Makes a table with a version of every kind of change that the engine counts. */
async function makeVersions(root: string, storageOptions: Record<string, string> = {}): Promise<upstream.Table> {
  const theirs = await upstream.connect(root);
  const rows = Array.from({ length: 10 }, (_, id) => ({ id, text: `row ${id}` }));
  const table = await theirs.createTable('t', rows, { storageOptions });
  await table.add([{ id: 10, text: 'more' }]);
  await table.delete('id = 3');
  await table.delete('id > 8');
  await table.update({ where: 'id = 1', values: { text: 'other' } });
  await table.createIndex('id');
  await table.addColumns([{ name: 'twice', valueSql: 'id * 2' }]);
  await table
    .mergeInsert('id')
    .whenMatchedUpdateAll()
    .whenNotMatchedInsertAll()
    .execute([{ id: 2, text: 'x', twice: 4 }]);
  await table.dropColumns(['text']);
  await table.optimize();
  await table.add([{ id: 11, twice: 22 }], { mode: 'overwrite' });
  await table.delete('true');
  return table;
}

/** The versions of a table as the engine lists them, in the form of the specification. */
async function engineVersions(table: upstream.Table): Promise<Version[]> {
  const versions = (await table.listVersions()).toSorted((a, b) => a.version - b.version);
  return versions.map(({ version, timestamp, metadata }) => ({
    version,
    timestamp_millis: timestamp.getTime(),
    metadata,
  }));
}

const shown = ({ version, timestamp_millis, metadata }: Version): Version => ({
  version,
  ...(timestamp_millis !== undefined && { timestamp_millis }),
  ...(metadata && { metadata }),
});

suite('pages of versions', function () {
  this.timeout(60_000);
  const servers: { server: PlainServer; db: Catalog }[] = [];
  teardown(async () => {
    for (const { server, db } of servers.splice(0)) {
      await db.close();
      await server.close();
      assert.deepEqual(server.failures, []);
    }
  });

  async function serve(root: string) {
    const server = await startPlainServer(root);
    const db = await openRest({ uri: server.uri });
    servers.push({ server, db });
    const post = async (path: string, body: unknown = {}): Promise<unknown> => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${server.uri}/v1/table/${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return response.json();
    };
    return {
      server,
      db,
      list: async (query = '') => (await post(`t/version/list${query}`)) as Reply,
      describe: async (version?: number) =>
        ((await post('t/version/describe', { ...(version !== undefined && { version }) })) as { version: Version })
          .version,
    };
  }

  const kinds: Record<string, Record<string, string>> = {
    'a table': {},
    'a table with file names of earlier versions of the format': { new_table_enable_v2_manifest_paths: 'false' },
    'a table in the legacy file format': { new_table_data_storage_version: 'legacy' },
    'a table with stable row ids': { new_table_enable_stable_row_ids: 'true' },
  };
  for (const [kind, storageOptions] of Object.entries(kinds)) {
    test(`of ${kind} have the times and the counts of the engine`, async () => {
      const root = tempFolder();
      const expected = await engineVersions(await makeVersions(root, storageOptions));
      assert.ok(expected.length > 10, String(expected.length));
      const { list, describe } = await serve(root);
      assert.deepEqual((await list()).versions.map(shown), expected);
      for (const limit of [1, 2, 3, expected.length - 1, expected.length, 1000]) {
        for (const isDescending of [false, true]) {
          const seen: Version[] = [];
          let token: string | undefined;
          do {
            const after = token === undefined ? '' : `&page_token=${token}`;
            const page = await list(`?limit=${limit}&descending=${isDescending}${after}`);
            assert.ok(page.versions.length <= limit);
            seen.push(...page.versions.map(shown));
            token = page.page_token;
          } while (token !== undefined);
          assert.deepEqual(seen, isDescending ? expected.toReversed() : expected, `pages of ${limit}`);
        }
      }
      for (const one of expected) assert.deepEqual(shown(await describe(one.version)), one);
      assert.deepEqual(shown(await describe()), expected.at(-1));
    });
  }

  test('read no more manifests than the versions that they have', async () => {
    const root = tempFolder();
    await makeVersions(root);
    const { list, describe } = await serve(root);
    assert.equal(await manifestsRead(() => list('?limit=3&descending=true')), 3);
    assert.equal(await manifestsRead(() => list('?limit=2&page_token=4')), 2);
    assert.equal(await manifestsRead(() => describe(5)), 1);
    assert.equal(await manifestsRead(() => describe()), 1);
    assert.equal(await manifestsRead(() => describe(999)), 0);
  });

  test('are read by the engine if a file is not known', async () => {
    const root = tempFolder();
    const expected = await engineVersions(await makeVersions(root));
    const { list } = await serve(root);
    await writeFile(join(root, 't.lance', '_versions', 'note.txt'), '');
    assert.equal(await manifestsRead(() => list('?limit=3')), 0);
    assert.deepEqual((await list('?limit=3')).versions.map(shown), expected.slice(0, 3));
  });

  test('have the error of the engine for a broken manifest', async () => {
    const root = tempFolder();
    await makeVersions(root);
    const { list, server } = await serve(root);
    const folder = join(root, 't.lance', '_versions');
    const newest = (await readdir(folder)).filter((file) => file.endsWith('.manifest')).toSorted();
    await writeFile(join(folder, newest.at(-1)!), 'broken');
    const reply = (await list('?limit=1')) as unknown as { error?: string; code?: number };
    assert.ok(reply.code !== undefined, JSON.stringify(reply));
    server.failures.length = 0;
    assert.equal((await list('?limit=1&descending=true')).versions.length, 1);
  });

  test('of a branch are those of the branch', async () => {
    const root = tempFolder();
    const table = await makeVersions(root);
    const branch = await (await table.branches()).create('try');
    await branch.add([{ id: 1, twice: 2 }]);
    const expected = await engineVersions(branch);
    const { list } = await serve(root);
    assert.deepEqual((await list('?branch=try')).versions.map(shown), expected);
    assert.deepEqual((await list('?branch=try&limit=1')).versions.map(shown), expected.slice(0, 1));
  });

  test('are one response if the client gives no limit', async () => {
    const root = tempFolder();
    const table = await makeVersions(root);
    for (let index = 0; index < 1000; index++) {
      await table.updateFieldMetadata([{ path: 'id', metadata: { n: String(index) } }]);
    }
    const { db, server, list } = await serve(root);
    const all = await list();
    assert.equal(all.page_token, undefined);
    assert.ok(all.versions.length > 1000);
    const opened = await db.openTable('t');
    const before = server.log.length;
    assert.equal((await opened.listVersions()).length, all.versions.length);
    assert.equal(server.log.length - before, 1);
  });
});

forEachSubject('versions of a table in a namespace', (makeCatalog) => {
  test('are all listed, also those of later changes', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    const table = await db.createTable('t', [{ id: 1 }], ['shop']);
    for (let id = 2; id <= 5; id++) await table.add([{ id }]);
    const versions = async () => (await table.listVersions()).map(({ version }) => version);
    assert.deepEqual(await versions(), [1, 2, 3, 4, 5]);
    await table.restore(2);
    assert.deepEqual(await versions(), [1, 2, 3, 4, 5, 6]);
  });
});
