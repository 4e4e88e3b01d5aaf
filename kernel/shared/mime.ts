/** A table in a notebook output: an Arrow IPC stream as base64 text (raw bytes are destroyed when a notebook is saved). */
export const arrowStreamMime = 'application/vnd.apache.arrow.stream';

/** An Arrow IPC file, what the namespace specification answers a query with. */
export const arrowFileMime = 'application/vnd.apache.arrow.file';

/** What one notebook output may hold of a table. */
export const previewLimits = { rows: 1000, bytes: 256 * 1024, htmlRows: 20 } as const;

/** Rows of one page of the table panel. */
export const pageRows = 500;

/** What goes beside a table in a notebook output, under `metadata[arrowStreamMime]`. */
export type TableOutputMetadata = {
  /** Rows of the whole result, or `null` when nobody counted them. */
  total_rows: number | null;
  /** Rows that the output holds. */
  included_rows: number;
  /** What the rows are of, the path of a table for instance, and what is known of it: `version 3 · no index`. */
  title?: string;
  facts?: string;
};

/** The bytes of an Arrow stream out of a notebook output, where they are base64 text, or raw from a live kernel. */
export function decodeArrowOutput(data: Uint8Array): Uint8Array {
  // A stream begins with the continuation marker FF FF FF FF, which is no base64 text.
  if (data[0] === 0xff && data[1] === 0xff && data[2] === 0xff && data[3] === 0xff) return data;
  return decodeBase64(new TextDecoder().decode(data).trim());
}

export function decodeBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
