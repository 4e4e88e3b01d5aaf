import { pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { CatalogError, isCatalogError, messageOf } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import type { WireResponse } from './request.ts';

/** Maximum bytes that are read of an error body. Usually the body is a sentence or two. */
const maxErrorBytes = 64 * 1024;

type Incoming = AsyncIterable<Uint8Array> & { destroy(error?: Error): unknown };

/** The encodings that are decoded, although no request asks for one: some proxies compress all responses. */
const decoders = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/**
 * A decompressed response of more than `maxExpanded` bytes may be at most `maxExpansion` times as large as the
 * compressed bytes.
 */
const maxExpanded = 256 * 1024 * 1024;
const maxExpansion = 100;

/**
 * Returns a body without its `content-encoding`.
 * @param refused returns the error for a body that can't be decoded
 * @throws the error of `refused` for an encoding that is not supported; the body throws it for invalid data
 */
export function decodedBody(
  body: Readable,
  encoding: string,
  refused: (what: string, cause?: unknown) => CatalogError,
): Incoming {
  const name = encoding.trim().toLowerCase();
  if (name === '' || name === 'identity') return body;
  if (!isDecoded(name)) {
    body.destroy();
    throw refused(`a response in the encoding "${name.slice(0, 40)}", which is not supported`);
  }
  const decoder = decoders[name]();
  // The reader gets the errors. Without this listener, an error after the end of the pipeline would end the process.
  decoder.on('error', () => undefined);
  pipeline(body, decoder, () => undefined);
  return {
    destroy: (error?: Error) => decoder.destroy(error),
    async *[Symbol.asyncIterator]() {
      let size = 0;
      try {
        for await (const chunk of decoder as AsyncIterable<Uint8Array>) {
          size += chunk.length;
          if (size > maxExpanded && size > maxExpansion * decoder.bytesWritten)
            throw refused(
              `a response in ${name} that becomes more than ${maxExpansion} times as large when it is decompressed`,
            );
          yield chunk;
        }
      } catch (error) {
        throw isDecodingError(error) ? refused(`a response that is not valid ${name}`, error) : error;
      }
    },
  };
}

const isDecoded = (name: string): name is keyof typeof decoders => Object.hasOwn(decoders, name);

/** Whether an error is from a decoder. Errors of decoders have codes such as `Z_DATA_ERROR`. */
const isDecodingError = (error: unknown): boolean =>
  isRecord(error) && typeof error['code'] === 'string' && /^(?:Z_|ERR__|ZSTD_)/.test(error['code']);

/**
 * Returns a body that ends with an error if it is not read to its end within a time. Otherwise a server that sends a
 * few bytes at a time could keep a request open forever.
 * @param ms maximum time from the first read; 0 for no limit
 */
export function bodyWithin(body: WireResponse['body'], ms: number, tooSlow: () => CatalogError): WireResponse['body'] {
  if (ms === 0) return body;
  return {
    destroy: () => body.destroy(),
    async *[Symbol.asyncIterator]() {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        body.destroy();
      }, ms);
      try {
        yield* body;
      } catch (error) {
        throw isLate ? tooSlow() : error;
      } finally {
        clearTimeout(timer);
      }
      if (isLate) throw tooSlow();
    },
  };
}

/** Wraps a response body for callers; `broken` converts its errors. */
export function bodyOf(body: Incoming, broken: (error: unknown) => Promise<unknown>): WireResponse['body'] {
  return {
    destroy: () => void body.destroy(),
    // A generator between undici's stream and its reader is needed, because Arrow's readers destroy a Node stream at
    // its end, and undici reports this as an unhandled error.
    async *[Symbol.asyncIterator]() {
      try {
        for await (const chunk of body) yield chunk;
      } catch (error) {
        throw await broken(error);
      }
    },
  };
}

/** Reads the beginning of a body as a string; if the body breaks off, returns the part received so far. */
export async function readSome(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      total += chunk.length;
      if (total >= maxErrorBytes) break;
    }
  } catch {
    // The error is dropped, because the status is known and matters more than the rest of the message.
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxErrorBytes));
}

/** The value of a response header; the first if there are several. */
export function headerOf(headers: Record<string, string | string[] | undefined>, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * Prepares a body to send. A streamed body is read as fast as the server takes it; once `signal` is aborted, the body
 * is not read further, even if the next chunk is pending. `failure` returns the error of the source, because the error
 * of the request only says that the body broke.
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
    // Between two chunks no code awaits this promise, so its rejection must be handled here.
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
      // The return is not awaited, because a source that hangs would make this code hang too.
      if (!isDone) void Promise.resolve(pull.return?.()).catch(() => undefined);
    }
  }
  return { body: Readable.from(pieces(), { objectMode: false }), failure: () => failed };
}

function asCatalogError(error: unknown): unknown {
  if (isCatalogError(error)) return error;
  const what = `Can't read the rows to send: ${messageOf(error).replace(/\.$/, '')}.`;
  return new CatalogError('InvalidInput', what, 'Nothing was written. Fix the source of the rows and try again.', {
    cause: error,
  });
}
