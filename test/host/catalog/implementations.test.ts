import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { CatalogNode } from '../../../extension/explorer/node.ts';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { PersonStandIn } from '../person.ts';
import { eventually, extensionApi, makeCatalog, nameOf, rowsAt, run, temporaryFolder } from '../support.ts';
import { type CompanyServer, key, startServer } from './server.ts';

/** Sets connections in the setting during a call. */
async function withSetting(
  api: ExtensionApi,
  value: readonly { name: string; implementation: string; properties: object }[],
  call: () => Promise<void>,
) {
  const settings = vscode.workspace.getConfiguration('lanceCatalog');
  await settings.update('defaultConnections', value, vscode.ConfigurationTarget.Global);
  try {
    await eventually('the connections of the setting', () =>
      value.every(({ name }) => api.connections.list().some((one) => one.name === name)),
    );
    await call();
  } finally {
    await settings.update('defaultConnections', undefined, vscode.ConfigurationTarget.Global);
  }
}

/** Returns the only row under a connection, which must be an error. */
async function errorAt(api: ExtensionApi, name: string): Promise<Extract<CatalogNode, { kind: 'error' }>> {
  const [error, ...rest] = await rowsAt(api, name);
  assert.ok(error?.kind === 'error', JSON.stringify(error));
  assert.deepEqual(rest, []);
  return error;
}

suite('connections by an implementation and its properties', () => {
  const folder = temporaryFolder();
  let api: ExtensionApi;
  let server: CompanyServer;

  suiteSetup(async () => {
    api = await extensionApi();
    await makeCatalog(api, folder.path);
    server = await startServer(folder.path);
  });
  suiteTeardown(async () => {
    await server.stop();
    folder.remove();
  });

  test('list a directory and a server, the server with the key of the user', async () => {
    const value = [
      { name: 'as dir', implementation: 'dir', properties: { root: folder.path } },
      {
        name: 'as rest',
        implementation: 'rest',
        properties: { uri: server.address, database: 'default', 'headers.x-team': 'data', retries: 1 },
      },
    ];
    await withSetting(api, value, async () => {
      assert.deepEqual((await rowsAt(api, 'as dir')).map(nameOf), ['lab', 'shop']);
      assert.deepEqual((await rowsAt(api, 'as dir', 'shop', 'eu')).map(nameOf), ['orders']);
      const refused = await errorAt(api, 'as rest');
      assert.equal(refused.remedy, 'key');
      const person = new PersonStandIn({ types: [key] });
      await person.during(() => run('lanceCatalog.connection.updateKey', refused));
      assert.deepEqual((await rowsAt(api, 'as rest')).map(nameOf), ['lab', 'shop']);
      assert.equal((await api.catalogs.config('as rest')).implementation, 'rest');
      const connection = api.connections.get('as rest');
      assert.ok(connection.kind === 'rest');
      await api.connections.setApiKey(connection, '');
    });
  });

  test('are refused by connectNamespace for a property that it does not know', async () => {
    const value = [{ name: 'typo', implementation: 'dir', properties: { root: folder.path, rooot: '/x' } }];
    await withSetting(api, value, async () => {
      const { what, hint } = await errorAt(api, 'typo');
      assert.match(what, /^connectNamespace\("dir"\) has no option "rooot"/);
      assert.match(hint, /root, storageOptions/);
    });
  });

  test('are an error that names the implementations there are, for one that is not', async () => {
    const value = [{ name: 'glue catalog', implementation: 'glue', properties: { region: 'eu-west-1' } }];
    await withSetting(api, value, async () => {
      const { what, hint } = await errorAt(api, 'glue catalog');
      assert.match(what, /"glue"/);
      assert.match(hint, /"dir", "rest"/);
    });
  });

  test('are an error with a key in the setting, which is sent nowhere and not shown', async () => {
    const properties = { uri: server.address, headers: { 'X-API-Key': key } };
    await withSetting(api, [{ name: 'open key', implementation: 'rest', properties }], async () => {
      const { what, hint } = await errorAt(api, 'open key');
      assert.match(what, /headers\.X-API-Key/);
      assert.match(hint, /Update API Key…/);
      assert.ok(!`${what} ${hint}`.includes(key));
      await assert.rejects(api.catalogs.config('open key'), /headers\.X-API-Key/);
    });
  });
});
