import { Readable } from 'node:stream';
import { createGzip, createZstdCompress } from 'node:zlib';
import { checkChoice } from '#catalog/arguments/options.ts';
import { CatalogError } from '#shared/errors.ts';
import {
  compressionOfFile,
  type ExportCompression,
  exportCompressions,
  type ExportedRows,
  type ExportFormat,
  exportFormats,
  formatOfFile,
  isBinaryFormat,
} from './exportFormats.ts';
import { exportRows } from './exportRows.ts';
import type { CsvOptions } from './textRows.ts';

export type ExportEncoding = { readonly format: ExportFormat; readonly compression: ExportCompression | undefined };

/**
 * Returns the format and the compression of a file: those of the options, or those that the ending of its name stands
 * for.
 * @throws CatalogError InvalidInput (13) for an unknown ending, and for a compression of a format that has its own
 */
export function fileEncoding(
  file: string | undefined,
  {
    format: given,
    compression: asked,
  }: { format?: ExportFormat | undefined; compression?: ExportCompression | undefined },
): ExportEncoding {
  const format = checkChoice('export', 'format', given, exportFormats) ?? (file && formatOfFile(file));
  if (!format)
    throw new CatalogError(
      'InvalidInput',
      `The name "${file}" has no ending of a known format.`,
      `Use one of ${exportFormats.map((ending) => `.${ending}`).join(', ')}, or name the format.`,
    );
  const compression =
    checkChoice('export', 'compression', asked, exportCompressions) ?? (file && compressionOfFile(file)) ?? undefined;
  if (compression && isBinaryFormat(format))
    throw new CatalogError(
      'InvalidInput',
      `A file of the format ${format} can't be compressed with ${compression} as a whole.`,
      format === 'parquet'
        ? 'Leave the compression out: Parquet files are compressed inside.'
        : 'Use the format parquet, or leave the compression out.',
    );
  return { format, compression: compression || undefined };
}

/** Encodes rows as the bytes of a file. @throws CatalogError as `exportRows` */
export function encodeExport(
  rows: ExportedRows,
  { format, compression }: ExportEncoding,
  { escapeFormulas, signal }: CsvOptions & { signal?: AbortSignal | undefined },
): AsyncIterable<Uint8Array> {
  const bytes = exportRows(rows, format, { escapeFormulas, signal });
  return compression ? compressBytes(bytes, compression) : bytes;
}

const compressors = { gzip: createGzip, zstd: createZstdCompress } as const;

/** Compresses bytes as they are read. An error of `chunks` is thrown unchanged. */
async function* compressBytes(
  chunks: AsyncIterable<Uint8Array>,
  compression: ExportCompression,
): AsyncGenerator<Uint8Array, void, undefined> {
  const source = Readable.from(chunks, { objectMode: false });
  const compressor = compressors[compression]();
  source.once('error', (error) => compressor.destroy(error));
  try {
    for await (const bytes of source.pipe(compressor)) yield bytes as Buffer;
  } finally {
    // Ends the source, even if the reader of the compressed bytes has stopped.
    source.destroy();
    compressor.destroy();
  }
}
