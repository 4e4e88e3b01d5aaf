import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { RecordBatch } from '#arrow';
import { checkOneVersion, checkOptions } from '#catalog/arguments/options.ts';
import { checkCount, checkFlag, checkText, checkTexts } from '#catalog/arguments/tableArguments.ts';
import type { Catalog, ExportOptions, ExportResult } from '#catalog/catalog.ts';
import { openPinned } from '#catalog/table/openPinned.ts';
import { readTableRows } from '#catalog/view/tableRows.ts';
import { checkOutputFile, writeOutputFile } from '#processes/outputFile.ts';
import { CatalogError } from '#shared/errors.ts';
import { checkKnownPath } from '#shared/names.ts';
import { encodeExport, fileEncoding } from './exportEncoding.ts';
import type { ExportedRows } from './exportFormats.ts';

const optionNames = [
  'where',
  'orderBy',
  'nearest',
  'columns',
  'limit',
  'version',
  'tag',
  'branch',
  'format',
  'compression',
  'escapeFormulas',
  'overwrite',
  'onProgress',
  'signal',
] as const satisfies readonly (keyof ExportOptions)[];

/** Writes rows of a table to a file; see `Catalog.export`. */
export async function exportTable(
  catalog: Catalog,
  path: readonly string[],
  file: string,
  options: ExportOptions = {},
): Promise<ExportResult> {
  checkOptions('export', options, optionNames);
  checkText('export', 'file', file);
  let current: number | undefined;
  const written = await writeExport(file, options, async () => {
    const { rows, version } = await readExport(catalog, path, options);
    current = version;
    return rows;
  });
  return { ...written, ...(current !== undefined && { version: current }) };
}

/**
 * Writes rows to a file, which is complete or has the content that it had before.
 * @param read called once the format is known and the file can be written
 * @throws CatalogError InvalidInput (13)
 */
export async function writeExport(
  file: string,
  options: Pick<ExportOptions, 'format' | 'compression' | 'escapeFormulas' | 'overwrite' | 'onProgress' | 'signal'>,
  read: () => Promise<ExportedRows>,
): Promise<Omit<ExportResult, 'version'>> {
  const encoding = fileEncoding(file, options);
  await checkOutputFile(file, 'result');
  if (options.overwrite !== true && (await stat(file).catch(() => undefined))?.isFile())
    throw new CatalogError(
      'InvalidInput',
      `The file "${file}" exists already.`,
      'Use another name, or pass overwrite: true to replace it.',
    );
  const rows = await read();
  let [count, bytes] = [0, 0];
  const counted = countRows(rows, (batch) => {
    count += batch.numRows;
    options.onProgress?.({ rows: count });
  });
  try {
    await writeOutputFile(
      file,
      countBytes(encodeExport(counted, encoding, options), (length) => (bytes += length)),
    );
  } finally {
    // The rows are not read if the file can't be created.
    await rows.batches[Symbol.asyncIterator]().return?.();
  }
  return {
    file: resolve(file),
    format: encoding.format,
    rows: count,
    bytes,
  };
}

/**
 * Opens a table at its newest version, or at that of the options, and reads its rows.
 * @throws CatalogError TableNotFound (4), InvalidInput (13), ColumnNotFound (12)
 */
export async function readExport(
  catalog: Catalog,
  path: readonly string[],
  options: ExportOptions,
): Promise<{ rows: ExportedRows; version: number | undefined }> {
  const { where, orderBy, nearest, columns, limit, version, tag, branch, signal } = options;
  checkKnownPath(path);
  checkOneVersion('export', { version, tag, branch });
  checkFlag('export', 'escapeFormulas', options.escapeFormulas ?? false);
  checkFlag('export', 'overwrite', options.overwrite ?? false);
  if (limit !== undefined) checkCount('export', 'limit', limit);
  if (columns !== undefined) checkTexts('export', 'column', columns);
  const { table, version: current } = await openPinned(catalog, path, { version, tag, branch, signal });
  const sorted = orderBy === undefined ? undefined : table.query().orderBy(orderBy).spec.orderBy;
  const rows = await readTableRows(table, { where, orderBy: sorted, nearest, columns, limit }, { signal });
  return { rows, version: current };
}

const countRows = ({ schema, batches }: ExportedRows, count: (batch: RecordBatch) => void): ExportedRows => ({
  schema,
  batches: (async function* () {
    for await (const batch of batches) {
      count(batch);
      yield batch;
    }
  })(),
});

async function* countBytes(
  chunks: AsyncIterable<Uint8Array>,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    count(chunk.length);
    yield chunk;
  }
}
