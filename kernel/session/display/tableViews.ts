import type { Query } from '#catalog/query/query.ts';
import type { Table } from '#catalog/table/table.ts';
import type { TableViewRequest } from '#catalog/table/tableViewOptions.ts';
import type { TableViews } from '#catalog/table/tableViews.ts';
import { placeOfTable } from '#catalog/tableReference.ts';
import { CatalogError } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import type { KernelView, ViewAnswer } from '#shared/protocol/outputTables.ts';

type TableViewsDeps = {
  /** Asks the client to show a table in its panel. */
  show: (view: KernelView, signal: AbortSignal) => Promise<ViewAnswer>;
  /** Shows a query as an output of the cell. */
  display: (query: Query) => Promise<void>;
  /** Returns the signal of the running cell. */
  signal: () => AbortSignal;
};

/** Creates `table.view` of a notebook. */
export function createTableViews({ show, display, signal }: TableViewsDeps): TableViews {
  return async (table, request) => {
    const stop = request.signal ? AbortSignal.any([signal(), request.signal]) : signal();
    const place = await placeOfTable(table);
    const path = displayPath(table.namespacePath, table.name);
    if (!place)
      throw new CatalogError(
        'Unsupported',
        `Can't show "${path}" in the panel: it was opened at a tag or a branch.`,
        'Open it without one, or show table.query() in the cell.',
      );
    const { where, orderBy, columns } = request;
    // The panel would only leave them out.
    if (columns) await checkColumns(table, path, columns, stop);
    const view = { where, orderBy: orderBy.map((one) => ({ ...one })) };
    const answer = await show({ table: place, view, ...(columns && { columns: [...columns] }) }, stop);
    if (answer.kind === 'refused') throw new CatalogError('Unsupported', answer.problem, '');
    if (answer.kind === 'shown') return;
    process.stdout.write(`The table panel is part of VS Code. The first rows of "${path}":\n`);
    await display(queryOf(table, request));
  };
}

async function checkColumns(
  table: Table,
  path: string,
  columns: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { fields } = await table.schema({ signal });
  const missing = columns.find((name) => !fields.some((field) => field.name === name));
  if (missing === undefined) return;
  const known = fields.slice(0, 20).map(({ name }) => name);
  const what = `Table "${path}" has no column "${missing}".`;
  throw new CatalogError('ColumnNotFound', what, `Its columns: ${known.join(', ')}${fields.length > 20 ? ', …' : ''}.`);
}

function queryOf(table: Table, { where, orderBy, columns }: TableViewRequest): Query {
  let query: Query = table.query();
  if (where.trim() !== '') query = query.where(where);
  if (orderBy.length > 0) query = query.orderBy(orderBy.map((one) => ({ ...one })));
  return columns ? query.select([...columns]) : query;
}
