import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { KernelTable } from '#shared/protocol/outputTables.ts';
import { isUnlisted, placeOfKernelTable } from '../../../../extension/connections/kernelTables.ts';
import type { Connection } from '../../../../extension/explorer/node.ts';
import { tempFolder } from '../../../harness/temp.ts';

const server = (name: string, database?: string): Connection => ({
  kind: 'rest',
  name,
  uri: 'https://catalog.example.com',
  source: 'person',
  ...(database !== undefined && { database }),
});

suite('A table that a kernel has opened', () => {
  const folder = tempFolder();
  const root = join(folder, 'catalog');
  mkdirSync(root);
  symlinkSync(root, join(folder, 'link'));
  const connections: Connection[] = [
    { kind: 'dir', name: 'local', root, source: 'person' },
    server('company'),
    server('sales', 'sales'),
  ];
  const orders = { namespacePath: ['shop', 'eu'], name: 'orders' };
  const find = (table: Partial<KernelTable>) =>
    placeOfKernelTable({ implementation: 'dir', catalog: root, ...orders, ...table }, connections);

  test('is found by the directory of its catalog, through links too, at its version', async () => {
    const place = { connection: 'local', path: ['shop', 'eu'], table: 'orders', version: undefined };
    assert.deepEqual(await find({}), place);
    assert.deepEqual(await find({ catalog: join(folder, 'link'), version: 3 }), { ...place, version: 3 });
  });

  test('of a directory that is not in the list is named by its path', async () => {
    const other = join(folder, 'other');
    assert.equal((await find({ catalog: other }))?.connection, other);
    assert.equal(isUnlisted(other, connections), true);
    assert.equal(isUnlisted('local', connections), false);
    assert.equal(await find({ catalog: 's3://bucket/tables' }), undefined);
  });

  test('is found by the server and its database, never by another database', async () => {
    const rest = { implementation: 'rest', catalog: 'https://catalog.example.com/' } as const;
    assert.equal((await find(rest))?.connection, 'company');
    assert.equal((await find({ ...rest, database: 'sales' }))?.connection, 'sales');
    assert.equal(await find({ ...rest, database: 'other' }), undefined);
    assert.equal(await find({ ...rest, catalog: 'https://other.example.com' }), undefined);
  });
});
