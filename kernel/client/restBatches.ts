import type { RecordBatch } from '#arrow';
import { CatalogError, isAbort, isCatalogError, type ErrorContext } from '#shared/errors.ts';
import { IpcError } from './ipcMessages.ts';
import { readIpc } from './ipcReader.ts';
import type { BatchStream } from './table.ts';
import type { Wire, WireResponse } from './wireRequest.ts';

/**
 * The rows of an answer as they come. Its connection is let go when they are read, when reading fails and when the reader
 * stops early, which stops the server.
 * @throws CatalogError ServiceUnavailable (17) for an answer that ends too early, Internal (18) for one that is no Arrow
 *   data; later ones come out of the batches
 */
export async function readBatches(
  wire: Wire,
  { body }: WireResponse,
  context: ErrorContext,
  signal: AbortSignal | undefined,
): Promise<BatchStream> {
  try {
    const { schema, batches } = await readIpc(body);
    return { schema, batches: whileOpen(batches) };
  } catch (error) {
    body.destroy();
    throw readError(wire, error, context, signal);
  }

  async function* whileOpen(batches: AsyncIterable<RecordBatch>): AsyncGenerator<RecordBatch, void, undefined> {
    try {
      for await (const batch of batches) {
        signal?.throwIfAborted();
        yield batch;
      }
    } catch (error) {
      throw readError(wire, error, context, signal);
    } finally {
      body.destroy();
    }
  }
}

/** What is thrown for what went wrong while an answer was read. */
export function readError(wire: Wire, error: unknown, context: ErrorContext, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  if (isCatalogError(error)) return error.about(context);
  if (isAbort(error)) return error;
  if (error instanceof IpcError && error.problem === 'cut') {
    const hint = 'Try again; the log of the server may say why.';
    return new CatalogError('ServiceUnavailable', `${wire.name} ended its answer before the rows did.`, hint, {
      ...context,
      cause: error,
    });
  }
  return wire.unexpected('rows that are no Arrow data', error).about(context);
}
