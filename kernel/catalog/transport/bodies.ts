import { Readable } from 'node:stream';
import { CatalogError, isCatalogError, messageOf } from '#shared/errors.ts';
import type { WireResponse } from './request.ts';

/** An error body is a sentence or two; of a longer one the rest is not looked at. */
const maxErrorBytes = 64 * 1024;

type Incoming = AsyncIterable<Uint8Array> & { destroy(error?: Error): unknown };

/** An answer's body as the contract hands it out; what goes wrong with it passes through `broken`. */
export function bodyOf(body: Incoming, broken: (error: unknown) => Promise<unknown>): WireResponse['body'] {
  return {
    destroy: () => void body.destroy(),
    // A generator between undici's stream and its reader: readers of Arrow destroy a Node stream at its end, which
    // undici reports as an unhandled error.
    async *[Symbol.asyncIterator]() {
      try {
        for await (const chunk of body) yield chunk;
      } catch (error) {
        throw await broken(error);
      }
    },
  };
}

/** @throws CatalogError Internal (18) for more than `limit` bytes */
export async function readAll(body: WireResponse['body'], limit: number, name: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of body) {
    total += chunk.length;
    if (total > limit) {
      throw new CatalogError('Internal', `${name} answered with over ${limit} bytes.`, 'Ask for less.');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The beginning of a body as text; what came when the rest does not. */
export async function readSome(body: Incoming): Promise<string> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      total += chunk.length;
      if (total >= maxErrorBytes) break;
    }
  } catch {
    // The status has been read, which says more than that its words broke off.
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxErrorBytes));
}

/** The value of a response header; the first of several. */
export function headerOf(headers: Record<string, string | string[] | undefined>, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The names in `Preference-Applied` (RFC 7240, section 3), in lower case and without their values. */
export const wishesOf = (value: string | undefined): string[] =>
  (value ?? '')
    .split(',')
    .map((wish) => (wish.split(/[=;]/)[0] ?? '').trim().toLowerCase())
    .filter((wish) => wish !== '');

/**
 * A body to send. One that comes piece by piece is read as fast as the server takes it, and no further once `signal` is
 * aborted, however long its next piece takes. `failure` is what it threw: the request that it breaks tells less.
 */
export function uploadOf(
  source: Uint8Array | AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): { body: Uint8Array | Readable; failure: () => unknown } {
  if (source instanceof Uint8Array) return { body: source, failure: () => undefined };
  let failed: unknown;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    let abort: (() => void) | undefined;
    const aborted = new Promise<never>((_, reject) => {
      abort = () => reject(signal?.reason);
      signal?.addEventListener('abort', abort, { once: true });
    });
    // Nobody waits for it between two pieces.
    aborted.catch(() => undefined);
    const pull = (source as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    let isDone = false;
    try {
      for (;;) {
        const next = await Promise.race([pull.next(), aborted]);
        if (next.done) {
          isDone = true;
          return;
        }
        if (next.value.length > 0) yield next.value;
      }
    } catch (error) {
      if (!signal?.aborted) failed = asCatalogError(error);
      isDone = !signal?.aborted;
      throw error;
    } finally {
      if (abort) signal?.removeEventListener('abort', abort);
      // Not waited for: a source that hangs would hang here as well.
      if (!isDone) void Promise.resolve(pull.return?.()).catch(() => undefined);
    }
  }
  return { body: Readable.from(pieces(), { objectMode: false }), failure: () => failed };
}

function asCatalogError(error: unknown): unknown {
  if (isCatalogError(error)) return error;
  const what = `The rows to send broke off: ${messageOf(error).replace(/\.$/, '')}.`;
  return new CatalogError('InvalidInput', what, 'Nothing was written; mend their source and try again.', {
    cause: error,
  });
}
