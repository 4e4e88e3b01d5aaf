import { pluralize } from '#shared/format/markup.ts';
import { countText } from '#shared/format/numbers.ts';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { createElement, createWrapper } from '../parts/elements.ts';

/** Whether a table has the toolbar: only the tables of catalogs have versions. */
export const hasToolbar = ({ version }: PanelTable): boolean => version !== null;

/** Returns the number of rows in words: `1,000,000 rows`; with a filter or a search `12 of 1,000,000 rows`. */
export function rowsText({ numRows, totalRows, view, isGrowing, changes }: PanelTable): string {
  if (changes) return pluralize(numRows, 'difference');
  const isFiltered =
    view !== undefined && (view.where.trim() !== '' || view.search !== undefined || view.nearest !== undefined);
  const total = totalRows ?? numRows;
  const all = pluralize(total, 'row');
  return isFiltered ? `${countText(numRows)}${isGrowing === true ? '+' : ''} of ${all}` : all;
}

/**
 * The line above the grid. It stays on the page when another table is shown, so that a control in it keeps the focus.
 */
export class Toolbar {
  readonly element = createElement('div', { className: 'lance-toolbar', role: 'group' });
  /** Holds controls that use the width which the others leave, at the left. */
  readonly left = createWrapper('lance-toolbar-left');
  /** Holds buttons, at the right. */
  readonly buttons = createWrapper('lance-toolbar-buttons');
  /** Holds lines below the toolbar. Without one it has no height. */
  readonly below = createWrapper('lance-toolbar-below');
  readonly #count = createElement('span', { className: 'lance-toolbar-count', role: 'status' });

  constructor() {
    this.element.ariaLabel = 'Table tools';
    this.element.append(this.left, this.#count, this.buttons);
  }

  show(table: PanelTable): void {
    this.#count.textContent = rowsText(table);
  }
}
