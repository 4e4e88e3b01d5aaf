import assert from 'node:assert/strict';
import { Field, Schema, Utf8 } from '#arrow';
import { fails } from '../expect.ts';
import { forEachSubject } from '../subjects.ts';

const rows = [{ id: 1 }];

forEachSubject('metadata of a schema', (makeCatalog, subject) => {
  if (subject.id !== 'upstream') {
    // The embedded engine has no call that changes metadata, so no implementation on top of it can change metadata.
    test('is not changed, and why is said', async () => {
      const { db } = await makeCatalog();
      const table = await db.createTable('t', rows);
      await fails(
        () => table.updateSchemaMetadata({ owner: 'ada' }),
        'Unsupported',
        'metadata',
        'when you create the table',
      );
      assert.equal(await table.version(), 1);
    });
    return;
  }

  test('is set entry by entry, and given back whole', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    assert.deepEqual(await table.updateSchemaMetadata({ owner: 'ada', note: 'a' }), { owner: 'ada', note: 'a' });
    assert.deepEqual(await table.updateSchemaMetadata({ note: 'ü "x"' }), { owner: 'ada', note: 'ü "x"' });
    assert.deepEqual(Object.fromEntries((await table.schema()).metadata), { owner: 'ada', note: 'ü "x"' });
  });

  test('is removed by null', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.updateSchemaMetadata({ owner: 'ada', note: 'a' });
    assert.deepEqual(await table.updateSchemaMetadata({ owner: null }), { note: 'a' });
  });
});

forEachSubject('metadata of columns and schema', (makeCatalog) => {
  test('are kept from the schema that a table is made with', async () => {
    const { db } = await makeCatalog();
    const field = new Field('picture', new Utf8(), true, new Map([['mime', 'image/png']]));
    const schema = new Schema([field], new Map([['owner', 'ada']]));
    const table = await db.createTable('t', [{ picture: 'a' }], { schema });
    const found = await table.schema();
    assert.deepEqual(Object.fromEntries(found.metadata), { owner: 'ada' });
    assert.deepEqual(Object.fromEntries(found.fields[0]!.metadata), { mime: 'image/png' });
    assert.deepEqual(Object.fromEntries((await table.toArrow()).schema.fields[0]!.metadata), { mime: 'image/png' });
  });
});
