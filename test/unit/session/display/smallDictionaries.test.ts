import assert from 'node:assert/strict';
import { Dictionary, Int16, Int32, Table, tableFromIPC, tableToIPC, Uint32, Utf8, vectorFromArray } from '#arrow';
import { fitTable } from '#session/display/fitTable.ts';
import { withSmallDictionaries } from '#session/display/smallDictionaries.ts';

const names = (count: number): (string | null)[] =>
  Array.from({ length: count }, (_, row) => (row % 7 === 3 ? null : `name ${row}`));

const valuesIn = (table: Table): unknown[] => Array.from(table.getChild('name')!);

suite('A dictionary that is larger than the rows', () => {
  for (const index of [new Int16(), new Int32(), new Uint32()])
    test(`has only their values, also over several batches, with positions of ${String(index)}`, () => {
      const type = new Dictionary(new Utf8(), index);
      const all = new Table({
        name: vectorFromArray(names(30_000), type),
        id: vectorFromArray([...names(30_000).keys()]),
      });
      const part = new Table([...all.slice(20, 30).batches, ...all.slice(29_990, 30_000).batches]);
      const small = withSmallDictionaries(part);
      assert.deepEqual(valuesIn(small), [...names(30).slice(20), ...names(30_000).slice(29_990)]);
      const bytes = tableToIPC(small, 'stream');
      assert.ok(bytes.length < 4000, `${bytes.length} bytes`);
      assert.deepEqual(valuesIn(tableFromIPC(bytes)), valuesIn(part));
      assert.deepEqual(
        tableFromIPC(bytes).schema.fields.map(({ type: one }) => String(one)),
        all.schema.fields.map(({ type: one }) => String(one)),
      );
    });

  test('leaves a dictionary that is no larger than the rows', () => {
    const table = new Table({ name: vectorFromArray(['a', 'b', 'a'], new Dictionary(new Utf8(), new Int32())) });
    assert.equal(withSmallDictionaries(table), table);
  });

  test('does not keep rows from an output', () => {
    const type = new Dictionary(new Utf8(), new Int32());
    const table = new Table({ name: vectorFromArray(names(40_000), type) });
    const { rows, bytes } = fitTable(table, { maxRows: 1000, maxBytes: 256 * 1024 });
    assert.equal(rows, 1000);
    assert.deepEqual(valuesIn(tableFromIPC(bytes)), names(1000));
  });
});
