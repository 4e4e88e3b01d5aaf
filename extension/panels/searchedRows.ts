import { textCondition } from '#catalog/view/searchRows.ts';
import { bothConditions } from '#catalog/view/valueCondition.ts';
import { CatalogError } from '#shared/errors.ts';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';

/** Whether the rows of a panel were found by a full-text index, so that no filter has the same rows. */
export const isFoundByIndex = ({ searched }: PanelTable): boolean => searched?.isIndex === true;

/**
 * Returns the filter of the rows that a panel shows, with the condition of its search.
 * @throws CatalogError Unsupported (0) if an index has found the rows
 */
export function shownFilter(table: PanelTable): string {
  const { view, searched } = table;
  const where = view?.where ?? '';
  if (!view?.search || !searched) return where;
  if (!isFoundByIndex(table))
    return bothConditions(where, textCondition({ text: view.search.text.trim(), columns: searched.columns }));
  throw new CatalogError(
    'Unsupported',
    `Can't write the rows of "${table.title}" as code: a full-text index has found them, which a filter can't do.`,
    'Choose "All text" beside the search, or call fullTextSearch in a cell.',
  );
}
