import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { RecordBatch } from '#arrow';
import { checkOneVersion, checkOptions } from '#catalog/arguments/options.ts';
import { checkCount, checkFlag, checkText, checkTexts } from '#catalog/arguments/tableArguments.ts';
import type { Catalog, ExportOptions, ExportResult, OpenTableOptions } from '#catalog/catalog.ts';
import type { Table } from '#catalog/table/table.ts';
import { readTableRows } from '#catalog/view/tableRows.ts';
import { checkOutputFile, writeOutputFile } from '#processes/outputFile.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { checkKnownPath } from '#shared/names.ts';
import { encodeExport, fileEncoding } from './exportEncoding.ts';
import type { ExportedRows } from './exportFormats.ts';

const optionNames = [
  'where',
  'orderBy',
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
  const encoding = fileEncoding(file, options);
  await checkOutputFile(file, 'result');
  if (options.overwrite !== true && (await stat(file).catch(() => undefined))?.isFile())
    throw new CatalogError(
      'InvalidInput',
      `The file "${file}" exists already.`,
      'Use another name, or pass overwrite: true to replace it.',
    );
  const { rows, version } = await readExport(catalog, path, options);
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
    ...(version !== undefined && { version }),
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
  const { where, orderBy, columns, limit, version, tag, branch, signal } = options;
  checkKnownPath(path);
  checkOneVersion('export', { version, tag, branch });
  checkFlag('export', 'escapeFormulas', options.escapeFormulas ?? false);
  checkFlag('export', 'overwrite', options.overwrite ?? false);
  if (limit !== undefined) checkCount('export', 'limit', limit);
  if (columns !== undefined) checkTexts('export', 'column', columns);
  const { table, version: current } = await openPinned(catalog, path, { version, tag, branch, signal });
  const sorted = orderBy === undefined ? undefined : table.query().orderBy(orderBy).spec.orderBy;
  const rows = await readTableRows(table, { where, orderBy: sorted, columns, limit }, { signal });
  return { rows, version: current };
}

/** Opens a table at a version or a tag, or at the version that is the newest now, so that later writes don't change it. */
export async function openPinned(
  catalog: Catalog,
  path: readonly string[],
  { version, tag, branch, signal }: Pick<OpenTableOptions, 'version' | 'tag' | 'branch' | 'signal'>,
): Promise<{ table: Table; version: number | undefined }> {
  const name = path.at(-1);
  if (name === undefined)
    throw new CatalogError('InvalidInput', 'The path of the table is empty.', "Pass for instance ['shop', 'orders'].");
  const namespacePath = path.slice(0, -1);
  const open = (at: { version?: number | undefined; tag?: string | undefined }): Promise<Table> =>
    catalog.openTable(name, { namespacePath, branch, signal, ...at });
  const newest = await open({ version, tag });
  const current = await versionOf(newest, signal);
  // A tag or a version can't change.
  const isPinned = version !== undefined || tag !== undefined || current === undefined;
  return { table: isPinned ? newest : await open({ version: current }), version: current };
}

/** Returns the version of a table; undefined if the server reports none. */
async function versionOf(table: Table, signal: AbortSignal | undefined): Promise<number | undefined> {
  try {
    return await table.version({ signal });
  } catch (error) {
    if (isCatalogError(error, 'Unsupported')) return undefined;
    throw error;
  }
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
