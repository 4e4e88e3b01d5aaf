import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Table as NativeTable } from '@lancedb/lancedb';
import { SharedTables } from '#engine/dir/sharedTables.ts';
import { tempFolder } from '../../../harness/temp.ts';

/** A table of the engine that is only opened and closed. The real one does not tell whether it was closed twice. */
class NativeTableStandIn {
  closed = 0;
  readonly name: string;
  readonly #uri: string;

  constructor(name: string, uri: string) {
    this.name = name;
    this.#uri = uri;
  }

  display(): string {
    return `NativeTable(${this.name}, uri=${this.#uri}, read_consistency_interval=0s)`;
  }

  close(): void {
    this.closed++;
  }
}

/** A root with the folder of a table `t` that was not changed lately, and its shared tables. */
class Root {
  readonly path = tempFolder();
  readonly folder = join(this.path, 't.lance');
  readonly tables = new SharedTables({ location: this.path, isLocal: true });
  readonly opened: NativeTableStandIn[] = [];
  uri = this.folder;

  constructor() {
    this.makeFolder();
  }

  makeFolder(folder = this.folder): void {
    mkdirSync(folder, { recursive: true });
    this.settle(folder);
  }

  settle(folder = this.folder, seconds = 60): void {
    const time = Date.now() / 1000 - seconds;
    utimesSync(folder, time, time);
  }

  async open(name = 't', pin: { version?: number; tag?: string; branch?: string } = {}, path: string[] = []) {
    return this.tables.open({ name, path }, pin, async () => {
      const native = new NativeTableStandIn(name, this.uri);
      this.opened.push(native);
      return native as unknown as NativeTable;
    });
  }
}

suite('tables that readers share', () => {
  let root: Root;
  setup(() => (root = new Root()));
  teardown(() => root.tables.close());

  test('are opened once, and stay open between readers', async () => {
    const first = await root.open();
    const second = await root.open();
    assert.equal(first.native, second.native);
    assert.ok(first.isShared && second.isShared);
    first.release();
    second.release();
    const third = await root.open();
    assert.equal(root.opened.length, 1);
    assert.equal(root.opened[0]!.closed, 0);
    third.release();
    root.tables.close();
    assert.equal(root.opened[0]!.closed, 1);
  });

  test('are others for other versions', async () => {
    await root.open('t', { version: 1 });
    await root.open('t', { version: 2 });
    await root.open('t', { version: 1 });
    await root.open();
    assert.equal(root.opened.length, 3);
  });

  test('are not those of a tag, of a branch or in an object store', async () => {
    for (const pin of [{ tag: 'a' }, { branch: 'b' }]) {
      const first = await root.open('t', pin);
      const second = await root.open('t', pin);
      assert.notEqual(first.native, second.native);
      assert.equal(first.isShared, false);
    }
    const store = new SharedTables({ location: 's3://bucket', isLocal: false });
    const native = new NativeTableStandIn('t', 's3://bucket/t.lance') as unknown as NativeTable;
    assert.equal((await store.open({ name: 't', path: [] }, {}, async () => native)).isShared, false);
  });

  for (const [what, change] of Object.entries({
    'was dropped': (changed: Root) => rmSync(changed.folder, { recursive: true }),
    'was dropped and created again': (changed: Root) => {
      rmSync(changed.folder, { recursive: true });
      changed.makeFolder();
    },
    'was replaced by another one': (changed: Root) => {
      changed.makeFolder(join(changed.path, 'other.lance'));
      rmSync(changed.folder, { recursive: true });
      renameSync(join(changed.path, 'other.lance'), changed.folder);
    },
    'was deregistered': (changed: Root) => {
      writeFileSync(join(changed.folder, '.lance-deregistered'), '');
      changed.settle(changed.folder, 30);
    },
    'may be hidden by an entry in the list of tables': (changed: Root) => {
      changed.makeFolder(join(changed.path, '__manifest', '_versions'));
    },
  })) {
    test(`are opened anew once the table ${what}`, async () => {
      const before = await root.open();
      assert.ok(before.isShared);
      change(root);
      const after = await root.open();
      assert.notEqual(after.native, before.native);
      assert.equal(root.opened[0]!.closed, 0, 'closed while in use');
      before.release();
      assert.equal(root.opened[0]!.closed, 1);
    });
  }

  test('are not shared while the folder has just been changed', async () => {
    root.settle(root.folder, 0);
    const first = await root.open();
    const second = await root.open();
    assert.notEqual(first.native, second.native);
    first.release();
    assert.equal(root.opened[0]!.closed, 1);
  });

  test('of a namespace are shared once their folder is known', async () => {
    const folder = join(root.path, '1234_ns$t');
    root.makeFolder(folder);
    root.uri = pathToFileURL(folder).href;
    const opened = [];
    for (let time = 0; time < 3; time++) opened.push(await root.open('t', {}, ['ns']));
    assert.deepEqual(
      opened.map(({ isShared }) => isShared),
      [false, true, true],
    );
    assert.deepEqual(
      opened.map(({ folder: found }) => found),
      [folder, folder, folder],
    );
    // After a rename, another folder has the name.
    root.uri = pathToFileURL(join(root.path, '5678_ns$t')).href;
    root.makeFolder(join(root.path, '5678_ns$t'));
    rmSync(folder, { recursive: true });
    assert.equal((await root.open('t', {}, ['ns'])).isShared, false);
  });

  test('are not shared if the engine tells another folder, or none', async () => {
    for (const uri of ['/elsewhere/t.lance', 'file://%']) {
      root.uri = uri;
      const first = await root.open();
      assert.equal(first.isShared, false);
      assert.notEqual((await root.open()).native, first.native);
    }
  });

  test('can become the own table of their only user, and of no other', async () => {
    const first = await root.open();
    const second = await root.open();
    assert.equal(first.claim(), false);
    second.release();
    assert.equal(first.claim(), true);
    assert.equal(first.isShared, false);
    const third = await root.open();
    assert.notEqual(third.native, first.native);
    first.release();
    first.release();
    assert.equal(root.opened[0]!.closed, 1);
    assert.equal(root.opened[1]!.closed, 0);
  });

  test('that failed are not given to the next reader', async () => {
    const first = await root.open();
    first.discard();
    const second = await root.open();
    assert.notEqual(second.native, first.native);
    first.release();
    second.release();
    assert.equal(root.opened[0]!.closed, 1);
    assert.equal(root.opened[1]!.closed, 0);
  });

  test('are at most 16; the longest unused is closed', async () => {
    for (let version = 1; version <= 17; version++) (await root.open('t', { version })).release();
    assert.deepEqual(
      root.opened.map(({ closed }) => closed),
      [1, ...Array.from({ length: 16 }, () => 0)],
    );
  });

  test('are not kept after the end', async () => {
    const first = await root.open();
    root.tables.close();
    const second = await root.open();
    assert.equal(second.isShared, false);
    first.release();
    assert.equal(root.opened[0]!.closed, 1);
  });
});
