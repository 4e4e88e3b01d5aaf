import { Field, Schema, tableFromIPC, Uint64, Uint8, Utf8, vectorFromArray, type Data, type RecordBatch } from '#arrow';
import { isRecord } from '#shared/records.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { encodeRows, uint64Data, uint64sOf, uint8Data, uint8sOf } from './rowsFile.ts';

// The format is that of all runners: kernel/jobs/driver/CHECKPOINTS.md.

const metadataKey = 'lance-catalog.checkpoint';

/** What a chunk says of itself. */
export type ChunkHeader = {
  /** Who made it, where that is known: rows that failed are done for that job alone. */
  readonly jobId: string | undefined;
  readonly functionHash: string;
  readonly column: string;
  /** Of the job, as it was given; null for rows whose value is null. */
  readonly where: string | null;
  readonly readVersion: number;
  readonly fragment: number;
  /** It covers these places of the fragment, deleted rows counted. */
  readonly first: number;
  readonly rows: number;
};

/** Rows of a chunk that follow each other. */
export type ChunkPiece = {
  readonly addresses: BigUint64Array;
  readonly value: Data;
  readonly states: Uint8Array;
};

export type Chunk = ChunkHeader & { readonly pieces: readonly ChunkPiece[] };

/** A chunk as an Arrow IPC file. `errors` says why the function threw, a text or null a row. */
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

/** Rows of a chunk in pieces, of which each part has as many. */
export type ChunkRows = {
  readonly addresses: readonly BigUint64Array[];
  readonly values: readonly Data[];
  readonly errors: readonly (readonly (string | null)[])[];
  readonly states: readonly Uint8Array[];
};

/** Reads a chunk that anybody may have written; `undefined` for what is none, or one of another column type. */
export function decodeChunk(bytes: Uint8Array, field: Field): Chunk | undefined {
  try {
    const table = tableFromIPC(bytes);
    const header = headerOf(table.schema.metadata.get(metadataKey));
    const there = table.schema.fields.find(({ name }) => name === 'value');
    if (!header || !there || typeText(there.type) !== typeText(field.type)) return undefined;
    return { ...header, pieces: table.batches.map(pieceOf) };
  } catch {
    // Cut off by whatever ended its writer: it is computed again.
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
  // Not known here: who reads it compares the rows that it was computed from.
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

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
