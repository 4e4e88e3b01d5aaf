import { Field, Schema, Uint64, Uint8, Utf8, vectorFromArray, type Data, type RecordBatch } from '#arrow';
import { isRecord } from '#shared/records.ts';
import { isCount } from '#shared/shape.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { encodeRows, uint64Data, uint64sOf, uint8Data, uint8sOf } from './rowsFile.ts';

// All runners share this format: kernel/jobs/driver/CHECKPOINTS.md.

const metadataKey = 'lance-catalog.checkpoint';

export type ChunkHeader = {
  /** Failed rows count as done only for this job. */
  readonly jobId: string | undefined;
  readonly functionHash: string;
  readonly column: string;
  /** The condition as given; null for the default, rows whose value is null. */
  readonly where: string | null;
  readonly readVersion: number;
  readonly fragment: number;
  /** Position of the first row of the span, counting deleted rows. */
  readonly first: number;
  readonly rows: number;
};

/** Rows of one record batch of a chunk. */
export type ChunkPiece = {
  readonly addresses: BigUint64Array;
  readonly value: Data;
  readonly states: Uint8Array;
};

export type Chunk = ChunkHeader & { readonly pieces: readonly ChunkPiece[] };

/** Encodes a chunk as an Arrow IPC file. */
export function encodeChunk(header: ChunkHeader, field: Field, rows: ChunkRows): Uint8Array {
  const schema = new Schema(
    [
      new Field('_rowaddr', new Uint64(), true),
      new Field('value', field.type, true),
      new Field('error', new Utf8(), true),
      new Field('state', new Uint8(), true),
    ],
    new Map([[metadataKey, JSON.stringify(headerJson(header))]]),
  );
  const parts = rows.addresses.map((addresses, index) => [
    uint64Data(addresses),
    rows.values[index]!,
    vectorFromArray(rows.errors[index]!, new Utf8()).data[0]!,
    uint8Data(rows.states[index]!),
  ]);
  return encodeRows(schema, parts);
}

/** Rows of a chunk in pieces; corresponding pieces have the same length. */
export type ChunkRows = {
  readonly addresses: readonly BigUint64Array[];
  readonly values: readonly Data[];
  readonly errors: readonly (readonly (string | null)[])[];
  readonly states: readonly Uint8Array[];
};

/**
 * Decodes a chunk, which any user of the table may have written. Returns undefined if the chunk is invalid or has
 * another column type.
 */
export function decodeChunk(bytes: Uint8Array, field: Field): Chunk | undefined {
  try {
    const table = readArrow(bytes);
    const header = headerOf(table.schema.metadata.get(metadataKey));
    const there = table.schema.fields.find(({ name }) => name === 'value');
    if (!header || !there || typeText(there.type) !== typeText(field.type)) return undefined;
    return { ...header, pieces: table.batches.map(pieceOf) };
  } catch {
    // The file is invalid, for instance truncated by a crash of its writer. Its rows are computed again.
    return undefined;
  }
}

function pieceOf(batch: RecordBatch): ChunkPiece {
  const value = batch.getChild('value')?.data[0];
  if (!value) throw new Error('no chunk');
  return { addresses: uint64sOf(batch, '_rowaddr'), value, states: uint8sOf(batch, 'state') };
}

const headerJson = (header: ChunkHeader) => ({
  version: 1,
  job_id: header.jobId,
  function_hash: header.functionHash,
  column: header.column,
  scope: header.where,
  read_version: header.readVersion,
  fragment: header.fragment,
  first: header.first,
  rows: header.rows,
  partial: false,
  // The data files of the fragment are left out, because readers compare the inputs of the rows instead.
  files: null,
});

function headerOf(text: string | undefined): ChunkHeader | undefined {
  const json: unknown = JSON.parse(text ?? 'null');
  if (!isRecord(json) || json['version'] !== 1) return undefined;
  const { function_hash: functionHash, column, scope: where, read_version: readVersion, fragment, first, rows } = json;
  if (typeof functionHash !== 'string' || typeof column !== 'string') return undefined;
  if (where !== null && typeof where !== 'string') return undefined;
  if (!isCount(readVersion) || !isCount(fragment) || !isCount(first) || !isCount(rows)) return undefined;
  const { job_id: madeBy } = json;
  const jobId = madeBy === undefined || typeof madeBy === 'string' ? madeBy : '';
  return { jobId, functionHash, column, where, readVersion, fragment, first, rows };
}
