import assert from 'node:assert/strict';
import {
  readConnections,
  secretOwner,
  checkConnection,
  connectionLabel,
} from '../../../../extension/connections/connectionRules.ts';
import { restConfigOf } from '../../../../extension/connections/restRules.ts';
import type { Connection } from '../../../../extension/explorer/node.ts';

const base = { home: '/home/someone', folder: '/folder' };
const uri = 'https://catalog.example.com';
const noProxy = { proxy: '', support: 'on', noProxy: [] };

/** Returns the connection for an entry of the setting. */
function read(implementation: unknown, properties?: unknown): Connection {
  const [connection] = readConnections([{ name: 'team', implementation, properties }], 'setting', base);
  assert.ok(connection);
  return connection;
}

suite('connections by an implementation and its properties, as they are read', () => {
  test('are a directory, with the rules of other roots', () => {
    const at = (root: string) => connectionLabel(read('dir', { root }));
    assert.deepEqual(
      [at('/data'), at('~/x'), at('x'), at('${workspaceFolder}/y')],
      ['/data', '/home/someone/x', '/folder/x', '/folder/y'],
    );
    const storageOptions = { aws_region: 'eu-west-1' };
    const connection = read('dir', { root: 's3://bucket/x', storageOptions });
    assert.ok(connection.kind === 'dir');
    assert.deepEqual([connection.root, connection.properties], ['s3://bucket/x', { storageOptions }]);
  });

  test('are a server, whose properties go to the client with the secrets of the user', () => {
    const properties = { databasePrefix: 'eu', headers: { 'x-team': 'data' }, 'headers.x-role': 'r', retries: 1 };
    const connection = read('rest', { uri: `${uri}/`, database: 'sales', ...properties });
    assert.ok(connection.kind === 'rest');
    assert.equal(connectionLabel(connection), `${uri}, database sales, prefix eu`);
    assert.deepEqual(restConfigOf(connection, { apiKey: 'k', headers: { 'x-own': 'o' } }, noProxy), {
      ...properties,
      uri,
      database: 'sales',
      apiKey: 'k',
      headers: { 'x-team': 'data', 'x-own': 'o' },
    });
  });

  test('are read from the setting alone', () => {
    const entry = { name: 'team', implementation: 'dir', properties: { root: '/data' } };
    assert.deepEqual(readConnections([entry], 'person', base), []);
  });

  test('keep the name of an unknown implementation', () => {
    const connection = read('glue', { region: 'eu' });
    assert.deepEqual([connection.kind, connectionLabel(connection)], ['other', 'implementation "glue"']);
  });

  for (const [implementation, properties, named] of [
    ['rest', { uri, apiKey: 'sesame' }, 'apiKey'],
    ['rest', { uri, token: 'sesame' }, 'token'],
    ['rest', { uri, 'headers.x-api-key': 'sesame' }, 'headers.x-api-key'],
    ['rest', { uri, 'headers.Authorization': 'sesame' }, 'headers.Authorization'],
    ['rest', { uri, headers: { AUTHORIZATION: 'sesame' } }, 'headers.AUTHORIZATION'],
    ['rest', { uri, proxy: 'http://me:sesame@proxy:3128' }, 'proxy'],
    ['dir', { root: 's3://x', storageOptions: { aws_secret_access_key: 'sesame' } }, 'storageOptions.aws_secret'],
  ] as const) {
    test(`refuse a secret in ${named}, and do not keep it`, () => {
      const connection = read(implementation, properties);
      assert.throws(
        () => checkConnection(connection),
        new RegExp(`"team": the property "${named}.*is a secret.* Remove it`),
      );
      assert.ok(!JSON.stringify(connection).includes('sesame'));
      assert.ok(!connection.problem?.message.includes('sesame'));
    });
  }

  test('refuse properties that are missing or of another type', () => {
    assert.throws(() => checkConnection(read('dir')), /"team": it has no properties.*"root"/);
    assert.throws(() => checkConnection(read('rest', 5)), /"team": it has no properties.*"uri"/);
    assert.throws(
      () => checkConnection(read('rest', { uri, timeouts: { connect: 'long' } })),
      /"timeouts" has the wrong type/,
    );
    assert.throws(() => checkConnection(read('dir', { root: 5 })), /"root" has the wrong type/);
    assert.throws(() => checkConnection(read('rest', {})), /address/);
  });

  test('have a key of their own for each way to the address', () => {
    const ownerOf = (more: object) => {
      const connection = read('rest', { uri, ...more });
      assert.ok(connection.kind === 'rest');
      return secretOwner(connection).uri;
    };
    // Empty properties must give the same owner as no properties, so that an already stored key stays valid.
    assert.equal(ownerOf({}), uri);
    assert.equal(ownerOf({ retries: 1 }), uri);
    const owners = [{ endpoint: '10.0.0.1:443' }, { endpoint: '10.0.0.2' }, { ca: 'PEM' }, { proxy: 'http://p:1' }];
    assert.equal(new Set([uri, ...owners.map(ownerOf)]).size, 5);
  });
});
