import assert from 'node:assert/strict';
import { Int32, Table, tableFromArrays, tableFromIPC, tableToIPC, vectorFromArray } from '#arrow';
import { sampleOf, trialSource, trialTable } from '../../../../../extension/jobs/backfill/trialTable.ts';

const text = (table: Table): string => Buffer.from(tableToIPC(table, 'stream')).toString('base64');
const notes = vectorFromArray(['a', 'bc', 'def']);
const table = (values: (number | null)[], more = {}) =>
  text(new Table({ note: notes, size: vectorFromArray(values, new Int32()), ...more }));

suite('a trial in the grid', () => {
  test('has the inputs, then the column as it is and as it would become', () => {
    const tried = trialTable('size', { before: table([null, 7, null]), after: table([1, 2, 3]) });
    assert.deepEqual(
      tried.schema.fields.map(({ name }) => name),
      ['note', 'size (before)', 'size (after)'],
    );
    assert.deepEqual([...(tried.getChild('size (before)') ?? [])], [null, 7, null]);
    assert.deepEqual([...(tried.getChild('size (after)') ?? [])], [1, 2, 3]);
  });

  test('has what was said of rows that failed at the end', () => {
    const error = vectorFromArray([null, 'TypeError', null]);
    const tried = trialTable('size', { before: table([null, null, null]), after: table([1, null, 3], { error }) });
    assert.deepEqual(
      tried.schema.fields.map(({ name }) => name),
      ['note', 'size (before)', 'size (after)', 'error'],
    );
  });

  test('is read by the grid a page at a time, and says that nothing was written', async () => {
    const both = { before: table([null, null, null]), after: table([1, 2, 3]) };
    const source = trialSource({ column: 'size' }, { fragment: 2, rows: 3, seconds: 0.2, errors: 1, ...both });
    const { signal } = new AbortController();
    const { numRows, note } = await source.open(signal);
    assert.equal(numRows, 3);
    assert.equal(note, 'Fragment 2: 3 rows computed in less than a second, 1 row failed. Nothing was written.');
    const page = tableFromIPC(await source.rows(1, 3, signal));
    assert.deepEqual([...(page.getChild('size (after)') ?? [])], [2, 3]);
  });

  test('gives its first five rows as text, to show beside a plan', () => {
    const [before, after] = [table([null, 7, null]), table([1, 2, 3])];
    const { inputs, rows } = sampleOf('size', { before, after });
    assert.deepEqual(inputs, ['note']);
    assert.deepEqual(rows[1], { inputs: ['bc'], before: '7', after: '2', error: '' });
    const error = vectorFromArray([null, 'TypeError\nof a row', null]);
    const failed = sampleOf('size', { before, after: table([1, null, 3], { error }) });
    assert.deepEqual([failed.rows[0]?.error, failed.rows[1]?.error], ['', 'TypeError of a row']);
    const many = text(new Table({ size: vectorFromArray(Array.from({ length: 9 }, () => 'x'.repeat(500))) }));
    const cut = sampleOf('size', { before: many, after: many });
    assert.deepEqual([cut.rows.length, (cut.rows[0]?.after ?? '').length <= 61], [5, true]);
  });

  test('is refused where its tables do not belong together', () => {
    const other = text(tableFromArrays({ note: ['a'] }));
    assert.throws(() => trialTable('size', { before: other, after: table([1, 2, 3]) }), /do not match/);
  });
});
