import assert from 'node:assert/strict';
import {
  absoluteRoot,
  connectionNameProblem,
  readConnections,
  rootOf,
  suggestName,
} from '../../../extension/catalog/connectionRules.ts';

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

  test('leave out what is no connection and keep the rest', () => {
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
    assert.deepEqual(
      read.map((one) => one.root),
      ['/1'],
    );
  });

  test('put the folder of the window in for ${workspaceFolder}', () => {
    const value = [{ name: 'a', root: '${workspaceFolder}/data' }];
    assert.equal(readConnections(value, 'setting', base)[0]?.root, '/folder/data');
    assert.deepEqual(readConnections(value, 'setting', { home }), []);
  });

  test('take nothing from a value that is no list', () => {
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
      message: /^"catalog" is a relative path, and no folder is open .* Give the whole path, or open a folder\.$/,
    });
    assert.equal(absoluteRoot('~/catalog/', { home }), '/home/someone/catalog');
  });

  test('give the roots of a setting as absolute paths', () => {
    const value = [
      { name: 'a', root: 'data' },
      { name: 'b', root: '~/data' },
    ];
    assert.deepEqual(
      readConnections(value, 'setting', base).map((one) => rootOf(one)),
      ['/folder/data', '/home/someone/data'],
    );
  });

  test('list a connection whose root is no place in this window, and refuse to open it', () => {
    const [connection, good] = readConnections(
      [
        { name: 'a', root: 'data' },
        { name: 'b', root: '/b' },
      ],
      'setting',
      { home },
    );
    assert.ok(connection && good);
    assert.equal(connection.root, 'data');
    assert.throws(() => rootOf(connection), /"data" is a relative path/);
    assert.equal(rootOf(good), '/b');
  });
});
