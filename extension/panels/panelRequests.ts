import { maxBlobRange } from '#shared/arrow/blobs.ts';
import { CatalogError } from '#shared/errors.ts';
import { fieldPathText } from '#shared/fieldPath.ts';
import { maxRequestRows } from '#shared/mime.ts';
import {
  type ColumnInfo,
  type ColumnPosition,
  isPanelView,
  type PanelAction,
  panelActions,
  type PanelHostMethods,
  type PanelSelection,
  type PanelTable,
} from '#shared/protocol/webviewMessages.ts';
import { asRecord } from '#shared/records.ts';
import type { RowSelection } from '#shared/protocol/viewsMessages.ts';
import { isBoolean, isCount, isString, listOf, nullable, oneOf, shapeFor } from '#shared/shape.ts';
import { timeZoneChoices } from '#shared/format/times.ts';

// Checks of what the webview of a table asks for. Each throws CatalogError InvalidInput (13).

export function checkAction(action: unknown): PanelAction {
  const found = panelActions.find((one) => one === action);
  if (found) return found;
  throw new CatalogError('InvalidInput', 'The action is not valid.', 'Open the table again.');
}

export function checkRows(params: unknown): PanelHostMethods['rows'][0] {
  const { key, start, end, columns } = asRecord(params);
  if (typeof key === 'string' && isCount(start) && isCount(end) && start < end && end - start <= maxRequestRows) {
    if (columns === undefined) return { key, start, end };
    if (isColumns(columns)) return { key, start, end, columns };
  }
  throw new CatalogError(
    'InvalidInput',
    'The range of rows is not valid.',
    `Request at most ${maxRequestRows} rows at a time.`,
  );
}

const isPath = listOf(isCount);
/** A column of the table, or a nested field. */
const isColumnPosition = (value: unknown): value is ColumnPosition => isCount(value) || isPath(value);
const isColumns = listOf(isColumnPosition);

const isSelection = shapeFor<PanelSelection>({ start: isCount, end: isCount, columns: nullable(isColumns) });

/** Checks the selection of a panel, which is the webview's answer. @throws CatalogError if it is of another table */
export function checkSelection(answer: unknown, table: PanelTable): RowSelection {
  const { key, selection } = asRecord(answer);
  const isValid = isSelection(selection) && selection.start < selection.end && selection.end <= table.numRows;
  if (key !== table.key || !isValid)
    throw new CatalogError('InvalidInput', 'No rows of the table are selected.', 'Select rows or cells first.');
  const { start, end, columns } = selection;
  return { start, end, columns: columns && namesOf(table, columns), view: null };
}

const isBlobParams = shapeFor<PanelHostMethods['blob'][0]>({
  key: isString,
  column: isColumnPosition,
  row: isCount,
  start: isCount,
  end: isCount,
});

export function checkBlob(params: unknown): PanelHostMethods['blob'][0] {
  if (isBlobParams(params) && params.start < params.end && params.end - params.start <= maxBlobRange) return params;
  throw new CatalogError('InvalidInput', 'The range of bytes is not valid.', `Request at most ${maxBlobRange} bytes.`);
}

const isViewParams = shapeFor<PanelHostMethods['view'][0]>({ key: isString, view: isPanelView });

export function checkView(params: unknown): PanelHostMethods['view'][0] {
  if (isViewParams(params)) return params;
  throw new CatalogError('InvalidInput', 'The filter or the order is not valid.', 'Open the table again.');
}

const isCellParams = shapeFor<PanelHostMethods['filterByCell'][0]>({
  key: isString,
  where: isString,
  column: isColumnPosition,
  row: isCount,
  isOther: isBoolean,
});

export function checkCell(params: unknown): PanelHostMethods['filterByCell'][0] {
  if (isCellParams(params)) return params;
  throw new CatalogError('InvalidInput', 'The cell is not valid.', 'Open the table again.');
}

const isValuesParams = shapeFor<PanelHostMethods['columnValues'][0]>({
  key: isString,
  view: isPanelView,
  column: isColumnPosition,
  start: isString,
  timeZone: oneOf(...timeZoneChoices),
});

export function checkValues(params: unknown): PanelHostMethods['columnValues'][0] {
  if (isValuesParams(params)) return params;
  throw new CatalogError('InvalidInput', 'The column is not valid.', 'Open the table again.');
}

/** @throws CatalogError InvalidInput (13) if the table can't be read by columns or lacks one of them */
export function namesOf({ columns, selectsColumns }: PanelTable, positions: readonly ColumnPosition[]): string[] {
  const names = positions.flatMap((position) => columnName(columns, position) ?? []);
  if (selectsColumns && names.length === positions.length && names.length > 0) return names;
  throw new CatalogError('InvalidInput', 'The table does not have the columns.', 'Open the table again.');
}

/** Returns the name of a column, or the path of a nested field; `undefined` if the table has none there. */
export function columnName(columns: readonly ColumnInfo[], position: ColumnPosition): string | undefined {
  if (typeof position === 'number') return columns[position]?.name;
  const names: string[] = [];
  let inside: readonly ColumnInfo[] | undefined = columns;
  for (const index of position) {
    const column: ColumnInfo | undefined = inside?.[index];
    if (!column) return undefined;
    names.push(column.name);
    inside = column.fields;
  }
  return names.length > 0 ? fieldPathText(names) : undefined;
}
