import assert from 'node:assert/strict';
import { Table, tableFromIPC, vectorFromArray } from '#arrow';
import type { OutputTable } from '#shared/protocol/outputTables.ts';
import { isOutputState, outputOfState } from '../../../../extension/panels/tableSource.ts';
import { heldRowsSource, kernelRowsSource } from '../../../../extension/notebook/outputSource.ts';

const { signal } = new AbortController();

const table = new Table({ id: vectorFromArray([1, 2, 3]), name: vectorFromArray(['a', 'b', 'c']) });

const noteOf = async (total: number | undefined, hasKernel: boolean, isReduced = false): Promise<string | undefined> =>
  (await heldRowsSource('Output of cell 3', { table, total, isReduced }, hasKernel).open(signal)).note;

suite('The rows that an output holds, in a panel', () => {
  test('are read by columns, to the last one', async () => {
    const source = heldRowsSource('Output of cell 3', { table, total: 3, isReduced: false }, false);
    const { title, numRows, selectsColumns, key } = await source.open(signal);
    assert.deepEqual([title, numRows, selectsColumns], ['Output of cell 3', 3, true]);
    assert.equal(isOutputState({ key }), true);
    assert.equal(outputOfState({ key }), undefined);
    const rows = tableFromIPC(await source.rows(1, 3, signal, ['name']));
    assert.deepEqual(
      rows.toArray().map((row) => ({ ...row })),
      [{ name: 'b' }, { name: 'c' }],
    );
  });

  test('are said to be a part of the table, and what to do for all', async () => {
    assert.equal(await noteOf(3, false), '');
    assert.equal(
      await noteOf(2000, false),
      'The kernel has ended: 3 rows of the output. Run the cell again for all 2,000',
    );
    assert.equal(await noteOf(2000, true), '3 rows of the output. Run the cell again for all 2,000');
    assert.equal(
      await noteOf(undefined, false, true),
      'The kernel has ended: 3 rows of the output. Large values are left out. Run the cell again for all of them',
    );
  });
});

suite('The rows that a kernel has for an output, in a panel', () => {
  const place = { notebook: 'file:///a.ipynb', output: 'table-1' };
  const found: Extract<OutputTable, { kind: 'rows' }> = {
    kind: 'rows',
    variable: 'numbers',
    columns: [{ name: 'id', type: 'int32', nullable: false }],
    numRows: 40_000,
    isCut: false,
    isReadAgain: false,
  };

  test('are read by range and columns', async () => {
    const asked: unknown[] = [];
    const source = kernelRowsSource('numbers', place, found, async (range) => (asked.push(range), new Uint8Array(3)));
    const { note, numRows, key } = await source.open(signal);
    assert.deepEqual([note, numRows], ['', 40_000]);
    assert.deepEqual(outputOfState({ key }), place);
    assert.equal((await source.rows(500, 1000, signal, ['id'])).length, 3);
    await source.rows(0, 10, signal);
    assert.deepEqual(asked, [
      { start: 500, end: 1000, columns: ['id'] },
      { start: 0, end: 10 },
    ]);
  });

  test('are said to be read again or cut, and lost ones what to do', async () => {
    const source = kernelRowsSource('numbers', place, { ...found, isCut: true, isReadAgain: true }, async () => null);
    assert.equal(
      (await source.open(signal)).note,
      'The first 40,000 rows. Open the table itself for all of them · The query ran again for this panel',
    );
    await assert.rejects(source.rows(0, 1, signal), /no longer has the rows of this output\. Run the cell again/);
  });

  test('with columns of one name are read as a whole', async () => {
    const [column] = found.columns;
    const source = kernelRowsSource('numbers', place, { ...found, columns: [column!, column!] }, async () => null);
    assert.equal((await source.open(signal)).selectsColumns, false);
  });
});
