import { type Table as ArrowTable, tableToIPC } from '#arrow';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { CatalogError } from '#shared/errors.ts';
import { pluralize } from '#shared/format/markup.ts';
import { countText } from '#shared/format/numbers.ts';
import type { OutputTable } from '#shared/protocol/outputTables.ts';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { outputKey, type OutputPlace, type TableSource } from '../panels/tableSource.ts';

const runAgain = 'Run the cell again, then choose "Open in Panel".';

/** Returns the rows of an output as a table of a panel. */
const outputTable = (
  title: string,
  { key, columns, numRows, note }: Required<Pick<PanelTable, 'key' | 'columns' | 'numRows' | 'note'>>,
): PanelTable => ({
  title,
  key,
  columns,
  numRows,
  version: null,
  // Rows can be read by columns if each name means one column.
  selectsColumns: new Set(columns.map(({ name }) => name)).size === columns.length,
  note,
});

/** Returns a source of the rows that a kernel has for an output. A kernel that has ended can't page any more. */
export function kernelRowsSource(
  title: string,
  place: OutputPlace,
  { columns, numRows, isCut, isReadAgain }: Extract<OutputTable, { kind: 'rows' }>,
  read: (
    range: { start: number; end: number; columns?: string[] | undefined },
    signal: AbortSignal,
  ) => Promise<Uint8Array | null>,
): TableSource {
  const notes = [
    ...(isCut ? [`The first ${pluralize(numRows, 'row')}. Open the table itself for all of them`] : []),
    ...(isReadAgain ? ['The query ran again for this panel'] : []),
  ];
  const key = outputKey(place);
  return {
    title,
    open: () => Promise.resolve(outputTable(title, { key, columns, numRows, note: notes.join(' · ') })),
    rows: async (start, end, signal, some) => {
      const rows = await read({ start, end, ...(some && { columns: [...some] }) }, signal);
      if (rows) return rows;
      throw new CatalogError('TableNotFound', 'The kernel no longer has the rows of this output.', runAgain);
    },
  };
}

/** What an output holds of a table. */
export type HeldRows = {
  readonly table: ArrowTable;
  /** Rows of the whole table; undefined if they are not known. */
  readonly total: number | undefined;
  /** Whether large values are replaced or left out. */
  readonly isReduced: boolean;
};

/** Returns a source of the rows that an output holds, for a kernel that has ended or no longer has the table. */
export function heldRowsSource(title: string, { table, total, isReduced }: HeldRows, hasKernel: boolean): TableSource {
  const columns = columnsOf(table.schema);
  const { numRows } = table;
  const isCut = total === undefined || total > numRows;
  const all = total === undefined ? 'all of them' : `all ${countText(total)}`;
  const notes = [
    ...(isCut ? [`${hasKernel ? '' : 'The kernel has ended: '}${pluralize(numRows, 'row')} of the output`] : []),
    ...(isReduced ? ['Large values are left out'] : []),
    ...(isCut ? [`Run the cell again for ${all}`] : []),
  ];
  const key = outputKey();
  return {
    title,
    open: () => Promise.resolve(outputTable(title, { key, columns, numRows, note: notes.join('. ') })),
    rows: async (start, end, _, some) => {
      const part = table.slice(start, end);
      return tableToIPC(some ? part.select([...some]) : part, 'stream');
    },
  };
}
