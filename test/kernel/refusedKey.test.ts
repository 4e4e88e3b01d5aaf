import assert from 'node:assert/strict';
import { registerRest } from '#catalog/rest/register.ts';
import { catalogOfArgument } from '#session/catalogArgument.ts';
import { chosenCatalog } from '#session/core/chosenCatalog.ts';
import { isCatalogError } from '#shared/errors.ts';
import { type Serving, startServing } from '../contract/serve/serving.ts';
import { tempFolder } from '../harness/temp.ts';

suite('A key that a server refuses', function () {
  this.timeout(60_000);
  let server: Serving;
  suiteSetup(async () => {
    registerRest();
    server = await startServing(tempFolder());
  });
  suiteTeardown(() => server?.close());

  test('is an error for db that says which variables give another, where the environment gave it', async () => {
    const db = chosenCatalog(catalogOfArgument(server.uri, { LANCE_CATALOG_API_KEY: 'wrong' }));
    await assert.rejects(db.listTables([]), (error) => {
      assert.ok(isCatalogError(error, 'Unauthenticated'));
      return error.hint === 'To use another key, set LANCE_CATALOG_API_KEY, or LANCE_CATALOG_TOKEN, and start again.';
    });
    await db.close();
  });

  test('is one that says what the editor has for it, where that has connected', async () => {
    const keyHint = 'Choose "Update API Key…".';
    const db = chosenCatalog({ implementation: 'rest', uri: server.uri, apiKey: 'wrong', keyHint });
    await assert.rejects(db.openTable('any'), (error) => isCatalogError(error) && error.hint === keyHint);
    await db.close();
  });
});
