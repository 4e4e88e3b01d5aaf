import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Authorizer } from '#engine/serve/authorizer.ts';
import { openKeyStore } from '#engine/serve/keyStore.ts';
import { isCatalogError } from '#shared/errors.ts';

suite('the gate of a server', () => {
  let gate: Authorizer;
  suiteSetup(async () => {
    gate = new Authorizer({
      keys: await openKeyStore({ kind: 'none' }, { changed: () => undefined, problem: () => undefined }),
      databases: [
        { name: 'EU', root: '/eu' },
        { name: 'my.shop', root: '/shop' },
      ],
      host: '127.0.0.1',
      publicHosts: ['example.com'],
    });
  });

  function databaseOf(headers: Record<string, string>): string | undefined {
    const request = new IncomingMessage(new Socket());
    Object.assign(request.headers, headers);
    gate.authorize(request, { operation: 'ListTables', id: [] });
    return gate.callerOf(request)?.database.name;
  }

  test('finds a database with capital letters by the host, which has none', () => {
    assert.equal(databaseOf({ host: 'eu.example.com' }), 'EU');
    assert.equal(databaseOf({ host: 'EU.example.com' }), 'EU');
  });

  test('takes a host and a header that agree, and no others', () => {
    assert.equal(databaseOf({ host: 'EU.example.com', 'x-service-database': 'EU' }), 'EU');
    assert.throws(
      () => databaseOf({ host: 'eu.example.com', 'x-service-database': 'my.shop' }),
      (error) => isCatalogError(error, 'InvalidInput'),
    );
  });

  test('finds a database by the first step of the prefix alone, and needs one of the two', () => {
    assert.equal(databaseOf({ host: 'example.com', 'x-service-database-prefix': 'my.shop/deep/er' }), 'my.shop');
    for (const prefix of ['../EU', '', 'EU//x', '/EU']) {
      const headers = { host: 'example.com', 'x-service-database-prefix': prefix };
      assert.throws(
        () => databaseOf(headers),
        (error) => isCatalogError(error, 'InvalidInput'),
        prefix,
      );
    }
  });

  test('finds a database with a dot by the header alone', () => {
    assert.equal(databaseOf({ host: 'example.com', 'x-service-database': 'my.shop' }), 'my.shop');
    assert.throws(
      () => databaseOf({ host: 'my.shop.example.com' }),
      (error) => isCatalogError(error, 'PermissionDenied'),
    );
  });
});
