import { maxRequestRows } from '#shared/mime.ts';
import { type CopiedCell, copiedCell, type CopiedRange, type CopyForm, copyFormat } from './copyText.ts';
import type { GridFrame } from './frame.ts';

/** Strings of more bytes are copied only after a question. */
export const askBytes = 10_000_000;
/** Maximum size of a copied string. A clipboard with more makes other programs fail, and V8 limits a string. */
export const maxCopyBytes = 250_000_000;

/** Rows of the first request, which tells how wide rows are, and the bytes of later requests. */
const probeRows = 8;
const requestBytes = 4 * 2 ** 20;

type CopyOptions = {
  readonly form: CopyForm;
  readonly signal: AbortSignal;
  readonly onProgress: (rows: number, total: number) => void;
  /** Asks whether the user wants a string of about as many bytes. */
  readonly confirm: (bytes: number) => Promise<boolean>;
};

/** The copied string, or why there is none: the user declined, or it would be too large. */
export type CopyResult =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'declined' }
  | { readonly kind: 'tooLarge'; readonly bytes: number };

/**
 * Reads a range of cells and returns them as text, with their exact values. The rows are not kept.
 * @throws Error if rows can't be read, and the reason of the signal
 */
export async function copyRange(
  frame: Pick<GridFrame, 'columns' | 'readRows'>,
  { startRow, endRow, columns }: CopiedRange,
  { form, signal, onProgress, confirm }: CopyOptions,
): Promise<CopyResult> {
  const names = columns.map((column) => frame.columns[column]!.name);
  const { start, separator, end, rowText } = copyFormat(names, form);
  const total = endRow - startRow;
  const isSingle = form === 'tsv' && total === 1 && columns.length === 1;
  const lineOf = (row: CopiedCell[]): string => (isSingle ? row[0]!.text : rowText(row));
  const parts: string[] = [];
  let chars = start.length + end.length;
  let isConfirmed = false;
  let step = Math.min(total, probeRows);
  for (let row = startRow; row < endRow;) {
    onProgress(row - startRow, total);
    const read = await frame.readRows(row, Math.min(endRow, row + step), columns, signal);
    signal.throwIfAborted();
    const lines: string[] = [];
    for (; row < read.end; row++) {
      lines.push(lineOf(columns.map((column): CopiedCell => copiedCell(read, row, column) ?? missing)));
      chars += lines.at(-1)!.length + separator.length;
    }
    parts.push(lines.join(separator));
    const done = row - startRow;
    const expected = Math.round((chars / done) * total);
    if (Math.max(chars, expected) > maxCopyBytes) return { kind: 'tooLarge', bytes: expected };
    if (!isConfirmed && expected > askBytes) {
      if (!(await confirm(expected))) return { kind: 'declined' };
      signal.throwIfAborted();
      isConfirmed = true;
    }
    const rowBytes = Math.max(1, read.bytes / step, chars / done);
    step = Math.max(1, Math.min(maxRequestRows, Math.floor(requestBytes / rowBytes)));
  }
  return { kind: 'text', text: `${start}${parts.join(separator)}${end}` };
}

const missing: CopiedCell = { text: '', kind: 'null' };
