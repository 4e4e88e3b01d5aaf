import assert from 'node:assert/strict';
import { join } from 'node:path';
import { checkRoot } from '#catalog/root.ts';
import { clientError } from '#engine/serve/clientErrors.ts';
import type { Caller } from '#engine/serve/authorizer.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { tempFolder } from '../../../harness/temp.ts';

const callerOf = (root: string, prefix?: string): Caller => ({
  key: { name: 'ana', digest: Buffer.alloc(32), access: 'read-write', databases: '*' },
  database: { name: 'sales', root },
  prefix,
});

suite('errors as the clients of a server read them', () => {
  test('are the same where they tell no path', () => {
    const error = new CatalogError('TableNotFound', 'Table "srv/lance" does not exist.', 'List the tables.');
    assert.equal(clientError(error, callerOf('/srv/lance/a')), error);
  });

  test('keep their kind, status, table and operation without the path', () => {
    const error = new CatalogError('SchemaValidation', 'Broken: /srv/lance/t.lance.', 'See /srv/lance.', {
      operation: 'QueryTable',
      identifier: 'shop/t',
      status: 422,
    });
    const told = clientError(error, callerOf('/srv/lance'));
    assert.deepEqual(told.toJSON(), { error: 'Broken: t.lance.', code: 20, detail: 'See ….', instance: 'shop/t' });
    assert.deepEqual([told.status, told.operation, told.cause], [422, 'QueryTable', error]);
  });

  test('that are unexpected contain no path, but the requested address', () => {
    const what = "The server failed: ENOSPC, write '/var/lib/x/y.tmp' for GET /v1 of http://host/v1/table.";
    const told = clientError(new CatalogError('Internal', what, ''), undefined);
    assert.equal(told.message, "The server failed: ENOSPC, write '…' for GET /v1 of http://host/v1/table.");
  });

  test('of a root say which database it is, and of a prefix that it is not there', async () => {
    const root = join(tempFolder(), 'gone');
    const missing: unknown = await checkRoot(root).catch((error: unknown) => error);
    assert.ok(isCatalogError(missing));
    const ofDatabase = clientError(missing, callerOf(root));
    assert.deepEqual([ofDatabase.kind, ofDatabase.status], ['ServiceUnavailable', 503]);
    const ofPrefix = clientError(missing, callerOf(root, 'a/gone'));
    assert.deepEqual([ofPrefix.kind, ofPrefix.status], ['NamespaceNotFound', 404]);
    for (const { message } of [ofDatabase, ofPrefix]) assert.ok(!message.includes(root), message);
    assert.match(ofPrefix.message, /"sales".*"a\/gone"/);
  });
});
