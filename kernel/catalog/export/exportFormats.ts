import type { RecordBatch, Schema } from '#arrow';

/**
 * Formats of files with rows:
 *
 * - `csv`: RFC 4180 in UTF-8 with a line of names; null is an empty field, an empty string is `""`
 * - `json`: one array with an object per row; `jsonl`: one object per line
 * - `arrow`: the file format of Arrow IPC, not the stream format
 * - `parquet`: compressed with Zstandard; the Arrow schema is kept in the file
 */
export const exportFormats = ['csv', 'json', 'jsonl', 'arrow', 'parquet'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** Whether files of a format are not text. */
export const isBinaryFormat = (format: ExportFormat): boolean => format === 'arrow' || format === 'parquet';

/** Rows of a query or a table, which can be read once. */
export type ExportedRows = { schema: Schema; batches: AsyncIterable<RecordBatch> };

/** How CSV and JSON are compressed as a whole. Arrow and Parquet files have compression inside. */
export const exportCompressions = ['gzip', 'zstd'] as const;
export type ExportCompression = (typeof exportCompressions)[number];

const endings: Readonly<Record<string, ExportCompression>> = { gz: 'gzip', zst: 'zstd' };

/** Returns the compression that the ending of a file's name stands for. */
export const compressionOfFile = (path: string): ExportCompression | undefined => endings[endingOf(path)];

/** Returns the format that the ending of a file's name stands for: `rows.csv`, `rows.csv.gz`. */
export function formatOfFile(path: string): ExportFormat | undefined {
  const ending = endingOf(compressionOfFile(path) ? path.slice(0, path.lastIndexOf('.')) : path);
  return exportFormats.find((format) => format === (ending === 'ndjson' ? 'jsonl' : ending));
}

const endingOf = (path: string): string => /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
