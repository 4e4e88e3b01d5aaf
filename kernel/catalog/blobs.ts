import type { DirConfig } from '#shared/catalogConfig.ts';
import type { CatalogError } from '#shared/errors.ts';
import { blobsPath } from './contract.ts';
import { type EngineAddress, requestEngine } from './engineRequest.ts';

/** A column of blobs, or the path of a nested field of blobs, in one version of a table. */
export type BlobColumn = { readonly id: readonly string[]; readonly version: number; readonly column: string };

/** Rows [start, end) in the order of the table, or the ids of rows, as decimal strings because they have 64 bits. */
export type BlobRows = { readonly start: number; readonly end: number } | { readonly rowIds: readonly string[] };

/** Bytes [start, end) of the blob in one row, which has a position in the table or an id. */
export type BlobRange = { readonly start: number; readonly end: number } & (
  { readonly row: number } | { readonly rowId: string }
);

export type BlobRequest = BlobColumn & (BlobRows | BlobRange);

/** Reads the bytes of blobs, which queries leave out. The contract has no operation for it. */
export type BlobReader = {
  /** Returns the sizes and first bytes of the blobs in rows, as an Arrow stream of `blobHeadSchema`. */
  heads(column: BlobColumn, rows: BlobRows, signal: AbortSignal): Promise<Uint8Array>;
  /** Returns bytes [start, end) of the blob in a row, fewer at its end; none of a null. */
  range(column: BlobColumn, range: BlobRange, signal: AbortSignal): Promise<Uint8Array>;
};

/** Returns the reader of blobs in a directory or an object store, which an engine process reads. */
export function engineBlobs(
  address: EngineAddress,
  config: DirConfig,
  explain: ((cause: unknown) => Promise<CatalogError>) | undefined,
): BlobReader {
  const read = (body: BlobRequest, signal: AbortSignal): Promise<Uint8Array> =>
    requestEngine(address, { path: blobsPath, method: 'POST', config, body, signal, explain });
  return {
    heads: (column, rows, signal) => read({ ...column, ...rows }, signal),
    range: (column, range, signal) => read({ ...column, ...range }, signal),
  };
}
