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

/** Returns the format that the ending of a file's name stands for. */
export function formatOfFile(path: string): ExportFormat | undefined {
  const ending = /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase();
  return exportFormats.find((format) => format === (ending === 'ndjson' ? 'jsonl' : ending));
}
