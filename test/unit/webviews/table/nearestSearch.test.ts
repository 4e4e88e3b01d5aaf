import assert from 'node:assert/strict';
import type { PanelNearest, PanelTable } from '#shared/protocol/webviewMessages.ts';
import type { CellValue } from '../../../../webviews/grid/cellValue.ts';
import { gridColumns } from '../../../../webviews/grid/columnTree.ts';
import { NearestSearch } from '../../../../webviews/table/nearestSearch.ts';

const vectors = 'fixed_size_list<float>[2]';
const column = (name: string, type: string) => ({ name, type, nullable: true });
const columns = [
  column('embedding', vectors),
  column('name', 'utf8'),
  column('signed', 'fixed_size_list<int8>[2]'),
  column('odd.name', vectors),
  column('several', `list<${vectors}>`),
  { ...column('item', `struct<v: ${vectors}>`), fields: [column('v', vectors)] },
];
const table: PanelTable = { title: 't', key: 'k', columns, numRows: 9, version: 4, hasViews: true };

const vector = (...values: number[]): CellValue => ({
  kind: 'vector',
  values: Float64Array.from(values),
  itemText: (at) => String(values[at]),
});
const list = (...items: CellValue[]): CellValue => ({
  kind: 'list',
  size: items.length,
  text: '',
  item: (at) => ({ name: String(at), value: items[at]! }),
});

/** Returns the searches of a table in which every cell has a value, and what they did. */
function searchOf(value: CellValue, isWhole = true) {
  const [found, failures]: [PanelNearest[], string[]] = [[], []];
  const search = new NearestSearch({
    table,
    frame: {
      columns: gridColumns(columns),
      cell: () =>
        value.kind === 'vector'
          ? { kind: 'vector', text: '', values: value.values }
          : { kind: value.kind === 'null' ? 'null' : 'nested', text: '' },
      read: () => Promise.resolve(value),
    },
    isWhole,
    find: (nearest) => {
      found.push(nearest);
      return Promise.resolve(undefined);
    },
    fail: (message) => failures.push(message),
    openBox: () => undefined,
    focusRows: () => undefined,
  });
  return { search, found, failures };
}

const labels = (items: readonly { label: string }[]): string[] => items.map(({ label }) => label);

suite('The searches in the menus of a table', () => {
  test('are offered for vectors, and otherwise say why not', () => {
    const { search } = searchOf(vector(1, 2));
    assert.deepEqual(
      columns.map((_, at) => labels(search.columnMenu(at)).join()),
      [
        'Find Nearest Rows…',
        '',
        "Can't Find Nearest: the engine searches vectors of 16, 32 or 64-bit floats and of unsigned bytes, not fixed_size_list<int8>[2]",
        "Can't Find Nearest: its name has a dot or a backtick",
        'Find Nearest Rows…',
        '',
      ],
    );
    const nested = gridColumns(columns).length - 1;
    assert.deepEqual(labels(search.columnMenu(nested)), ["Can't Find Nearest: it is a field of a struct"]);
    assert.deepEqual(labels(search.cellMenu(0, nested)), ["Can't Find Nearest: it is a field of a struct"]);
    assert.deepEqual(labels(searchOf({ kind: 'null' }).search.cellMenu(0, 0)), [
      "Can't Find Nearest: the vector is null",
    ]);
    assert.deepEqual(labels(searchOf(vector(1, Number.NaN)).search.cellMenu(0, 0)), [
      "Can't Find Nearest: the vector has NaN or infinity",
    ]);
  });

  test('search by the vector of a cell, or by all vectors of a list', async () => {
    const one = searchOf(vector(1, 2));
    one.search.cellMenu(6, 0)[0]!.run();
    await new Promise(setImmediate);
    const from = { kind: 'row', row: 6, version: 4 } as const;
    assert.deepEqual(one.found, [{ column: 'embedding', vectors: [[1, 2]], from, k: 100 }]);
    const several = searchOf(list(vector(1, 2), vector(3, 4)), false);
    several.search.cellMenu(6, 4)[0]!.run();
    await new Promise(setImmediate);
    assert.deepEqual(several.found[0]?.vectors, [
      [1, 2],
      [3, 4],
    ]);
    assert.deepEqual(several.found[0]?.from, { kind: 'view' });
  });

  test('say why the vectors of a cell can not be searched', async () => {
    const { search, found, failures } = searchOf(list(vector(1, 2), vector(3)));
    search.cellMenu(6, 4)[0]!.run();
    await new Promise(setImmediate);
    assert.deepEqual([found, failures], [[], ['Expected 2 numbers, got 1.']]);
  });
});
