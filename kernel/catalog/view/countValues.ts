import { type Data, type DataType, Vector } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { columnReader } from '#catalog/arrow/rowValues.ts';
import type { Table } from '#catalog/table/table.ts';
import { isTextType } from '#shared/arrow/arrowTypes.ts';
import { CatalogError } from '#shared/errors.ts';
import { columnFormatter, displayLimits } from '#shared/format/cellText.ts';
import type { TimeZoneChoice } from '#shared/format/times.ts';
import type { ColumnValue, ColumnValues } from '#shared/protocol/webviewMessages.ts';
import { quotedText } from '#shared/sqlTokens.ts';
import { keyReader, type KeyValue } from './keyOrder.ts';
import { filteredQuery, type ViewSpec } from './listRows.ts';
import { conditionName, valueLiteral } from './valueCondition.ts';

type CountOptions = CallOptions & {
  /** Values of text that start so, in upper or lower case. Default: all values. */
  readonly start?: string | undefined;
  /** The number of values that are counted at most. */
  readonly maxValues: number;
  /** The zone in which timestamps are shown. */
  readonly timeZone?: TimeZoneChoice | undefined;
};

/**
 * Counts the values of a column in the rows of a view. Both zeros are one value. Stops as soon as there are more than
 * `maxValues`; then the result has none.
 * @throws CatalogError Unsupported (0) for a column that has no order, InvalidInput (13) for a wrong filter
 */
export async function countValues(
  table: Table,
  spec: ViewSpec,
  column: string,
  { start = '', maxValues, timeZone = 'column', signal }: CountOptions,
): Promise<ColumnValues> {
  const name = conditionName(column);
  if (name === undefined)
    throw new CatalogError('InvalidInput', `Can't filter by "${column}".`, 'Write a filter by hand.');
  const query = filteredQuery(table, spec).select([column]);
  const text = quotedText(start);
  const started = start === '' ? query : query.where(`starts_with(lower(${name}), lower(${text}))`);
  const counts = new Map<KeyValue, ColumnValue>();
  for await (const batch of (await started.execute({ signal })).batches) {
    const data = batch.getChildAt(0)?.data[0];
    if (!data) continue;
    if (start !== '' && !isTextType(data.type as DataType))
      throw new CatalogError('Unsupported', `The column "${column}" has no text.`, 'Count all values.');
    if (!countChunk(data, column, timeZone, maxValues, counts)) return { values: [], isMore: true };
    signal?.throwIfAborted();
  }
  const values = [...counts.values()].toSorted((a, b) => b.count - a.count || (a.text < b.text ? -1 : 1));
  return { values, isMore: false };
}

/** Adds the values of a chunk. Returns false if there are more than `maxValues` then. */
function countChunk(
  data: Data,
  column: string,
  timeZone: TimeZoneChoice,
  maxValues: number,
  counts: Map<KeyValue, ColumnValue>,
): boolean {
  const readKey = keyReader(data, column);
  const format = columnFormatter(new Vector([data]), { timeZone, limits: displayLimits });
  const read = columnReader(data);
  for (let row = 0; row < data.length; row++) {
    const key = readKey(row);
    const counted = counts.get(key);
    if (counted) {
      counted.count++;
      continue;
    }
    if (counts.size >= maxValues) return false;
    counts.set(key, firstCount(data.type, read(row), format(row).text, column));
  }
  return true;
}

/** Returns a value with the count of its first row. */
function firstCount(type: DataType, value: unknown, text: string, column: string): ColumnValue {
  if (value === null || value === undefined) return { kind: 'null', text: '', literal: '', count: 1 };
  if (Number.isNaN(value)) return { kind: 'nan', text: 'NaN', literal: '', count: 1 };
  // A zero with a minus is the same value.
  const literal = valueLiteral(type, value === 0 ? 0 : value, column);
  return { kind: 'value', text: value === 0 ? '0' : text, literal, count: 1 };
}
