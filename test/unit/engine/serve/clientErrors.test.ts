import assert from 'node:assert/strict';
import { join } from 'node:path';
import { checkRoot } from '#catalog/root.ts';
import { clientError } from '#engine/serve/clientErrors.ts';
import type { Caller } from '#engine/serve/authorizer.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { tempFolder } from '../../../harness/temp.ts';

const callerOf = (root: string, prefix?: string, basePath: readonly string[] = []): Caller => ({
  key: { name: 'ana', digest: Buffer.alloc(32), access: 'read-write', databases: '*', namespacePath: [] },
  database: { name: 'sales', root },
  prefix,
  basePath,
  namespacePath: basePath,
});

suite('errors as the clients of a server read them', () => {
  test('are the same where they tell no path', () => {
    const error = new CatalogError('TableNotFound', 'Table "srv/lance" does not exist.', 'List the tables.');
    assert.equal(clientError(error, callerOf('/srv/lance/a'), undefined), error);
  });

  test('keep their kind, status, table and operation without the path', () => {
    const error = new CatalogError('SchemaValidation', 'Broken: /srv/lance/t.lance.', 'See /srv/lance.', {
      operation: 'QueryTable',
      identifier: 'shop/t',
      status: 422,
    });
    const told = clientError(error, callerOf('/srv/lance'), 'shop/t');
    assert.deepEqual(told.toJSON(), { error: 'Broken: t.lance.', code: 20, detail: 'See ….', instance: 'shop/t' });
    assert.deepEqual([told.status, told.operation, told.cause], [422, 'QueryTable', error]);
  });

  test('name objects as in the namespace that is the root', () => {
    const caller = callerOf('/srv/lance', undefined, ['shop', 'eu']);
    const what = 'Table "shop/eu/orders" is not in "shop/eu", but "shop/eu2/x" and "my/shop/eu/x" and shop$eu$a are.';
    const error = new CatalogError('TableNotFound', what, 'See 0a1b2c3d_shop$eu$orders.', {
      identifier: 'shop/eu/orders',
    });
    const told = clientError(error, caller, 'orders');
    assert.deepEqual(told.toJSON(), {
      error: 'Table "orders" is not in "/", but "shop/eu2/x" and "my/shop/eu/x" and a are.',
      code: 4,
      detail: 'See 0a1b2c3d_shop$eu$orders.',
      instance: 'orders',
    });
    const own = new CatalogError('InvalidInput', 'The field "k" is missing.', '', { identifier: 'shop/eu/x' });
    assert.equal(clientError(own, caller, 'shop/eu/x'), own);
  });

  test('that are unexpected contain no path, but the requested address', () => {
    const what = "The server failed: ENOSPC, write '/var/lib/x/y.tmp' for GET /v1 of http://host/v1/table.";
    const told = clientError(new CatalogError('Internal', what, ''), undefined, undefined);
    assert.equal(told.message, "The server failed: ENOSPC, write '…' for GET /v1 of http://host/v1/table.");
  });

  test('of a root say which database it is, and of a prefix that it is not there', async () => {
    const root = join(tempFolder(), 'gone');
    const missing: unknown = await checkRoot(root).catch((error: unknown) => error);
    assert.ok(isCatalogError(missing));
    const ofDatabase = clientError(missing, callerOf(root), undefined);
    assert.deepEqual([ofDatabase.kind, ofDatabase.status], ['ServiceUnavailable', 503]);
    const ofPrefix = clientError(missing, callerOf(root, 'a/gone'), undefined);
    assert.deepEqual([ofPrefix.kind, ofPrefix.status], ['NamespaceNotFound', 404]);
    for (const { message } of [ofDatabase, ofPrefix]) assert.ok(!message.includes(root), message);
    assert.match(ofPrefix.message, /"sales".*"a\/gone"/);
  });
});
