import { countText } from '#shared/format/numbers.ts';
import {
  type ColumnChoices,
  type ColumnLayout,
  hide,
  hideOthers,
  moveBeside,
  pin,
  showAll,
  unpin,
} from './columnLayout.ts';
import { collapseColumn, expandColumn, type GridColumn } from './columnTree.ts';
import type { CopyForm } from './copyText.ts';
import { markedText } from './markedText.ts';
import type { MenuItem } from './menu.ts';
import { type RowHeight, rowHeightLabels, rowHeights } from './rowHeights.ts';

export type CellMenuActions = {
  readonly copyAs: (form: CopyForm) => void;
  readonly showValue: () => void;
  readonly goToRow: () => void;
  /** Undefined if the rows can't be exported. */
  readonly exportRows: (() => void) | undefined;
};

/** Returns the menu of the selected cells. */
export function cellMenu({ copyAs, showValue, goToRow, exportRows }: CellMenuActions): MenuItem[] {
  const copy = (label: string, form: CopyForm): MenuItem => ({ label, run: () => copyAs(form) });
  return [
    copy('Copy', 'tsv'),
    copy('Copy as CSV', 'csv'),
    copy('Copy as JSON', 'json'),
    copy('Copy as Markdown', 'markdown'),
    { label: 'Show Value', run: showValue },
    { label: 'Go to Row…', run: goToRow },
    ...(exportRows ? [{ label: 'Export Selected Rows…', run: exportRows }] : []),
  ];
}

/** Returns the entries that choose the height of the rows. */
export const rowHeightMenu = (current: RowHeight, choose: (height: RowHeight) => void): MenuItem[] =>
  (Object.keys(rowHeights) as RowHeight[]).map((height, index) => ({
    label: rowHeightLabels[height],
    isChecked: height === current,
    startsGroup: index === 0,
    run: () => choose(height),
  }));

export type ColumnMenuOptions = {
  readonly layout: ColumnLayout;
  /** All columns in the order of the table, also hidden ones. */
  readonly all: readonly number[];
  readonly columns: readonly GridColumn[];
  /** The position of the column among the shown ones. */
  readonly index: number;
  readonly choices: ColumnChoices;
  readonly choose: (choices: ColumnChoices) => void;
  readonly fit: () => void;
  readonly fitAll: () => void;
  /** Sets columns and rows as they are in a new panel. */
  readonly reset: () => void;
  readonly copyName: () => void;
  /** Undefined if the rows can't be exported. */
  readonly exportColumn: (() => void) | undefined;
};

/** Returns the menu of a column. */
export function columnMenu({
  layout,
  all,
  columns,
  index,
  choices,
  choose,
  ...options
}: ColumnMenuOptions): MenuItem[] {
  const { shown, numPinned } = layout;
  const column = shown[index]!;
  const isPinned = index < numPinned;
  const hidden = choices.hidden.length;
  const showHidden = {
    label: `Show ${hidden === 1 ? 'Hidden Column' : `${countText(hidden)} Hidden Columns`}`,
    run: () => choose(showAll(choices)),
  };
  /** Moves the column by one place among the pinned or the other ones. */
  const move = (label: string, by: -1 | 1): MenuItem => {
    const target = index + by;
    const isInPart = target >= 0 && target < shown.length && target < numPinned === isPinned;
    const to = { all, column, target: shown[target]!, isAfter: by === 1 };
    return { label, isDisabled: !isInPart, run: () => choose(moveBeside(choices, to)) };
  };
  const isLast = shown.length === 1;
  return [
    ...fieldsMenu(columns, column, choices, choose),
    { label: 'Auto-Fit', startsGroup: true, run: options.fit },
    { label: 'Auto-Fit All', run: options.fitAll },
    isPinned
      ? { label: 'Unpin', startsGroup: true, run: () => choose(unpin(choices, column)) }
      : { label: 'Pin Left', startsGroup: true, run: () => choose(pin(choices, column)) },
    move('Move Left', -1),
    move('Move Right', 1),
    { label: 'Hide Column', startsGroup: true, isDisabled: isLast, run: () => choose(hide(choices, column)) },
    { label: 'Hide Other Columns', isDisabled: isLast, run: () => choose(hideOthers(choices, all, column)) },
    ...(hidden === 0 ? [] : [showHidden]),
    { label: 'Reset Columns', run: options.reset },
    { label: 'Copy Name', startsGroup: true, run: options.copyName },
    ...(options.exportColumn ? [{ label: 'Export Column…', run: options.exportColumn }] : []),
  ];
}

/** Returns the entries that show the fields of a struct as columns, and the struct again. */
function fieldsMenu(
  columns: readonly GridColumn[],
  column: number,
  choices: ColumnChoices,
  choose: (choices: ColumnChoices) => void,
): MenuItem[] {
  const { fields, parent } = columns[column]!;
  const items: MenuItem[] = [];
  const expand = (): void => choose(expandColumn(choices, columns, column));
  if (fields.length > 0) items.push({ label: 'Expand Fields', startsGroup: true, run: expand });
  if (parent === undefined) return items;
  const collapse = (): void => choose(collapseColumn(choices, columns, parent));
  const label = `Collapse ${shortName(columns[parent]!.name)}`;
  return [...items, { label, startsGroup: items.length === 0, run: collapse }];
}

/** Returns a name that fits a menu. */
const shortName = (name: string): string => markedText(name.length > 40 ? `${name.slice(0, 39)}…` : name);
