import { countText } from '#shared/format/numbers.ts';
import { type ColumnChoices, hide, pin, showAll, unpin } from './columnLayout.ts';
import type { CopyForm } from './copyText.ts';
import type { MenuItem } from './menu.ts';
import { type RowHeight, rowHeightLabels, rowHeights } from './rowHeights.ts';

export type CellMenuActions = {
  readonly copyAs: (form: CopyForm) => void;
  readonly showValue: () => void;
  readonly goToRow: () => void;
};

/** Returns the menu of the selected cells. */
export function cellMenu({ copyAs, showValue, goToRow }: CellMenuActions): MenuItem[] {
  const copy = (label: string, form: CopyForm): MenuItem => ({ label, run: () => copyAs(form) });
  return [
    copy('Copy', 'tsv'),
    copy('Copy as CSV', 'csv'),
    copy('Copy as JSON', 'json'),
    copy('Copy as Markdown', 'markdown'),
    { label: 'Show Value', run: showValue },
    { label: 'Go to Row…', run: goToRow },
  ];
}

/** Returns the entries that choose the height of the rows. */
export const rowHeightMenu = (current: RowHeight, choose: (height: RowHeight) => void): MenuItem[] =>
  (Object.keys(rowHeights) as RowHeight[]).map((height) => ({
    label: rowHeightLabels[height],
    isChecked: height === current,
    run: () => choose(height),
  }));

export type ColumnMenuOptions = {
  readonly column: number;
  readonly choices: ColumnChoices;
  readonly isPinned: boolean;
  /** Whether no other column is shown. */
  readonly isLast: boolean;
  readonly choose: (choices: ColumnChoices) => void;
  readonly fit: () => void;
  readonly copyName: () => void;
};

/** Returns the menu of a column. */
export function columnMenu({ column, choices, choose, ...options }: ColumnMenuOptions): MenuItem[] {
  const hidden = choices.hidden.length;
  const showHidden = {
    label: `Show ${hidden === 1 ? 'Hidden Column' : `${countText(hidden)} Hidden Columns`}`,
    run: () => choose(showAll(choices)),
  };
  return [
    options.isPinned
      ? { label: 'Unpin Column', run: () => choose(unpin(choices, column)) }
      : { label: 'Pin Column', run: () => choose(pin(choices, column)) },
    { label: 'Hide Column', run: () => choose(hide(choices, column)), isDisabled: options.isLast },
    ...(hidden === 0 ? [] : [showHidden]),
    { label: 'Fit Width', run: options.fit },
    { label: 'Copy Name', run: options.copyName },
  ];
}
