import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { CatalogError } from '#shared/errors.ts';
import { arrowStreamMime, decodeArrowOutput, pageRows } from '#shared/mime.ts';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import { asRecord } from '#shared/records.ts';
import type { TableSource } from '../../panels/tableSource.ts';
import { previewMime } from './kernelCode.ts';

/** One output of a kernel: a value in several MIME types. */
export type KernelCodeOutput = {
  items: readonly { mime: string; data: Uint8Array }[];
  metadata?: Record<string, unknown> | undefined;
};

const errorMime = 'application/vnd.code.notebook.error';

const text = (data: Uint8Array): string => new TextDecoder().decode(data);

/**
 * Converts the outputs of the preview code to a table for a panel.
 * @throws CatalogError InvalidInput (13) with the kernel's own error, or if the outputs contain no table
 */
export async function readKernelTable(name: string, outputs: AsyncIterable<KernelCodeOutput>): Promise<TableSource> {
  let head: { columns: ColumnInfo[]; total: number | null } | undefined;
  const pages: { bytes: Uint8Array; rows: number }[] = [];
  for await (const { items, metadata } of outputs) {
    for (const { mime, data } of items) {
      if (mime === errorMime) throw kernelError(name, data);
      if (mime === previewMime) head = readHead(text(data));
      if (mime === arrowStreamMime) pages.push({ bytes: decodeArrowOutput(data), rows: includedRows(metadata) });
    }
  }
  if (!head) {
    throw new CatalogError(
      'InvalidInput',
      `The kernel returned no table for "${name}".`,
      'Use a Python kernel with pyarrow, or the Lance TypeScript kernel.',
    );
  }
  return kernelSource(name, columnsIn(pages[0]?.bytes) ?? head.columns, head.total, pages);
}

/** Returns the columns with our type names, as for every other table. Each kernel has its own type names. */
function columnsIn(page: Uint8Array | undefined): ColumnInfo[] | undefined {
  if (!page) return undefined;
  try {
    return columnsOf(readArrow(page).schema);
  } catch {
    // Ignore an unreadable page here, because the panel reports it when it shows the page.
    return undefined;
  }
}

const rowsText = (count: number): string => count.toLocaleString('en-US');

function partText(shown: number, total: number | null): string {
  if (total === null) return `The first ${rowsText(shown)} rows`;
  return shown < total ? `The first ${rowsText(shown)} of ${rowsText(total)} rows` : 'All rows';
}

function kernelSource(
  name: string,
  columns: ColumnInfo[],
  total: number | null,
  pages: readonly { bytes: Uint8Array; rows: number }[],
): TableSource {
  // If the kernel had to cut a page, ignore later pages, because rows would be missing between them.
  const cut = pages.findIndex((page) => page.rows < pageRows);
  const shown = cut < 0 ? pages : pages.slice(0, cut + 1);
  const numRows = shown.reduce((sum, page) => sum + page.rows, 0);
  const key = `kernel ${name} ${Date.now()}`;
  return {
    title: name,
    open: () =>
      Promise.resolve({
        title: name,
        key,
        columns,
        numRows,
        version: null,
        note: `${partText(numRows, total)}, as they were in the kernel.`,
      }),
    rows: (start) => {
      const page = shown[Math.floor(start / pageRows)];
      if (page && start % pageRows === 0) return Promise.resolve(page.bytes);
      return Promise.reject(
        new CatalogError(
          'InvalidInput',
          `Row ${start} is not the first row of a page of "${name}".`,
          `Request ${pageRows} rows at a time.`,
        ),
      );
    },
  };
}

function kernelError(name: string, data: Uint8Array): CatalogError {
  let message = text(data);
  try {
    const error = asRecord(JSON.parse(message));
    const kind = typeof error['name'] === 'string' ? `${error['name']}: ` : '';
    if (typeof error['message'] === 'string') message = `${kind}${error['message']}`;
  } catch {
    // Use the message unchanged, because some kernels send plain text instead of JSON.
  }
  return new CatalogError('InvalidInput', `Can't show "${name}": ${message}.`, 'Choose a variable that holds a table.');
}

function readHead(json: string): { columns: ColumnInfo[]; total: number | null } | undefined {
  const { columns, total } = asRecord(JSON.parse(json));
  if (!Array.isArray(columns)) return undefined;
  const read = columns.map((column): ColumnInfo => {
    const { name, type, nullable } = asRecord(column);
    return { name: String(name), type: String(type), nullable: nullable !== false };
  });
  return { columns: read, total: typeof total === 'number' ? total : null };
}

// The Jupyter extension nests the metadata of the message one level deeper.
function includedRows(metadata: Record<string, unknown> | undefined): number {
  const own = asRecord(asRecord(metadata)[arrowStreamMime]);
  const nested = asRecord(asRecord(asRecord(metadata)['metadata'])[arrowStreamMime]);
  const rows = own['included_rows'] ?? nested['included_rows'];
  return typeof rows === 'number' ? rows : 0;
}
