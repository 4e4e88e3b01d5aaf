import { type ChangeKind, changeKinds, type ShownChanges } from '#shared/protocol/changes.ts';
import type { GridCell } from '../grid/block.ts';
import type { CellValue } from '../grid/cellValue.ts';
import type { ChangeMark } from '../grid/changeMarks.ts';
import type { GridFrame } from '../grid/frame.ts';

/** The marks of cells whose values have not changed. */
const marks = Object.fromEntries(changeKinds.map((kind) => [kind, { kind }])) as Record<ChangeKind, ChangeMark>;
const nameMarks = Object.fromEntries(changeKinds.map((kind) => [kind, { kind, isName: true }])) as Record<
  ChangeKind,
  ChangeMark
>;

/**
 * Returns the frame of the differences between two tables, as the views process writes them: the kind of a row, the
 * columns of the table, the names of those that have changed, and their values before. Only the first ones are shown; the
 * others are read with them and become marks.
 */
export function changedFrame(frame: GridFrame, { numShown }: Pick<ShownChanges, 'numShown'>): GridFrame {
  const all = frame.columns.filter(({ parent }) => parent === undefined);
  // A struct is compared as a whole, and its fields are not shown as columns.
  const columns = all.slice(0, numShown).map((column) => ({ ...column, fields: [] }));
  const changed = numShown;
  // The columns of the key, which are the first ones, have no values before.
  const numKeys = 2 * numShown - all.length;
  const beforeOf = (column: number): number | undefined =>
    column > numKeys && column < numShown ? changed + column - numKeys : undefined;
  const changedNames = new WeakMap<GridCell, ReadonlySet<unknown>>();
  const changedMarks = new WeakMap<GridCell, ChangeMark>();

  const namesIn = (row: number): ReadonlySet<unknown> | undefined => {
    const cell = frame.cell(row, changed);
    if (!cell) return undefined;
    const known = changedNames.get(cell);
    if (known) return known;
    const text = frame.exactText(row, changed);
    if (text === undefined) return undefined;
    const found = new Set(readNames(text));
    changedNames.set(cell, found);
    return found;
  };

  const mark = (row: number, column: number): ChangeMark | undefined => {
    const text = frame.cell(row, 0)?.text;
    const kind = changeKinds.find((one) => one === text);
    if (!kind) return undefined;
    if (column === 0) return nameMarks[kind];
    const position = beforeOf(column);
    if (kind !== 'changed' || position === undefined) return kind === 'changed' ? undefined : marks[kind];
    if (!namesIn(row)?.has(columns[column]!.name)) return undefined;
    const before = frame.cell(row, position);
    if (!before) return undefined;
    const known = changedMarks.get(before);
    if (known) return known;
    const made: ChangeMark = { kind, before };
    changedMarks.set(before, made);
    return made;
  };

  /**
   * Whether the parts of a cell are loaded: a changed value is not shown without the one before. The parts of all kinds of
   * rows are awaited, so that the width of a column is that of all values.
   */
  const isWhole = (row: number, column: number): boolean => {
    const position = beforeOf(column);
    const kind = frame.cell(row, 0);
    if (kind === undefined || kind.kind === 'failed') return kind !== undefined;
    return position === undefined || (namesIn(row) !== undefined && frame.cell(row, position) !== undefined);
  };

  return {
    get numRows() {
      return frame.numRows;
    },
    columns,
    cell: (row, column) => (isWhole(row, column) ? frame.cell(row, column) : undefined),
    show: (start, end, shown) => {
      const wanted = new Set([0, changed, ...shown, ...shown.flatMap((column) => beforeOf(column) ?? [])]);
      return frame.show(
        start,
        end,
        [...wanted].toSorted((a, b) => a - b),
      );
    },
    // The fields of structs are not columns here, because a struct is compared as a whole.
    expand: () => {},
    watch: (onChange) => frame.watch(onChange),
    exactText: (row, column) => frame.exactText(row, column),
    read: (row, column, signal) => frame.read(row, column, signal),
    readBefore: async (row, column, signal) => {
      const position = beforeOf(column);
      if (position === undefined) return undefined;
      const names = await frame.read(row, changed, signal);
      return hasText(names, columns[column]!.name) ? frame.read(row, position, signal) : undefined;
    },
    readRows: (start, end, some, signal) => frame.readRows(start, end, some, signal),
    problem: () => frame.problem(),
    retry: () => frame.retry(),
    grow: (numRows) => frame.grow(numRows),
    reload: () => frame.reload(),
    close: () => frame.close(),
    mark,
  };
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Whether a list of strings has a string. */
function hasText(list: CellValue, text: string): boolean {
  if (list.kind !== 'list') return false;
  return Array.from({ length: list.size }, (_, at) => list.item(at).value).some(
    (value) => value.kind === 'text' && utf8.decode(value.bytes) === text,
  );
}

/** Returns the items of a list of strings, which is shown as JSON. */
function readNames(text: string): readonly unknown[] {
  if (text === '') return [];
  const names: unknown = JSON.parse(text);
  return Array.isArray(names) ? names : [];
}
