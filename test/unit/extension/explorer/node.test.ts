import assert from 'node:assert/strict';
import {
  type CatalogNode,
  type Connection,
  isNode,
  isWithin,
  nodeId,
  parentOf,
} from '../../../../extension/explorer/node.ts';

const connection: Connection = { name: 'sample', kind: 'dir', root: '/data', source: 'person' };
const root: CatalogNode = { kind: 'connection', connection };
const shop: CatalogNode = { kind: 'namespace', connection: 'sample', path: ['shop'] };
const eu: CatalogNode = { kind: 'namespace', connection: 'sample', path: ['shop', 'eu'] };
const orders: CatalogNode = { kind: 'table', connection: 'sample', path: ['shop', 'eu'], table: 'orders' };
const id: CatalogNode = {
  kind: 'column',
  connection: 'sample',
  path: ['shop', 'eu'],
  table: 'orders',
  column: { name: 'id', type: 'int64', nullable: false },
};

suite('a node of the catalog tree', () => {
  test('has an id of its own', () => {
    const ids = [root, shop, eu, orders, id].map(nodeId);
    assert.equal(new Set(ids).size, ids.length);
  });

  test('keeps a namespace "a/b" apart from "b" in "a"', () => {
    const flat: CatalogNode = { kind: 'namespace', connection: 'sample', path: ['a","b'] };
    const deep: CatalogNode = { kind: 'namespace', connection: 'sample', path: ['a', 'b'] };
    assert.notEqual(nodeId(flat), nodeId(deep));
  });

  test('knows what holds it, up to the connection', () => {
    assert.deepEqual(parentOf(id, [connection]), orders);
    assert.deepEqual(parentOf(orders, [connection]), eu);
    assert.deepEqual(parentOf(eu, [connection]), shop);
    assert.deepEqual(parentOf(shop, [connection]), root);
    assert.equal(parentOf(root, [connection]), undefined);
  });

  test('has the table as the parent of an error about its columns', () => {
    const error: CatalogNode = {
      kind: 'error',
      connection: 'sample',
      path: ['shop', 'eu'],
      table: 'orders',
      about: 'columns',
      what: 'Broken.',
      hint: 'Mend it.',
      remedy: 'retry',
    };
    assert.deepEqual(parentOf(error, [connection]), orders);
  });

  test('lies within everything above it and nothing beside it', () => {
    for (const outer of [root, shop, eu, orders]) assert.ok(isWithin(id, outer), nodeId(outer));
    assert.ok(!isWithin(shop, eu));
    assert.ok(!isWithin(id, { ...orders, table: 'returns' }));
    assert.ok(!isWithin(id, { kind: 'connection', connection: { ...connection, name: 'other' } }));
  });

  test('is told from what merely looks like one', () => {
    assert.ok(isNode(orders, 'table'));
    assert.ok(!isNode(orders, 'column'));
    assert.ok(!isNode({ kind: 'table', connection: 'sample', path: 'shop', table: 'orders' }, 'table'));
    assert.ok(!isNode({ kind: 'table', connection: 'sample', path: [] }, 'table'));
    assert.ok(!isNode({ kind: 'connection', connection: null }, 'connection'));
    assert.ok(!isNode(undefined, 'table'));
  });
});
