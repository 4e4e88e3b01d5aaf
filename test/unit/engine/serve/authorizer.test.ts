import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Authorizer } from '#engine/serve/authorizer.ts';
import { type Database, databasesOf } from '#engine/serve/databases.ts';
import { openKeyStore } from '#engine/serve/keyStore.ts';
import { digestOf } from '#engine/serve/keys.ts';
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

suite('the gate of a server without names of databases', () => {
  const key = 'a-key-of-some-databases';
  const found = { name: 'ana', digest: digestOf(key), access: 'read-write', namespacePath: [] } as const;

  /** Returns the database of a request, for a key that opens some databases. */
  function databaseOf(headers: Record<string, string>, opens: readonly string[] | '*', databases: readonly Database[]) {
    const keys = {
      find: () => ({ ...found, databases: opens }),
      isOpen: false,
      close: () => undefined,
    };
    const gate = new Authorizer({ keys, databases, host: '127.0.0.1', publicHosts: ['example.com'] });
    const request = new IncomingMessage(new Socket());
    Object.assign(request.headers, { host: 'example.com', ...headers });
    gate.authorize(request, { operation: 'ListTables', id: [] });
    return gate.callerOf(request)?.database.root;
  }
  const unnamed = databasesOf('/data', []);
  const ofClient = { 'x-lancedb-database': 'main' };

  test("takes every name of LanceDB's remote client for its only database", () => {
    assert.equal(databaseOf(ofClient, '*', unnamed), '/data');
    assert.equal(databaseOf(ofClient, ['default'], unnamed), '/data');
    const folder = { ...ofClient, 'x-lancedb-database-prefix': 'team' };
    assert.equal(databaseOf(folder, '*', unnamed), '/data/team');
  });

  test('keeps a key to its own databases, whatever name the client sends', () => {
    for (const opens of [['main'], ['sales', 'main'], []]) {
      assert.throws(
        () => databaseOf(ofClient, opens, unnamed),
        (error) => isCatalogError(error, 'PermissionDenied'),
        opens.join(),
      );
    }
  });

  test('takes no other name, by the other header, by the host, or with named databases', () => {
    const named = databasesOf(undefined, ['default=/data']);
    for (const [headers, databases, place] of [
      [{ 'x-service-database': 'main' }, unnamed, 'in x-service-database,'],
      [{ 'x-service-database': 'main', ...ofClient }, unnamed, 'in x-service-database,'],
      [{ host: 'main.example.com' }, unnamed, 'the first label of the host,'],
      [{ host: 'main.example.com', ...ofClient }, unnamed, '"db://main",'],
      [ofClient, named, 'another database than "db://main",'],
    ] as const) {
      assert.throws(
        () => databaseOf(headers, '*', databases),
        (error) =>
          isCatalogError(error, 'NamespaceNotFound') &&
          error.message.includes(`${place} or start the server with --database main=DIR`),
        JSON.stringify(headers),
      );
    }
  });
});
