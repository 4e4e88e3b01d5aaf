import { CatalogError } from '#shared/errors.ts';
import type { Table } from './table.ts';
import { checkView, type TableViewOptions, type TableViewRequest } from './tableViewOptions.ts';

export type TableViews = (table: Table, request: TableViewRequest) => Promise<void>;

let registered: TableViews | undefined;

/** Sets how tables are shown in a panel. This module can't import it, because notebooks depend on catalogs. */
export function registerTableViews(views: TableViews | undefined): void {
  registered = views;
}

/**
 * Shows a table in the panel.
 * @throws CatalogError InvalidInput (13) for an unknown option or an invalid value, Unsupported (0) outside of notebooks
 */
export async function viewTable(table: Table, options: TableViewOptions = {}): Promise<void> {
  const request = checkView(options);
  if (registered) return registered(table, request);
  throw new CatalogError('Unsupported', "This process can't show tables.", 'Run it in a notebook.');
}
