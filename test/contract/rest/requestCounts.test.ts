import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tableFromIPC } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { openRest } from '#catalog/rest/restCatalog.ts';
import type { RestTable } from '#catalog/rest/restTable.ts';
import { type DirCatalog, openDir } from '#engine/dir/dirCatalog.ts';
import { createContractHandler } from '#engine/server/server.ts';
import { tempFolder } from '../../harness/temp.ts';

const path = ['models'];

suite('requests that a call sends', () => {
  let dir: DirCatalog;
  let server: Server;
  let db: Catalog;
  let requests: string[];
  /** Whether the server ignores the header `prefer`, like a server that supports only the specification. */
  let ignoresWishes: boolean;

  setup(async () => {
    dir = await openDir({ root: tempFolder() });
    await dir.createNamespace(path);
    await dir.createTable('t', [{ x: 1, at: new Date(0) }], path);
    ignoresWishes = false;
    requests = [];
    const contract = createContractHandler({
      authorize: () => {},
      catalogOf: async () => dir,
      log: (line) => process.emitWarning(line),
    });
    server = createServer((request, response) => {
      requests.push(String(request.url).replace(/^.*\//, ''));
      if (ignoresWishes) delete request.headers['prefer'];
      void contract.handle(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    db = await openRest({ uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    // The first request of a connection also finds out which routes the server has.
    await db.listTables(path);
    requests = [];
  });
  teardown(async () => {
    server.close();
    server.closeAllConnections();
    await dir.close();
  });

  /** What a click on a table does, up to its first rows. */
  async function click(): Promise<number> {
    const { version, numRows, columns } = await db.describeTable('t', { namespacePath: path });
    assert.equal(numRows, 1);
    assert.deepEqual(
      columns.map(({ name, type }) => `${name} ${type}`),
      ['x double', 'at timestamp[us, UTC]'],
    );
    const table = (await db.openTable('t', { namespacePath: path, version })) as RestTable;
    return tableFromIPC(await table.queryIpc({ limit: 50 })).numRows;
  }

  test('are one for a description, and two for a click on a table', async () => {
    await db.describeTable('t', { namespacePath: path });
    assert.deepEqual(requests, ['describe?load_detailed_metadata=true']);
    requests = [];
    assert.equal(await click(), 1);
    assert.deepEqual(requests, ['describe?load_detailed_metadata=true', 'query']);
  });

  test('are one for a schema, without rows', async () => {
    const table = await db.openTable('t', path);
    requests = [];
    const { fields } = await table.schema();
    assert.deepEqual(fields.map(String), ['x: Float64', 'at: Timestamp<MICROSECOND, UTC>']);
    assert.deepEqual(requests, ['describe']);
  });

  test('are more where a server knows only the specification, for the same values', async () => {
    ignoresWishes = true;
    assert.equal(await click(), 1);
    // The rows are counted for the description, and because the server does not confirm that no row is missing.
    assert.deepEqual(requests.toSorted(), [
      'count_rows',
      'count_rows',
      'describe?load_detailed_metadata=true',
      'query',
      'query',
    ]);
    requests = [];
    const table = await db.openTable('t', path);
    for (let time = 0; time < 2; time++) {
      const { fields } = await table.schema();
      assert.deepEqual(fields.map(String), ['x: Float64', 'at: Timestamp<MICROSECOND, UTC>']);
    }
    assert.deepEqual(requests, ['describe', 'query', 'query']);
    await db.close();
  });

  test('are sent again for a version that was not described', async () => {
    await db.describeTable('t', { namespacePath: path });
    requests = [];
    await db.openTable('t', { namespacePath: path });
    assert.deepEqual(requests, ['describe']);
    await assert.rejects(db.openTable('t', { namespacePath: path, version: 99 }), /no version 99/);
    assert.equal(requests.length, 2);
  });
});
