import assert from 'node:assert/strict';
import { Field, Int32, Vector, vectorFromArray } from '#arrow';
import type { Catalog } from '#client/catalog.ts';
import { connectNamespace } from '#client/connect.ts';
import { MergeInsert } from '#client/mergeInsert.ts';
import type { Table } from '#client/table.ts';
import { registerDir } from '#engine/register.ts';
import { KeyIndex } from '#jobs/local/keyIndex.ts';
import { hashesOf, type ComputedRows, type ReadRows } from '#jobs/local/rows.ts';
import { scanRows } from '#jobs/local/scanRows.ts';
import { WriteBack } from '#jobs/local/writeBack.ts';
import type { NewEvent } from '#jobs/runners/runner.ts';
import { tempFolder } from '../harness/temp.ts';
import { eventsOf } from './localJobs.ts';
import { lengthOf, lengths, textTable } from './localTable.ts';

const { signal } = new AbortController();
const inputs = ['text'];

// What happens between the last look at the table and the merge can't be timed from outside. So the merge is one that lets
// others go first; all that they and it do is done by the engine.
suite('rows that others change while they are written back', function () {
  this.timeout(60_000);
  const root = tempFolder();
  let db: Catalog;
  suiteSetup(async () => {
    registerDir();
    db = await connectNamespace('dir', { root });
  });
  suiteTeardown(() => db.close());

  /** Computes the lengths of the texts of all rows, and writes them back while `others` do something. */
  async function written(
    name: string,
    others: (theirs: Table) => Promise<unknown>,
  ): Promise<{ table: Table; events: NewEvent[] }> {
    const table = await textTable(db, name, { fragments: 2, rows: 400 });
    const readVersion = await table.version();
    const pinned = await db.openTable(name, { version: readVersion });
    const scope = 'length IS NULL';
    const rows: ComputedRows[] = [];
    for await (const read of scanRows({ table: pinned, scope, inputs, key: 'id' }, signal)) rows.push(computed(read));
    const events: NewEvent[] = [];
    let left: typeof others | undefined = others;
    const before = async (): Promise<void> => {
      const now = left;
      left = undefined;
      await now?.(await db.openTable(name));
    };
    const racing = lettingOthersFirst(table, before);
    const index = new KeyIndex(racing, 'id', (version) => back.isOwn(version));
    const fields = (await table.schema()).fields;
    const back: WriteBack = new WriteBack(
      {
        catalog: db,
        table: racing,
        column: new Field('length', new Int32(), true),
        key: fields.find(({ name: each }) => each === 'id')!,
        inputs,
        scope,
        isDefaultScope: true,
        index,
        compute: (read) => Promise.resolve([computed(read)]),
        emit: (event) => void events.push(event),
      },
      readVersion,
    );
    await back.commit(rows, signal);
    await index.leave(signal);
    assert.equal(left, undefined);
    return { table, events };
  }

  test('a row with another text gets the value of that', async () => {
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

  test('a row with another text for which nothing comes out has no value', async () => {
    const { table } = await written('emptied', (theirs) => theirs.update({ where: 'id = 7', values: { text: '' } }));
    const rows = await lengths(table);
    assert.deepEqual(
      rows.filter(([id, text, length]) => length !== (id === 7 ? null : lengthOf(id, text))),
      [],
    );
  });

  test('a value that somebody wrote stays', async () => {
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

/** The table, except that its merges wait for somebody else first. */
function lettingOthersFirst(table: Table, others: () => Promise<void>): Table {
  const mergeInsert: Table['mergeInsert'] = (on) =>
    new MergeInsert(
      async (spec, data, options) => {
        await others();
        const merge = table.mergeInsert(on);
        return (spec.whenMatchedUpdateAll ? merge.whenMatchedUpdateAll() : merge).execute(data, options);
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
