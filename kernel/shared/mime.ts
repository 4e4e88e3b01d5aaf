/** A table in a notebook output: an Arrow IPC stream in base64 (raw bytes are destroyed when a notebook is saved). */
export const arrowStreamMime = 'application/vnd.apache.arrow.stream';

/** An Arrow IPC file, the response format of queries in the namespace specification. */
export const arrowFileMime = 'application/vnd.apache.arrow.file';

/**
 * Limits of a table in one notebook output. `requestedBytes` replaces `bytes` if the user has requested a number of
 * rows. `htmlRows` is the number of rows that the text form shows, and that the HTML form shows before folded rows.
 */
export const previewLimits = { rows: 1000, bytes: 256 * 1024, requestedBytes: 8 * 1024 * 1024, htmlRows: 20 } as const;

/** Rows of one page of the table panel. */
export const pageRows = 500;

/** Maximum number of rows that a panel may request at once. */
export const maxRequestRows = 4 * pageRows;

/** Data beside a table in a notebook output, under `metadata[arrowStreamMime]`. */
export type TableOutputMetadata = {
  /** Rows of the whole result, or `null` if not counted. */
  total_rows: number | null;
  /** Rows in the output. */
  included_rows: number;
  /** Maximum bytes of the output, if rows or cells are left out because of it. */
  max_bytes?: number;
  /** Cells that are replaced or left out, by the name of the column. In the stream, left-out cells are null. */
  omitted_cells?: Record<string, OmittedCells>;
  /** Identifies the output when the whole images are requested from the kernel that made it. */
  pictures?: string;
  /** The source of the rows, such as the path of a table, and known facts: `version 3 · no index`. */
  title?: string;
  facts?: string;
};

/** Large cells of a column, such as images, that an output leaves out or shows as thumbnails. */
export type OmittedCells = {
  /** The first row with such a cell. */
  from: number;
  /** Bytes of the cells from this row on; 0 for a cell that is in the output. */
  sizes: number[];
  /** MIME type of the first cell, if it is an image. */
  mime?: string;
  /** Whether the stream has thumbnails of the cells, as far as these fit. */
  thumbnails?: true;
  /** Whether there are fewer thumbnails because making them took too long. */
  late?: true;
};

/**
 * Returns the bytes of an Arrow stream in a notebook output. The data is base64, or raw bytes if it comes from a live
 * kernel.
 */
export function decodeArrowOutput(data: Uint8Array): Uint8Array {
  // A stream begins with the continuation marker FF FF FF FF, which is not valid base64.
  if (data[0] === 0xff && data[1] === 0xff && data[2] === 0xff && data[3] === 0xff) return data;
  return decodeBase64(new TextDecoder().decode(data).trim());
}

export function decodeBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
