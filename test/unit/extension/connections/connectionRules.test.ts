import assert from 'node:assert/strict';
import {
  absoluteRoot,
  connectionNameProblem,
  readConnections,
  storedConnection,
  suggestName,
  checkConnection,
  connectionLabel,
} from '../../../../extension/connections/connectionRules.ts';
import type { Connection } from '../../../../extension/explorer/node.ts';

const home = '/home/someone';
const base = { home, folder: '/folder' };

suite('the rules of connections', () => {
  test('refuse an empty name and one in use', () => {
    assert.match(connectionNameProblem(' ', []) ?? '', /needs a name/);
    assert.match(connectionNameProblem('sample', [{ name: 'sample' }]) ?? '', /"sample" already/);
    assert.equal(connectionNameProblem('other', [{ name: 'sample' }]), undefined);
  });

  test('suggest the name of the directory, with a number where it is taken', () => {
    assert.equal(suggestName('/data/catalog', []), 'catalog');
    assert.equal(suggestName('/data/catalog', [{ name: 'catalog' }, { name: 'catalog 2' }]), 'catalog 3');
  });

  test('skip invalid connections and keep the rest', () => {
    const read = readConnections(
      [null, 1, { name: 'a' }, { name: '', root: '/x' }, { name: 'b', root: '/b' }],
      'person',
      base,
    );
    assert.deepEqual(read, [{ name: 'b', kind: 'dir', root: '/b', source: 'person' }]);
  });

  test('keep the first of two with one name', () => {
    const read = readConnections(
      [
        { name: 'a', root: '/1' },
        { name: 'a', root: '/2' },
      ],
      'setting',
      base,
    );
    assert.deepEqual(read.map(connectionLabel), ['/1']);
  });

  test('put the folder of the window in for ${workspaceFolder}', () => {
    const value = [{ name: 'a', root: '${workspaceFolder}/data' }];
    assert.deepEqual(readConnections(value, 'setting', base).map(connectionLabel), ['/folder/data']);
    assert.deepEqual(readConnections(value, 'setting', { home }), []);
  });

  test('read nothing from a value that is not a list', () => {
    assert.deepEqual(readConnections({ name: 'a', root: '/a' }, 'person', base), []);
    assert.deepEqual(readConnections(undefined, 'person', base), []);
  });

  for (const [root, where] of [
    ['/data/catalog', '/data/catalog'],
    ['/data/../catalog/', '/catalog'],
    ['catalog', '/folder/catalog'],
    ['./catalog', '/folder/catalog'],
    ['../catalog', '/catalog'],
    ['~', '/home/someone'],
    ['~/catalog', '/home/someone/catalog'],
    ['~other', '/folder/~other'],
    ['file:///data/a%20b', '/data/a b'],
    ['s3://bucket/catalog', 's3://bucket/catalog'],
  ] as const) {
    test(`take ${root} for ${where}`, () => {
      assert.equal(absoluteRoot(root, base), where);
    });
  }

  test('refuse a relative root while no folder is open, with the next step', () => {
    assert.throws(() => absoluteRoot('catalog', { home }), {
      name: 'CatalogError',
      message:
        /^Can't resolve the relative path "catalog": no folder is open\. Use an absolute path or open a folder\.$/,
    });
    assert.equal(absoluteRoot('~/catalog/', { home }), '/home/someone/catalog');
  });

  test('give the roots of a setting as absolute paths', () => {
    const value = [
      { name: 'a', root: 'data' },
      { name: 'b', root: '~/data' },
    ];
    assert.deepEqual(
      readConnections(value, 'setting', base).map((one) => connectionLabel(checkConnection(one))),
      ['/folder/data', '/home/someone/data'],
    );
  });

  test('list a connection whose root can not be resolved in this window, and refuse to open it', () => {
    const [connection, good] = readConnections(
      [
        { name: 'a', root: 'data' },
        { name: 'b', root: '/b' },
      ],
      'setting',
      { home },
    );
    assert.ok(connection && good);
    assert.equal(connectionLabel(connection), 'data');
    assert.throws(() => checkConnection(connection), /the relative path "data"/);
    assert.equal(connectionLabel(checkConnection(good)), '/b');
  });

  test('take an entry with an address for a server, with its database', () => {
    const value = [{ name: 'company', uri: 'catalog.example.com/', database: 'sales' }];
    assert.deepEqual(readConnections(value, 'setting', base), [
      { name: 'company', kind: 'rest', source: 'setting', uri: 'https://catalog.example.com', database: 'sales' },
    ]);
  });

  test('list a server whose address is none, and refuse to open it', () => {
    const [connection] = readConnections([{ name: 'company', uri: 'ftp://example.com' }], 'setting', base);
    assert.ok(connection);
    assert.throws(() => checkConnection(connection), /not the URL of a catalog server/);
  });

  test('read no secret from the stored value or the setting', () => {
    const value = [
      {
        name: 'a',
        uri: 'https://a.example',
        apiKey: 'k',
        token: 't',
        headers: { 'x-team': 'secret' },
        proxy: 'http://p',
      },
    ];
    for (const source of ['setting', 'person'] as const)
      assert.deepEqual(readConnections(value, source, base), [
        { name: 'a', kind: 'rest', source, uri: 'https://a.example' },
      ]);
  });

  test('read what they store, of either kind', () => {
    const connections: Connection[] = [
      { name: 'here', kind: 'dir', root: '/data', source: 'person' },
      { name: 'there', kind: 'rest', uri: 'https://a.example', source: 'person' },
      { name: 'far', kind: 'rest', uri: 'https://b.example', database: 'd', headerNames: ['X-Team'], source: 'person' },
    ];
    const stored: unknown = JSON.parse(JSON.stringify(connections.map(storedConnection)));
    assert.deepEqual(readConnections(stored, 'person', { home }), connections);
  });

  test('read the directories that earlier versions stored', () => {
    assert.deepEqual(readConnections([{ name: 'old', root: '/old' }], 'person', { home }), [
      { name: 'old', kind: 'dir', root: '/old', source: 'person' },
    ]);
  });
});
