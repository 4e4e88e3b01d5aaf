import assert from 'node:assert/strict';
import type { Connection } from '../../../../extension/explorer/node.ts';
import {
  chooseCatalog,
  describeChoice,
  namedConnection,
  withConnection,
} from '../../../../extension/notebook/catalogChoice.ts';

const connection = (name: string): Connection => ({ name, kind: 'dir', root: `/${name}`, source: 'person' });
const [a, b] = [connection('a'), connection('b')];
const tooltipOf = (one: Connection): string => describeChoice({ kind: 'chosen', connection: one }).tooltip;

suite('the catalog of a notebook', () => {
  test('is the connection that the notebook names', () => {
    assert.deepEqual(chooseCatalog('b', [a, b], 'a'), { kind: 'chosen', connection: b });
  });

  test('is missing if the notebook names a connection that does not exist, never another one', () => {
    assert.deepEqual(chooseCatalog('c', [a], undefined), { kind: 'missing', name: 'c' });
  });

  test('is the only connection when the notebook names none', () => {
    assert.deepEqual(chooseCatalog(undefined, [a], undefined), { kind: 'only', connection: a });
  });

  test('is the connection that the notebook was bound to, also beside others', () => {
    assert.deepEqual(chooseCatalog(undefined, [a, b], 'b'), { kind: 'bound', connection: b });
    assert.deepEqual(chooseCatalog('gone', [a, b], 'b'), { kind: 'bound', connection: b });
  });

  test('is missing when the one that it was bound to is gone, even if one other is left', () => {
    assert.deepEqual(chooseCatalog(undefined, [a], 'b'), { kind: 'missing', name: 'b' });
  });

  test('is none when nothing tells', () => {
    assert.deepEqual(chooseCatalog(undefined, [a, b], undefined), { kind: 'none' });
  });

  test('is said in the status bar', () => {
    assert.equal(describeChoice({ kind: 'only', connection: a }).text, 'db: a');
    assert.equal(describeChoice({ kind: 'missing', name: 'c' }).text, 'db: c is missing');
  });

  test('is said with its directory, or with its address and database', () => {
    const company: Connection = { name: 'c', kind: 'rest', uri: 'https://c.example', database: 'd', source: 'person' };
    assert.match(tooltipOf(a), /the directory \/a; chosen for this notebook/);
    assert.match(tooltipOf(company), /the server https\\:\/\/c\.example, database d; chosen for this notebook/);
  });

  test('is kept in the metadata of the file beside everything else there', () => {
    const before = { nbformat: 4, metadata: { kernelspec: { name: 'lance-typescript' }, lanceCatalog: { x: 1 } } };
    const after = withConnection(before, 'a');
    assert.equal(namedConnection(after), 'a');
    assert.deepEqual(after['metadata'], {
      kernelspec: { name: 'lance-typescript' },
      lanceCatalog: { x: 1, connection: 'a' },
    });
  });

  test('is not read from metadata of another shape', () => {
    assert.equal(namedConnection({}), undefined);
    assert.equal(namedConnection({ metadata: { lanceCatalog: 'a' } }), undefined);
    assert.equal(namedConnection({ metadata: { lanceCatalog: { connection: 1 } } }), undefined);
  });
});
