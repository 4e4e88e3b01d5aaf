import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Field, Int32, Vector, vectorFromArray } from '#arrow';
import { MergeInsert } from '#catalog/table/mergeInsert.ts';
import type { Table } from '#catalog/table/table.ts';
import { FolderStore } from '#jobs/local/checkpoints/folderStore.ts';
import { PendingMerges } from '#jobs/local/checkpoints/pendingMerge.ts';
import { KeyIndex } from '#jobs/local/keyIndex.ts';
import { type ComputedRows, hashesOf, type ReadRows } from '#jobs/local/rows.ts';
import { scanRows } from '#jobs/local/scanRows.ts';
import { WriteBack } from '#jobs/local/writeBack.ts';
import type { NewEvent } from '#jobs/runners/runner.ts';
import { tempFolder } from '../../harness/temp.ts';
import { folderRoot } from './backfillRoot.ts';
import { eventsOf } from './local/localJobs.ts';
import { lengthOf, lengths, textTable } from './local/localTable.ts';

const { signal } = new AbortController();
const inputs = ['text'];

// A test can't time a write of another client between the last read of the table and the merge. So the merge in these
// tests first lets other clients write. The engine does all writes.
suite('rows that others change while they are written back', function () {
  this.timeout(60_000);
  const place = folderRoot();

  /** Computes the lengths of the strings of all rows, and writes them back while `others` runs. */
  async function written(
    name: string,
    others: (theirs: Table) => Promise<unknown>,
    { isKilled = false } = {},
  ): Promise<{ table: Table; events: NewEvent[] }> {
    const table = await textTable(place.db, name, { fragments: 2, rows: 400 });
    const readVersion = await table.version();
    const pinned = await place.db.openTable(name, { version: readVersion });
    const scope = 'length IS NULL';
    const rows: ComputedRows[] = [];
    for await (const read of scanRows({ table: pinned, scope, inputs, key: 'id' }, signal)) rows.push(computed(read));
    const events: NewEvent[] = [];
    let left: typeof others | undefined = others;
    const before = async (): Promise<void> => {
      const now = left;
      left = undefined;
      await now?.(await place.db.openTable(name));
    };
    const racing = lettingOthersFirst(table, before, isKilled);
    const key = (await table.schema()).fields.find(({ name: each }) => each === 'id')!;
    const column = new Field('length', new Int32(), true);
    const folder = tempFolder();
    const file = join(folder, 'ckp', 'merge.pending');
    const open = (at: Table, version: number): { back: WriteBack; index: KeyIndex } => {
      const index = new KeyIndex(at, 'id', (made) => back.isOwn(made));
      const target = {
        catalog: place.db,
        table: at,
        column,
        key,
        inputs,
        scope,
        isDefaultScope: true,
        index,
        pending: new PendingMerges(new FolderStore(folder), 'ckp/merge.pending', key, column),
        compute: (read: ReadRows) => Promise.resolve([computed(read)]),
        emit: (event: NewEvent) => void events.push(event),
      };
      const back: WriteBack = new WriteBack(target, version);
      return { back, index };
    };
    const { back, index } = open(racing, readVersion);
    if (isKilled) {
      await assert.rejects(back.commit(rows, signal), /killed/);
      assert.ok(existsSync(file));
      const next = open(table, await table.version());
      await next.back.settle(signal);
      await next.index.leave(signal);
    } else {
      await back.commit(rows, signal);
      await index.leave(signal);
    }
    assert.equal(left, undefined);
    assert.equal(existsSync(file), false);
    return { table, events };
  }

  test('a row with a changed text gets the value of the new text', async () => {
    const { table, events } = await written('updated', (theirs) =>
      theirs.update({ where: 'id = 7', values: { text: 'something else' } }),
    );
    const rows = await lengths(table);
    assert.deepEqual(
      rows.filter(([id, text, length]) => length !== lengthOf(id, text)),
      [],
    );
    assert.equal(rows[6]?.[1], 'something else');
    assert.equal(eventsOf(events, 'conflict').length, 1);
  });

  test('a row with a changed text whose result is null has no value', async () => {
    const { table } = await written('emptied', (theirs) => theirs.update({ where: 'id = 7', values: { text: '' } }));
    const rows = await lengths(table);
    assert.deepEqual(
      rows.filter(([id, text, length]) => length !== (id === 7 ? null : lengthOf(id, text))),
      [],
    );
  });

  test('a value that another client wrote stays', async () => {
    const { table } = await written('valued', (theirs) => theirs.update({ where: 'id = 8', values: { length: -1 } }));
    const rows = await lengths(table);
    assert.deepEqual(
      rows.filter(([id, text, length]) => length !== (id === 8 ? -1 : lengthOf(id, text))),
      [],
    );
  });

  test('a row that was deleted stays so', async () => {
    const { table, events } = await written('deleted', (theirs) => theirs.delete('id = 9'));
    const rows = await lengths(table);
    assert.equal(rows.filter(([id]) => id === 9).length, 0);
    assert.deepEqual(
      rows.filter(([id, text, length]) => length !== lengthOf(id, text)),
      [],
    );
    assert.deepEqual(eventsOf(events, 'conflict'), []);
  });

  test('what others raced is mended by the next run, where the process was killed right after the merge', async () => {
    const { table } = await written(
      'killed',
      async (theirs) => {
        await theirs.update({ where: 'id = 7', values: { text: 'something else' } });
        await theirs.update({ where: 'id = 8', values: { length: -1 } });
        await theirs.update({ where: 'id = 10', values: { text: '' } });
      },
      { isKilled: true },
    );
    const rows = await lengths(table);
    const expected = new Map<number, number | null>([
      [8, -1],
      [10, null],
    ]);
    assert.deepEqual(
      rows.filter(([id, text, length]) => length !== (expected.has(id) ? expected.get(id) : lengthOf(id, text))),
      [],
    );
    assert.equal(rows[6]?.[1], 'something else');
  });

  test('without the index whole rows are merged, and the same comes of it', async () => {
    const { table } = await written('unindexed', async (theirs) => {
      for (const { name } of await theirs.listIndices()) await theirs.dropIndex(name);
      await theirs.update({ where: 'id = 7', values: { text: 'something else' } });
    });
    const rows = await lengths(table);
    assert.deepEqual(
      rows.filter(([id, text, length]) => length !== lengthOf(id, text)),
      [],
    );
  });
});

function computed(read: ReadRows): ComputedRows {
  const texts = new Vector([read.inputs.data.children[0]!]);
  const values = Array.from({ length: texts.length }, (_, row) => String(texts.get(row)).length || null);
  return {
    fragment: read.fragment,
    addresses: read.addresses,
    hashes: hashesOf(read.inputs, inputs),
    key: read.key,
    value: vectorFromArray(values, new Int32()).data[0]!,
    states: new Uint8Array(values.length),
  };
}

/** Wraps the table: its merges first wait for `others`, and a simulated kill ends the process after the merge. */
function lettingOthersFirst(table: Table, others: () => Promise<void>, isKilled: boolean): Table {
  const mergeInsert: Table['mergeInsert'] = (on) =>
    new MergeInsert(
      async (spec, data, options) => {
        await others();
        const merge = table.mergeInsert(on);
        const made = await (spec.whenMatchedUpdateAll ? merge.whenMatchedUpdateAll() : merge).execute(data, options);
        if (isKilled) throw new Error('killed');
        return made;
      },
      { on: [on].flat() },
    );
  return new Proxy(table, {
    get: (target, name) => {
      if (name === 'mergeInsert') return mergeInsert;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
