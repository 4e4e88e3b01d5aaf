import assert from 'node:assert/strict';
import { connectionNameProblem, readConnections, suggestName } from '../../../extension/catalog/connectionRules.ts';

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
    );
    assert.deepEqual(
      read.map((one) => one.root),
      ['/1'],
    );
  });

  test('put the folder of the window in for ${workspaceFolder}', () => {
    const value = [{ name: 'a', root: '${workspaceFolder}/data' }];
    assert.equal(readConnections(value, 'setting', '/work')[0]?.root, '/work/data');
    assert.deepEqual(readConnections(value, 'setting'), []);
  });

  test('take nothing from a value that is no list', () => {
    assert.deepEqual(readConnections({ name: 'a', root: '/a' }, 'person'), []);
    assert.deepEqual(readConnections(undefined, 'person'), []);
  });
});
