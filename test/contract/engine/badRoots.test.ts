import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, connectNamespace } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { DirConnection } from '#engine/dir/dirConnection.ts';
import { namespaceSubject } from '#engine/errors/engineErrors.ts';
import { registerDir } from '#engine/register.ts';
import { tempFolder } from '../../harness/temp.ts';
import { eventually } from '../eventually.ts';
import { fails } from '../expect.ts';
import { forEachOfOurs } from '../subjects.ts';

suite('connecting', () => {
  suiteSetup(() => {
    registerDir();
    registerRest();
  });

  test('connect makes the last folder and the default namespace directory', async () => {
    const root = join(tempFolder(), 'catalog');
    const db = await connect(root);
    assert.equal(db.location, root);
    assert.deepEqual(readdirSync(root), ['data']);
    assert.deepEqual(await db.listNamespaces(), { namespaces: [] });
    await connect(root);
  });

  test('connect takes a file address', async () => {
    const root = join(tempFolder(), 'a b');
    const db = await connect(new URL(`file://${root}`).href);
    assert.equal(db.location, root);
    assert.ok(existsSync(join(root, 'data')));
  });

  test('connect makes no path of several missing folders, and names the missing parent', async () => {
    const parent = join(tempFolder(), 'missing');
    await fails(() => connect(join(parent, 'catalog')), 'InvalidInput', `"${parent}"`, 'Create that folder');
    assert.ok(!existsSync(parent));
  });

  test('connect makes the missing folders of a path below the working folder, as code of LanceDB expects', async () => {
    const before = process.cwd();
    const folder = tempFolder();
    process.chdir(folder);
    try {
      await connect('data/sample-lancedb');
      assert.ok(existsSync(join(folder, 'data/sample-lancedb')));
      await fails(() => connect('../missing/catalog'), 'InvalidInput', 'missing', 'Create that folder');
    } finally {
      process.chdir(before);
    }
  });

  test('connect to a file fails and names it', async () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, 'x');
    await fails(() => connect(file), 'InvalidInput', `"${file}"`, 'file');
    await fails(() => connect(join(file, 'below')), 'InvalidInput', `"${file}"`);
  });

  test('a default namespace directory that can not be made is a line in the log', async () => {
    const root = tempFolder();
    writeFileSync(join(root, 'data'), 'a file of that name');
    const lines: string[] = [];
    const db = await connect(root, { log: (line) => lines.push(line) });
    assert.deepEqual(await db.listTables(), { tables: [] });
    assert.equal(readFileSync(join(root, 'data'), 'utf8'), 'a file of that name');
    assert.equal(lines.length, 1);
    assert.ok(lines[0]?.includes(join(root, 'data')));
  });

  test('a link to nothing in the place of the default namespace directory is a line in the log', async () => {
    const root = tempFolder();
    symlinkSync(join(root, 'nowhere'), join(root, 'data'));
    const lines: string[] = [];
    const db = await connect(root, { log: (line) => lines.push(line) });
    assert.deepEqual(await db.listTables(), { tables: [] });
    assert.equal(lines.length, 1);
    assert.ok(lines[0]?.includes(join(root, 'data')));
  });

  test('connectNamespace makes nothing and says what makes the root', async () => {
    const root = join(tempFolder(), 'catalog');
    await fails(() => connectNamespace('dir', { root }), 'InvalidInput', `"${root}"`, 'mkdir');
    assert.ok(!existsSync(root));
    mkdirSync(root);
    const db = await connectNamespace('dir', { root });
    assert.deepEqual(await db.listTables(), { tables: [] });
    assert.deepEqual(readdirSync(root), []);
  });

  test('unknown keys and options are refused by name', async () => {
    const root = tempFolder();
    await fails(() => connectNamespace('dir', { root, rot: 1 } as never), 'InvalidInput', '"rot"', 'root');
    await fails(() => connectNamespace('dir', {} as never), 'InvalidInput', 'root');
    await fails(() => connect(root, { storage: 1 } as never), 'InvalidInput', '"storage"', 'log');
    await fails(() => connectNamespace('rest', { url: 'x' } as never), 'InvalidInput', '"url"', 'uri');
    await fails(() => connectNamespace('rest', {} as never), 'InvalidInput', 'uri');
    await fails(() => connect(''), 'InvalidInput', 'directory');
  });

  test('an implementation that is not there names those that are', async () => {
    await fails(() => connectNamespace('glue' as never, {} as never), 'Unsupported', '"glue"', '"dir"', '"rest"');
  });

  test('an address that is none is refused, without repeating a password in it', async () => {
    await fails(() => connectNamespace('rest', { uri: 'nonsense' }), 'InvalidInput', 'nonsense');
    await fails(() => connectNamespace('rest', { uri: 'ftp://host' }), 'InvalidInput', 'ftp://host');
    const error = await connectNamespace('rest', { uri: 'https://ada:hunter2@host' }).catch((thrown: Error) => thrown);
    assert.ok(error instanceof Error);
    assert.ok(!error.message.includes('hunter2'));
  });

  test('a server that can not be reached is named, its headers are not', async () => {
    const db = await connectNamespace('rest', { uri: 'http://127.0.0.1:1', headers: { 'x-api-key': 'hunter2' } });
    await fails(() => db.listTables(), 'ServiceUnavailable', 'http://127.0.0.1:1', 'ECONNREFUSED');
    const error: Error = await db.listTables().then(
      () => assert.fail('listed'),
      (thrown: Error) => thrown,
    );
    assert.ok(!`${error.message} ${error.stack ?? ''}`.includes('hunter2'));
    await db.close();
  });

  test('a root without rights to read is named with the command that gives them', function () {
    this.timeout(20_000);
    const root = tempFolder();
    chmodSync(root, 0o700);
    const program = fileURLToPath(new URL('readRoot.ts', import.meta.url));
    // The user root can read everything, so use another user.
    const isRoot = process.getuid?.() === 0;
    if (!isRoot) chmodSync(root, 0o000);
    const tried = spawnSync(process.execPath, [program, root], {
      encoding: 'utf8',
      ...(isRoot && { uid: 65_534, gid: 65_534, env: { ...process.env, HOME: '/nonexistent' } }),
    });
    if (!isRoot) chmodSync(root, 0o700);
    assert.equal(tried.stdout.trim(), 'PermissionDenied', tried.stderr);
    assert.ok(tried.stderr.includes(`"${root}"`), tried.stderr);
    assert.ok(tried.stderr.includes('chmod u+rx'), tried.stderr);
  });
});

