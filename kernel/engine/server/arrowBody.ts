import type { RecordBatch, Schema } from '#arrow';
import { CatalogError, isAbort, isCatalogError, messageOf } from '#shared/errors.ts';
import { readIpc } from '#catalog/arrow/ipcReader.ts';
import { IpcError } from '#shared/arrow/ipcError.ts';

/** The rows of a request, read as they arrive. */
export type ArrowBody = {
  schema: Schema;
  /**
   * The batches can be read once. Reading rejects if the body ends before its Arrow stream does, or if a later part is
   * not valid Arrow.
   */
  batches: AsyncIterable<RecordBatch>;
  readonly numRows: number;
};

/**
 * Opens an Arrow IPC stream and resolves as soon as its schema has arrived. A stream without rows is only a schema.
 * @throws CatalogError InvalidInput (13) if the bytes are not an Arrow stream
 */
export async function openArrow(bytes: AsyncIterable<Uint8Array>): Promise<ArrowBody> {
  try {
    const { schema, batches } = await readIpc(noFile(bytes));
    let numRows = 0;
    return {
      schema,
      get numRows() {
        return numRows;
      },
      batches: (async function* () {
        try {
          for await (const batch of batches) {
            numRows += batch.numRows;
            yield batch;
          }
        } catch (cause) {
          throw noArrow(cause);
        }
      })(),
    };
  } catch (cause) {
    throw noArrow(cause);
  }
}

const magic = 'ARROW1';

/** Refuses an Arrow *file* by its first bytes: Arrow's reader would accept a file and hold all of it in memory. */
async function* noFile(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of bytes) {
    if (head) {
      head = Buffer.concat([head, chunk]);
      if (head.length < magic.length) continue;
      if (head.toString('latin1', 0, magic.length) === magic) {
        const hint = 'Send the stream format, for instance tableToIPC(table, "stream").';
        throw new CatalogError('InvalidInput', 'The request body is an Arrow file, not an Arrow stream.', hint);
      }
      yield head;
      head = undefined;
    } else yield chunk;
  }
  if (head && head.length > 0) yield head;
}

function noArrow(cause: unknown): Error {
  if (isCatalogError(cause) || isAbort(cause)) return cause;
  if (cause instanceof IpcError && cause.problem === 'unsupported')
    return new CatalogError('Unsupported', `Can't read the request body: ${cause.message}`, cause.hint ?? '', {
      cause,
    });
  return new CatalogError(
    'InvalidInput',
    `The request body is not an Arrow stream (${messageOf(cause).replace(/\.$/, '')}).`,
    'Send record batches as an Arrow IPC stream.',
    { cause },
  );
}
