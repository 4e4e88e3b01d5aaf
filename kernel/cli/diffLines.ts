import type { RecordBatch } from '#arrow';
import { jsonReader } from '#catalog/export/columnTexts.ts';
import type { RowAt, RowChange } from '#catalog/view/rowChange.ts';
import { columnFormatter, displayLimits } from '#shared/format/cellText.ts';
import { escapeControlCharacters } from '#shared/format/markup.ts';
import type { ChangedColumn } from '#shared/protocol/changes.ts';
import { terminalText } from './terminal.ts';

// Names and values are data: line breaks too are escaped, so that each difference has lines of known form.
const safeText = (text: string): string => terminalText(escapeControlCharacters(text));

const limits = { ...displayLimits, chars: 200 };

type ReadText = (row: number) => string;
type BatchReaders = { readonly cells: ReadonlyMap<string, ReadText>; readonly json: ReadonlyMap<string, ReadText> };

// Readers are made once for each batch, because a batch may have thousands of differences.
const readersOfBatches = new WeakMap<RecordBatch, BatchReaders>();

function readersFor(batch: RecordBatch): BatchReaders {
  const known = readersOfBatches.get(batch);
  if (known) return known;
  const { fields } = batch.schema;
  const cells = new Map(fields.map((field, column) => [field.name, cellReader(batch, column)]));
  const json = new Map(fields.map(({ name }, column) => [name, jsonReader(batch.data.children[column])]));
  const readers = { cells, json };
  readersOfBatches.set(batch, readers);
  return readers;
}

function cellReader(batch: RecordBatch, column: number): ReadText {
  const vector = batch.getChildAt(column);
  if (!vector) return () => 'null';
  const read = columnFormatter(vector, { limits, field: batch.schema.fields[column] });
  return (row) => {
    const cell = read(row);
    if (cell.kind === 'null') return 'null';
    // Quotes tell the text "null" and the empty text from no value.
    return cell.kind === 'text' ? `"${safeText(cell.text)}"` : safeText(cell.text);
  };
}

const cellText = ({ batch, row }: RowAt, name: string): string => readersFor(batch).cells.get(name)?.(row) ?? 'null';

const namedCells = (at: RowAt, names: readonly string[]): string =>
  names.map((name) => `${safeText(name)} ${cellText(at, name)}`).join(', ');

/** Returns the lines of a row: one for an added or removed row, one for each changed cell. */
export function changeLine(change: RowChange, key: readonly string[] = []): string[] {
  const id = change.rowId === undefined ? '' : `row ${change.rowId}`;
  if (change.kind === 'changed') {
    const { before, after, columns } = change;
    const row = id || namedCells(after, key);
    return columns.map((name) => `${row}: ${safeText(name)} ${cellText(before, name)} → ${cellText(after, name)}`);
  }
  const at = change.kind === 'added' ? change.after : change.before;
  const names = at.batch.schema.fields.map(({ name }) => name);
  return [`${change.kind === 'added' ? '+' : '-'} ${id && `${id}: `}${namedCells(at, names)}`];
}

/** Returns the line of a column that only one schema has, or that has two types. */
export function columnLine({ name, before, after }: ChangedColumn): string {
  const column = `column ${safeText(name)}`;
  if (before === undefined) return `+ ${column}: ${safeText(after ?? '')}`;
  if (after === undefined) return `- ${column}: ${safeText(before)}`;
  return `${column}: ${safeText(before)} → ${safeText(after)}`;
}

/** Returns a difference as JSON, with exact values in the form of "lance-catalog sql --format jsonl". */
export function changeJson(change: RowChange, key: readonly string[] = []): string {
  const id = change.rowId === undefined ? '' : `"rowId":${change.rowId},`;
  if (change.kind === 'added') return `{"kind":"added",${id}"row":${wholeRow(change.after)}}`;
  if (change.kind === 'removed') return `{"kind":"removed",${id}"row":${wholeRow(change.before)}}`;
  const { before, after, columns } = change;
  const row = id || `"key":${cellsJson(after, key)},`;
  return `{"kind":"changed",${row}"before":${cellsJson(before, columns)},"after":${cellsJson(after, columns)}}`;
}

const wholeRow = (at: RowAt): string =>
  cellsJson(
    at,
    at.batch.schema.fields.map(({ name }) => name),
  );

const cellsJson = ({ batch, row }: RowAt, names: readonly string[]): string =>
  `{${names.map((name) => `${JSON.stringify(name)}:${readersFor(batch).json.get(name)?.(row) ?? 'null'}`).join(',')}}`;
