import type { Schema } from '#arrow';
import { findDuplicate } from '#shared/arrow/columnPositions.ts';
import { CatalogError } from '#shared/errors.ts';
import { encodeFile } from './arrowFile.ts';
import type { ExportedRows, ExportFormat } from './exportFormats.ts';
import { encodeParquet } from './parquetFile.ts';
import { type CsvOptions, encodeCsv, encodeJson, encodeJsonLines } from './textRows.ts';

/**
 * Encodes rows as the bytes of a file. Memory does not grow with the number of rows, because each batch is encoded when
 * its bytes are read. A Parquet file is held back in groups of about 64 MB.
 *
 * A file is complete only if its bytes were read to their end without an error.
 * @throws CatalogError Unsupported (0) if the format does not have the type of a column, InvalidInput (13) if a value or
 * a name can't be in the format, the errors of `batches`, or the reason of `signal`
 */
export async function* exportRows(
  { schema, batches }: ExportedRows,
  format: ExportFormat,
  { signal, ...csv }: CsvOptions & { signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    if (format === 'json' || format === 'jsonl') checkNames(schema);
    for await (const bytes of encoders[format]({ schema, batches }, csv)) {
      signal?.throwIfAborted();
      yield bytes;
    }
  } finally {
    // The batches are not read if a column can't be in the format.
    await batches[Symbol.asyncIterator]().return?.();
  }
}

const encoders: Readonly<Record<ExportFormat, (rows: ExportedRows, csv: CsvOptions) => AsyncIterable<Uint8Array>>> = {
  csv: encodeCsv,
  json: encodeJson,
  jsonl: encodeJsonLines,
  arrow: encodeFile,
  parquet: encodeParquet,
};

function checkNames(schema: Schema): void {
  const duplicate = findDuplicate(schema);
  if (duplicate === undefined) return;
  throw new CatalogError(
    'InvalidInput',
    `The result has several columns with the name "${duplicate}", which objects of JSON can't hold.`,
    'Give each column its own name, such as a.id as id_of_a, or use another format.',
  );
}
