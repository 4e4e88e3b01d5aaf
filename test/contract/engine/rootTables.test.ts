import assert from 'node:assert/strict';
import fs from 'node:fs';
import { cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as upstream from '@lancedb/lancedb';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { rootTables } from '#engine/dir/files/rootTables.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';
import { pathsRead, withFileCalls } from '../fileReads.ts';
import { Random } from '../model/random.ts';

type Root = { root: string; theirs: upstream.Connection };

async function openRoot(): Promise<Root> {
  const root = tempFolder();
  return { root, theirs: await upstream.connectNamespace('dir', { root }, { readConsistencyInterval: 0 }) };
}

const addFolder = (root: string, name: string): Promise<unknown> => mkdir(join(root, `${name}.lance`));

/** Asserts that our list of a root equals the engine's own, as a whole and in pages that follow each other. */
async function equalsEngine({ root, theirs }: Root, tables = rootTables({ location: root, isLocal: true })) {
  assert.deepEqual(await tables.all(theirs), (await theirs.listTables([])).tables);
  for (const limit of [1, 2, 3]) {
    let pageToken: string | undefined;
    do {
      const page = await theirs.listTables([], { limit, ...(pageToken !== undefined && { pageToken }) });
      const expected = { names: page.tables, ...(page.pageToken !== undefined && { pageToken: page.pageToken }) };
      assert.deepEqual(await tables.page(theirs, limit, pageToken), expected, `${limit} after ${pageToken}`);
      ({ pageToken } = page);
    } while (pageToken !== undefined);
  }
}

/** Runs a call with a clock that is ahead, instead of waiting. */
async function later<T>(ms: number, call: () => Promise<T>): Promise<T> {
  const original = performance.now.bind(performance);
  performance.now = () => original() + ms;
  try {
    return await call();
  } finally {
    performance.now = original;
  }
}

suite('tables in a local root', function () {
  this.timeout(60_000);

  test('have the names and the order of the engine, whatever characters they have', async () => {
    const root = await openRoot();
    const characters = Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCodePoint(0x20 + index));
    for (const character of [...characters, 'ü', 'u\u0308', '\u{1f600}', '\ue000', '%20', '%C3%BC', '\u00a0']) {
      if (character === '/') continue;
      await addFolder(root.root, `a${character}b`);
      // The engine looks for the marker of some names in a folder with an escaped name.
      await addFolder(root.root, `x${character}`);
      await writeFile(join(root.root, `x${character}.lance`, '.lance-deregistered'), '');
    }
    for (const name of ['', '.', '..', ' ', 'a.lance', '_a', '$', 'a$b', '#1', 'B', 'b', '10', '9']) {
      await addFolder(root.root, name).catch(() => undefined);
    }
    await equalsEngine(root);
  });

  test('are hidden by the marker in the escaped folder', async () => {
    const root = await openRoot();
    for (const name of ['ü', '%C3%BC', '%25C3%25BC']) await addFolder(root.root, name);
    await writeFile(join(root.root, '%C3%BC.lance', '.lance-deregistered'), '');
    await equalsEngine(root);
    assert.deepEqual(await rootTables({ location: root.root, isLocal: true }).all(root.theirs), [
      '%25C3%25BC',
      '%C3%BC',
    ]);
  });

  test('say that they must be renamed if the engine has no path to their folder', async () => {
    const root = tempFolder();
    const db = await openDir({ root });
    await db.createTable('plain', [{ id: 1 }]);
    const characters = Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCodePoint(0x20 + index));
    for (const character of [...characters, 'ü', '\u{1f600}']) {
      // A separator of paths and of namespaces, and a name that leads to another folder on Windows.
      if ('/$\\'.includes(character)) continue;
      const name = `a${character}b`;
      await cp(join(root, 'plain.lance'), join(root, `${name}.lance`), { recursive: true });
      const opened = db.openTable(name).then((table) => table.countRows());
      if (/[\w .'&+,;:=@!()-]/.test(character)) assert.equal(await opened, 1, name);
      else
        await fails(() => opened, 'TableNotFound', `Can't open table "${name}"`, `"${character}"`, 'Rename the table');
    }
    await db.renameTable('aüb', 'renamed');
    assert.equal(await (await db.openTable('renamed')).countRows(), 1);
    await db.close();
  });

  test('may be files, links and folders without versions, as for the engine', async () => {
    const root = await openRoot();
    const elsewhere = tempFolder();
    await writeFile(join(elsewhere, 'file'), '');
    await writeFile(join(root.root, 'file.lance'), '');
    for (const name of ['empty', 'reserved', 'marked', 'suffix', 'folder', 'broken']) await addFolder(root.root, name);
    await writeFile(join(root.root, 'reserved.lance', '.lance-reserved'), '');
    await writeFile(join(root.root, 'marked.lance', '.lance-deregistered'), '');
    await writeFile(join(root.root, 'suffix.lance', 'x.lance-deregistered'), '');
    await mkdir(join(root.root, 'folder.lance', '.lance-deregistered'));
    await symlink(join(elsewhere, 'none'), join(root.root, 'broken.lance', '.lance-deregistered'));
    await symlink(elsewhere, join(root.root, 'linked.lance'));
    await symlink(join(elsewhere, 'file'), join(root.root, 'linkedFile.lance'));
    await symlink(join(elsewhere, 'none'), join(root.root, 'nothing.lance'));
    for (const name of ['upper.LANCE', 'space.lance ', 'lance', 'plain']) await mkdir(join(root.root, name));
    await equalsEngine(root);
  });

  test('are listed by the engine where it fails, with its error', async () => {
    const root = await openRoot();
    await addFolder(root.root, 'a');
    await writeFile(join(root.root, 'a\nb'), '');
    const tables = rootTables({ location: root.root, isLocal: true });
    await assert.rejects(tables.page(root.theirs, 1, undefined), /Failed to list directory/);
    await rm(join(root.root, 'a\nb'));
    await symlink(root.root, join(root.root, 'loop'));
    await assert.rejects(tables.all(root.theirs), /Failed to list directory/);
    await rm(join(root.root, 'loop'));
    assert.deepEqual(await tables.all(root.theirs), ['a']);
  });

  test('are those of the engine after each of a hundred random changes', async () => {
    const root = await openRoot();
    const kept = rootTables({ location: root.root, isLocal: true });
    const seed = Date.now() % 2 ** 31;
    const random = new Random(seed);
    const names = ['a', 'b', 'b1', 'c', 'ü', '%C3%BC', 'a b', 'a$b', 'Z', 'x.y', ''];
    await root.theirs.createNamespace(['space']);
    const change = async (name: string): Promise<unknown> => {
      const folder = join(root.root, `${name}.lance`);
      switch (random.below(7)) {
        case 0:
          return root.theirs.createTable(`real-${random.below(5)}`, [{ id: 1 }]).then((table) => table.close());
        case 1:
          return root.theirs.dropTable(`real-${random.below(5)}`);
        case 2:
          return rm(folder, { recursive: true });
        case 3:
          return writeFile(join(folder, '.lance-deregistered'), '');
        case 4:
          return rm(join(folder, '.lance-deregistered'));
        case 5:
          return writeFile(join(folder, '.lance-reserved'), '');
        default:
          return mkdir(folder);
      }
    };
    let ms = 0;
    for (let step = 0; step < 100; step++) {
      // Ignore errors, because an impossible change changes nothing.
      await change(random.pick(names)).catch(() => undefined);
      ms += random.below(4000);
      await later(ms, () => equalsEngine(root, kept)).catch((error: unknown) => {
        throw new Error(`seed ${seed}, step ${step}`, { cause: error });
      });
    }
  });

  test('cost a page no more folders when there are more of them', async () => {
    const counts: number[] = [];
    for (const size of [40, 400]) {
      const root = tempFolder();
      for (let index = 0; index < size; index++) await addFolder(root, `t${1000 + index}`);
      const db = await openDir({ root });
      await db.listTables([], { limit: 1 });
      const read = await pathsRead('readdir', () => db.listTables([], { limit: 10, pageToken: 't1019' }));
      counts.push(read.length);
      assert.deepEqual((await db.listTables([], { limit: 10, pageToken: 't1019' })).tables[0], 't1020');
      await db.close();
    }
    // The call reads the root, ten folders, and one more folder to find out whether another page follows.
    assert.deepEqual(counts, [12, 12]);
  });

  test('are read once for several pages if the root has not changed for some time', async () => {
    const { root, theirs } = await openRoot();
    for (const name of ['a', 'b', 'c']) await addFolder(root, name);
    const tables = rootTables({ location: root, isLocal: true });
    const reads = async (): Promise<number> =>
      (await pathsRead('readdir', () => tables.page(theirs, 1, undefined))).filter((path) => path === root).length;
    assert.deepEqual([await reads(), await reads()], [1, 1]);
    assert.deepEqual([await later(5000, reads), await later(6000, reads)], [1, 0]);
    await addFolder(root, '0');
    assert.deepEqual((await later(6000, () => tables.page(theirs, 1, undefined))).names, ['0']);
  });

  test('are all there if the clock of the file system is too coarse to tell two changes apart', async () => {
    const { root, theirs } = await openRoot();
    await addFolder(root, 'a');
    const original = fs.promises.stat;
    const first = await original(root, { bigint: true });
    // A stand-in for a file system with a clock of seconds: changes within a second leave the time of the root as it is.
    const statStandIn = (path: string, ...rest: []) =>
      path === root ? Promise.resolve(first) : original(path, ...rest);
    await withFileCalls({ stat: statStandIn }, async () => {
      const tables = rootTables({ location: root, isLocal: true });
      assert.deepEqual(await tables.all(theirs), ['a']);
      await addFolder(root, 'b');
      assert.deepEqual(await later(1500, () => tables.all(theirs)), ['a', 'b']);
      await addFolder(root, 'c');
      // After two seconds every change has another time.
      assert.deepEqual(await later(3500, () => tables.all(theirs)), ['a', 'b', 'c']);
    });
  });
});

/** Opens a folder as an object store, and counts the lists that the engine makes of it. */
async function openStore() {
  const root = `file-object-store://${tempFolder()}`;
  const theirs = await upstream.connectNamespace('dir', { root }, { readConsistencyInterval: 0 });
  for (const name of ['a', 'b', 'c', 'd', 'e']) (await theirs.createTable(name, [{ id: 1 }])).close();
  const list = theirs.listTables.bind(theirs);
  let lists = 0;
  Object.assign(theirs, { listTables: (...args: Parameters<typeof list>) => (lists++, list(...args)) });
  const counted = async (call: () => Promise<unknown>): Promise<number> => {
    const before = lists;
    await call();
    return lists - before;
  };
  return { theirs, tables: rootTables({ location: root, isLocal: false }), counted, list };
}

suite('tables in the root of an object store', function () {
  this.timeout(60_000);

  test('are listed once for all pages', async () => {
    const { theirs, tables, counted, list } = await openStore();
    for (const limit of [1, 2, 3, 5, 6]) {
      const seen: string[] = [];
      const lists = await counted(async () => {
        let pageToken: string | undefined;
        do {
          const page = await tables.page(theirs, limit, pageToken);
          assert.ok(page.names.length <= limit);
          seen.push(...page.names);
          ({ pageToken } = page);
        } while (pageToken !== undefined);
      });
      assert.deepEqual(seen, (await list([])).tables);
      assert.equal(lists, 1, `pages of ${limit}`);
    }
    assert.equal(await counted(() => tables.all(theirs)), 1);
  });

  test('are listed again for a first page, another position and after some time', async () => {
    const { theirs, tables, counted } = await openStore();
    await tables.page(theirs, 2, undefined);
    (await theirs.createTable('aa', [{ id: 1 }])).close();
    assert.deepEqual((await tables.page(theirs, 2, undefined)).names, ['a', 'aa']);
    (await theirs.createTable('ab', [{ id: 1 }])).close();
    assert.deepEqual((await tables.page(theirs, 2, 'a')).names, ['aa', 'ab']);
    assert.equal(await later(60_000, () => counted(() => tables.page(theirs, 2, 'ab'))), 1);
  });
});
