import type { GridFrame } from './frame.ts';
import type { CellRange } from './selection.ts';

/** The forms in which cells are copied. */
export type CopyForm = 'tsv' | 'csv' | 'json' | 'markdown';

/** The cells to copy, all with their exact values. */
export type CopiedCells = {
  readonly names: readonly string[];
  readonly rows: readonly (readonly CopiedCell[])[];
};

/** `text` of a null is empty. A number or boolean stays without quotes in JSON. */
export type CopiedCell = { readonly text: string; readonly kind: 'null' | 'number' | 'boolean' | 'text' };

/** Loaded cells by row and index of the column. */
type CellReader = Pick<GridFrame, 'cell' | 'exactText'>;

export type CopiedRange = Pick<CellRange, 'startRow' | 'endRow'> & { readonly columns: readonly number[] };

/** Returns cells of a grid as text, a single cell as it is; `undefined` if some are not loaded. */
export function copyCells(frame: GridFrame, range: CopiedRange, form: CopyForm): string | undefined {
  const { startRow, endRow, columns } = range;
  const rows: CopiedCell[][] = [];
  for (let row = startRow; row < endRow; row++) {
    const cells = columns.flatMap((column) => copiedCell(frame, row, column) ?? []);
    if (cells.length < columns.length) return undefined;
    rows.push(cells);
  }
  if (form === 'tsv' && rows.length === 1 && columns.length === 1) return rows[0]?.[0]?.text;
  return copyText({ names: columns.map((column) => frame.columns[column]!.name), rows }, form);
}

/** Returns a cell to copy; `undefined` if it is not loaded. */
export function copiedCell(frame: CellReader, row: number, column: number): CopiedCell | undefined {
  const kind = frame.cell(row, column)?.kind;
  const text = frame.exactText(row, column);
  if (text === undefined || kind === undefined) return undefined;
  return { text, kind: kind === 'null' || kind === 'number' || kind === 'boolean' ? kind : 'text' };
}

/** Returns cells as text. All forms but TSV begin with the names or contain them. */
export function copyText({ names, rows }: CopiedCells, form: CopyForm): string {
  const { start, separator, end, rowText } = copyFormat(names, form);
  return `${start}${rows.map(rowText).join(separator)}${end}`;
}

/** How rows become text: what comes before, between and after them. */
type CopyFormat = {
  readonly start: string;
  readonly separator: string;
  readonly end: string;
  readonly rowText: (row: readonly CopiedCell[]) => string;
};

export function copyFormat(names: readonly string[], form: CopyForm): CopyFormat {
  switch (form) {
    case 'tsv':
      return {
        start: '',
        separator: '\n',
        end: '',
        rowText: (row) => row.map(({ text }) => tsvField(text)).join('\t'),
      };
    case 'csv':
      return {
        start: `${names.map(csvField).join(',')}\r\n`,
        separator: '\r\n',
        end: '',
        rowText: (row) => row.map(({ text }) => csvField(text)).join(','),
      };
    case 'json':
      return { start: '[\n', separator: ',\n', end: '\n]', rowText: (row) => `  ${jsonObject(names, row)}` };
    case 'markdown':
      return {
        start: `${markdownLine(names)}\n${markdownLine(names.map(() => '---'))}\n`,
        separator: '\n',
        end: '',
        rowText: (row) => markdownLine(row.map(({ text }) => text)),
      };
  }
}

// Spreadsheets read a quoted field as one cell, also with tabs and line breaks inside.
const tsvField = (text: string): string => (/[\t\n\r"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const csvField = (text: string): string => (/[,\n\r"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const markdownField = (text: string): string =>
  text
    .replaceAll('\\', '\\\\')
    .replaceAll('|', '\\|')
    .replaceAll(/\r\n|[\r\n]/g, '<br>');

const markdownLine = (fields: readonly string[]): string => `| ${fields.map(markdownField).join(' | ')} |`;

// Written by hand, because an object would lose columns of equal names, and a number would lose digits.
const jsonObject = (names: readonly string[], row: readonly CopiedCell[]): string =>
  `{${row.map((cell, index) => `${JSON.stringify(names[index] ?? '')}: ${jsonValue(cell)}`).join(', ')}}`;

function jsonValue({ text, kind }: CopiedCell): string {
  if (kind === 'null') return 'null';
  const isLiteral = kind === 'boolean' || (kind === 'number' && /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text));
  return isLiteral ? text : JSON.stringify(text);
}
