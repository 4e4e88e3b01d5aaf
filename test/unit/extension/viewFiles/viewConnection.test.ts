import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from '../../../../extension/explorer/node.ts';
import { describeConnection, findConnection } from '../../../../extension/viewFiles/viewConnection.ts';
import { tempFolder } from '../../../harness/temp.ts';

const dir = (name: string, root: string): Connection => ({ name, kind: 'dir', root, source: 'person' });
const rest = (name: string, uri: string, database?: string): Connection => ({
  name,
  kind: 'rest',
  uri,
  source: 'person',
  ...(database !== undefined && { database }),
});

const place = { folder: '/work/project/views', home: '/home/ada', workspace: ['/work/project'] };

function pathOf(root: string): string {
  const written = describeConnection(dir('c', root), place);
  return written.kind === 'dir' ? written.path : '';
}

suite('The connection of a view file', () => {
  test('is relative to the file if both are in the workspace, and else as short as it can be', () => {
    assert.equal(pathOf('/work/project/data'), '../data');
    assert.equal(pathOf('/work/project/views/data'), './data');
    assert.equal(pathOf('/work/project/views'), '.');
    assert.equal(pathOf('/work/project'), '..');
    assert.equal(pathOf('/work/project/..data'), '../..data');
    assert.equal(pathOf('/work/project/views/~data'), './~data');
    assert.equal(pathOf('/home/ada/data'), '~/data');
    assert.equal(pathOf('/home/ada'), '~');
    assert.equal(pathOf('/home/adam/data'), '/home/adam/data');
    assert.equal(pathOf('s3://bucket/data'), 's3://bucket/data');
  });

  test('of a server has its address and database, and no credentials', () => {
    const company = { ...rest('company', 'https://me:secret@catalog.example.com/x', 'eu'), headerNames: ['X-Team'] };
    assert.deepEqual(describeConnection(company, place), {
      kind: 'rest',
      uri: 'https://catalog.example.com/x',
      database: 'eu',
      name: 'company',
    });
    assert.throws(
      () => describeConnection({ name: 'glue', kind: 'other', implementation: 'glue', source: 'setting' }, place),
      /implementation "glue"/,
    );
  });

  test('is found where another user has the workspace, whatever its name', async () => {
    const all = [dir('a', '/home/bob/code/data'), dir('b', '/other')];
    const there = { folder: '/home/bob/code/views', home: '/home/bob' };
    const find = async (path: string) => (await findConnection({ kind: 'dir', path, name: 'x' }, there, all))?.name;
    assert.equal(await find('../data'), 'a');
    assert.equal(await find('../data/'), 'a');
    assert.equal(await find('~/code/data'), 'a');
    assert.equal(await find('/other'), 'b');
    assert.equal(await find('./data'), undefined);
  });

  test('is found through links to the folder of the file or of the connection', async () => {
    const work = tempFolder('lance-view-');
    mkdirSync(join(work, 'real/data'), { recursive: true });
    mkdirSync(join(work, 'real/views'));
    symlinkSync(join(work, 'real'), join(work, 'link'));
    const wanted = { kind: 'dir', path: '../data' } as const;
    const [real, link] = [join(work, 'real'), join(work, 'link')];
    for (const [folder, root] of [
      [link, real],
      [real, link],
    ] as const) {
      const all = [dir('c', join(root, 'data'))];
      assert.equal((await findConnection(wanted, { folder: join(folder, 'views'), home: '/' }, all))?.name, 'c');
    }
  });

  test('of a server is found by address and database; its name decides between several', async () => {
    const all = [
      rest('one', 'https://catalog.example.com', 'eu'),
      rest('two', 'https://CATALOG.example.com/', 'eu'),
      rest('other', 'https://catalog.example.com'),
      dir('dir', '/x'),
    ];
    const find = async (wanted: { uri: string; database?: string; name?: string }) =>
      (await findConnection({ kind: 'rest', ...wanted }, place, all))?.name;
    assert.equal(await find({ uri: 'https://catalog.example.com/', database: 'eu' }), 'one');
    assert.equal(await find({ uri: 'https://catalog.example.com', database: 'eu', name: 'two' }), 'two');
    assert.equal(await find({ uri: 'https://catalog.example.com' }), 'other');
    assert.equal(await find({ uri: 'https://catalog.example.com:444' }), undefined);
  });
});
