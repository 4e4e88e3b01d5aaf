import type { Schema, Table as ArrowTable } from '#arrow';
import { encodeStream } from './ipcWriter.ts';
import { batchesOf, isBatchSource } from './batchSource.ts';
import { toArrowTable } from './tableData.ts';
import type { TableSource } from './tableSource.ts';
import type { Wire, WireRequest } from './wireRequest.ts';

/** Up to here a table is sent in one piece, whose length the server knows beforehand. */
const wholeBytes = 8 * 1024 * 1024;

export type Encoded = {
  schema: Schema;
  body: Uint8Array | AsyncGenerator<Uint8Array, void, undefined>;
  /** Lets go of the source, also of one that nobody has begun to read. */
  close: () => Promise<void>;
};

/**
 * What a table is made of, as the body of a request: an Arrow IPC stream, in one piece where it is small, batch by batch
 * where it is large or where nobody knows how much will come.
 * @param call for errors: which call the data was given to
 * @throws CatalogError SchemaValidation (20), InvalidInput (13), as `batchesOf`; later errors come out of the body
 */
export async function encodeSource(call: string, source: TableSource, schema?: Schema): Promise<Encoded> {
  if (!isBatchSource(source)) {
    const table = toArrowTable(call, source, schema);
    const encoded = await streamed(call, table);
    if (table.batches.length > 1 && byteLength(table) > wholeBytes) return encoded;
    const chunks: Uint8Array[] = [];
    for await (const chunk of encoded.body) chunks.push(chunk);
    return { ...encoded, body: Buffer.concat(chunks) };
  }
  return streamed(call, source, schema);
}

async function streamed(call: string, source: TableSource, schema?: Schema) {
  const { schema: found, batches, close } = await batchesOf(call, source, schema);
  return { schema: found, body: encodeStream(found, batches), close };
}

const byteLength = (table: ArrowTable): number =>
  table.batches.reduce((total, batch) => total + batch.data.byteLength, 0);

/**
 * Sends a request whose body is Arrow data, and reads the answer as JSON. When the source of the data fails, the request
 * fails as the source did, and its body breaks off: the server never sees a clean end of half the rows.
 */
export async function sendArrow(
  wire: Wire,
  request: Omit<WireRequest, 'arrow' | 'json'>,
  { body, close }: Encoded,
): Promise<unknown> {
  if (body instanceof Uint8Array) return wire.json({ ...request, arrow: body });
  let failure: { error: unknown } | undefined;
  const arrow = (async function* () {
    try {
      yield* body;
    } catch (error) {
      failure = { error };
      throw error;
    }
  })();
  try {
    return await wire.json({ ...request, arrow });
  } catch (error) {
    if (request.signal?.aborted) throw request.signal.reason;
    // What the connection says of it is that it was cut.
    throw failure ? failure.error : error;
  } finally {
    // A refused request leaves the rest of its body unread, and the source of it open. Not waited for: it may be waiting.
    arrow
      .return()
      .then(close, close)
      .catch(() => undefined);
  }
}
