import type { IncomingMessage } from 'node:http';
import { RecordBatchReader, Schema, Table as ArrowTable, type RecordBatch } from '#arrow';
import { isRecord } from '#shared/records.ts';
import { CatalogError, isAbort, isCatalogError, messageOf } from '#shared/errors.ts';

/** The largest JSON body: a query vector of a few thousand numbers is far below. */
const maxJsonBytes = 4 * 1024 * 1024;

/** The largest Arrow body. The engine takes rows in one piece, so they are held in memory. */
const maxArrowBytes = 1024 * 1024 * 1024;

async function* bounded(request: IncomingMessage, limit: number, hint: string): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of request) {
    const bytes: Uint8Array = chunk;
    total += bytes.length;
    if (total > limit) {
      throw new CatalogError('InvalidInput', `The request body is over ${limit} bytes.`, hint);
    }
    yield bytes;
  }
}

/**
 * The JSON object in a request.
 * @throws CatalogError InvalidInput (13) for another content type, another shape, or too many bytes
 */
export async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new CatalogError(
      'InvalidInput',
      `The request body is ${type ?? 'of no type'}.`,
      'Send JSON with Content-Type: application/json.',
    );
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of bounded(request, maxJsonBytes, 'Send less.')) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  let value: unknown;
  try {
    value = text.trim() === '' ? {} : JSON.parse(text);
  } catch (cause) {
    throw new CatalogError('InvalidInput', 'The request body is no JSON.', 'Send a JSON object.', { cause });
  }
  if (!isRecord(value)) {
    throw new CatalogError('InvalidInput', 'The request body is no JSON object.', 'Send an object, at least {}.');
  }
  return value;
}

/**
 * The rows in a request, which is an Arrow IPC stream; one without rows is a table without rows.
 * @throws CatalogError InvalidInput (13) for what is no such stream
 */
export async function readArrow(request: IncomingMessage): Promise<ArrowTable> {
  try {
    // A generator, not the request: the reader destroys a Node stream at its end, which surfaces as an unhandled error.
    const reader = await RecordBatchReader.from(
      bounded(request, maxArrowBytes, 'Create the table from a part of the rows and insert the others.'),
    );
    await reader.open({ autoDestroy: false });
    const batches: RecordBatch[] = [];
    for await (const batch of reader) batches.push(batch);
    if (!(reader.schema instanceof Schema)) throw new Error('there is no schema');
    // The reader gives one empty batch for a stream without any.
    return new ArrowTable(
      reader.schema,
      batches.filter((batch) => batch.numRows > 0),
    );
  } catch (cause) {
    if (isCatalogError(cause) || isAbort(cause)) throw cause;
    throw new CatalogError(
      'InvalidInput',
      `The request body is no Arrow stream (${messageOf(cause)}).`,
      'Send an Arrow IPC stream, not a file.',
      { cause },
    );
  }
}