forEachOfOurs('broken catalogs', (makeCatalog, subject) => {
  test('a root that goes away is an error, not an empty catalog', async (): Promise<unknown> => {
    const { db, root } = await makeCatalog();
    await db.createTable('t', [{ id: 1 }]);
    rmSync(root, { recursive: true });
    if (subject.id !== 'serve') return fails(() => db.listTables(), 'InvalidInput', 'no directory', `"${root}"`);
    // The message of a server names the database, but no path of the server.
    const told = await fails(() => db.listTables(), 'ServiceUnavailable', '"default"');
    return assert.ok(!told.message.includes(root));
  });

  test('a root that is replaced by another is read again', async () => {
    const { db, root } = await makeCatalog();
    await db.createNamespace(['old']);
    await db.createTable('t', [{ id: 1 }], ['old']);
    const fresh = await openDir({ root: tempFolder() });
    await fresh.createNamespace(['new']);
    await fresh.createTable('t', [{ id: 1 }, { id: 2 }], ['new']);
    rmSync(root, { recursive: true });
    renameSync(fresh.location, root);
    assert.deepEqual((await db.listNamespaces()).namespaces, ['new']);
    assert.equal(await (await db.openTable('t', ['new'])).countRows(), 2);
  });

  test('a broken list of namespaces is named', async () => {
    const { db, root } = await makeCatalog();
    await (await openDir({ root })).createNamespace(['shop']);
    for (const folder of ['data', '_versions']) {
      for (const file of readdirSync(join(root, '__manifest', folder))) {
        writeFileSync(join(root, '__manifest', folder, file), 'garbage');
      }
    }
    await fails(() => db.listNamespaces(), 'InvalidTableState');
  });

  test('a table with a broken manifest is named, and its namespace still lists', async () => {
    const { db, root } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createTable('good', [{ id: 1 }], ['shop']);
    await db.createTable('bad', [{ id: 1 }], ['shop']);
    for (const text of ['garbage', '', 'x'.repeat(5000)]) {
      breakManifests(root, 'shop$bad', text);
      await fails(() => db.openTable('bad', ['shop']), 'InvalidTableState', '"shop/bad"', 'drop the table');
      await fails(() => db.describeTable('bad', ['shop']), 'InvalidTableState', '"shop/bad"');
    }
    assert.deepEqual((await db.listTables(['shop'])).tables.toSorted(), ['bad', 'good']);
    assert.equal(await (await db.openTable('good', ['shop'])).countRows(), 1);
    await db.dropTable('bad', ['shop']);
    assert.deepEqual(await db.tableNames(['shop']), ['good']);
  });

  test('a table whose manifests are gone is broken, not missing', async () => {
    const { db, root } = await makeCatalog();
    await db.createTable('t', [{ id: 1 }]);
    rmSync(join(root, 't.lance', '_versions'), { recursive: true });
    await fails(() => db.openTable('t'), 'InvalidTableState', '"t"');
  });

  test('a table whose data files are broken opens, and its rows fail with its name', async () => {
    const { db, root } = await makeCatalog();
    await db.createTable('t', [{ id: 1 }]);
    const data = join(root, 't.lance', 'data');
    for (const file of readdirSync(data)) writeFileSync(join(data, file), 'xx');
    const table = await (await openDir({ root })).openTable('t');
    await fails(() => table.toArrow(), 'InvalidTableState', '"t"');
    const other = await db.openTable('t');
    await fails(() => other.query().toArrow(), 'InvalidTableState', '"t"');
  });
});

function breakManifests(root: string, suffix: string, text: string): void {
  const folder = readdirSync(root).find((name) => name.endsWith(suffix));
  assert.ok(folder, `no folder of ${suffix}`);
  const versions = join(root, folder, '_versions');
  for (const file of readdirSync(versions)) writeFileSync(join(versions, file), text);
}

suite('The connection to a root', () => {
  const subject = namespaceSubject([]);

  test('that was replaced is closed once nothing runs on it, and the new one stays', async () => {
    const [root, fresh] = [tempFolder(), tempFolder()];
    const place = new DirConnection({ location: root, isLocal: true });
    const first = await place.call(subject, {}, (connection) => Promise.resolve(connection));
    const gate = new EventEmitter();
    const begun = once(gate, 'begun');
    const call = place.call(subject, {}, () => {
      gate.emit('begun');
      return once(gate, 'open');
    });
    // Wait until the call has begun to read. Before that, it would check the root and find the new root.
    await begun;
    rmSync(root, { recursive: true });
    renameSync(fresh, root);
    const second = await place.call(subject, {}, (connection) => Promise.resolve(connection));
    assert.notEqual(second, first);
    assert.ok(first.isOpen(), 'closed under a call');
    gate.emit('open');
    await call;
    await eventually(() => assert.equal(first.isOpen(), false));
    assert.ok(second.isOpen());
    await place.close();
    assert.equal(second.isOpen(), false);
  });
});
