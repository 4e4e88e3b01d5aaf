import type { IncomingMessage } from 'node:http';
import { isRecord } from '#shared/records.ts';
import { CatalogError } from '#shared/errors.ts';
import { openArrow, type ArrowBody } from './arrowBody.ts';

/** Limits of a request. */
export type Limits = {
  /** Maximum bytes of a JSON body; a query vector of a few thousand numbers is far below the default. */
  jsonBytes: number;
  /** Maximum bytes of an Arrow body, which is streamed and never held as a whole. */
  arrowBytes: number;
  /** Milliseconds a body may make no progress, in either direction; 0 for no limit. */
  idle: number;
};

export const defaultLimits: Limits = { jsonBytes: 4 * 1024 * 1024, arrowBytes: Number.POSITIVE_INFINITY, idle: 0 };

/** How many bytes of a body, and for how many milliseconds, are still read after the response was sent. */
export type DrainLimits = { bytes: number; time: number };
export const drainLimits: DrainLimits = { bytes: 64 * 1024 * 1024, time: 5000 };
/** Limits for unauthorized clients: a connection that they keep open must cost them more than the server. */
export const unauthenticatedDrainLimits: DrainLimits = { bytes: 64 * 1024, time: 500 };

/** The body of one request, read on demand, within limits. */
export class BodyReader {
  bytes = 0;
  readonly #request: IncomingMessage;
  readonly #limits: Limits;

  constructor(request: IncomingMessage, limits: Limits) {
    this.#request = request;
    this.#limits = limits;
  }

  get #type(): string | undefined {
    return this.#request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  }

  get isJson(): boolean {
    return this.#type === 'application/json';
  }

  /**
   * Returns the JSON object in the body; `{}` if the body is empty.
   * @throws CatalogError InvalidInput (13) for another content type, another shape, or too many bytes
   */
  async json(): Promise<Record<string, unknown>> {
    const refusal = (): CatalogError =>
      new CatalogError(
        'InvalidInput',
        `Expected JSON in the request body, got ${this.#type ?? 'no content type'}.`,
        'Send JSON with Content-Type: application/json.',
      );
    if (this.#type !== undefined && !this.isJson) throw refusal();
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.#read(this.#limits.jsonBytes, 'Send less data.')) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    // An empty body needs no content type: some clients omit optional objects that way.
    if (!this.isJson && text !== '') throw refusal();
    let value: unknown;
    try {
      value = text.trim() === '' ? {} : JSON.parse(text);
    } catch (cause) {
      throw new CatalogError('InvalidInput', 'The request body is not JSON.', 'Send a JSON object.', { cause });
    }
    if (!isRecord(value)) {
      throw new CatalogError('InvalidInput', 'The request body is not a JSON object.', 'Send an object, at least {}.');
    }
    return value;
  }

  /**
   * Opens the body as an Arrow IPC stream. Resolves as soon as its schema has arrived; a stream without rows is only
   * a schema.
   * @throws CatalogError InvalidInput (13) if the body is not an Arrow stream
   */
  arrow(): Promise<ArrowBody> {
    return openArrow(this.#read(this.#limits.arrowBytes, 'Send the rows in several requests.'));
  }

  /**
   * Discards the rest of the body, up to some time and bytes: a client that is cut off while sending may never see
   * the error response. After that many bytes, reading pauses until the time is up.
   */
  async discard({ bytes, time }: DrainLimits): Promise<void> {
    const request = this.#request;
    if (request.readableEnded || request.destroyed) return;
    await new Promise<void>((resolve) => {
      let left = bytes;
      const late = setTimeout(resolve, time);
      const done = () => {
        clearTimeout(late);
        resolve();
      };
      request.on('data', (chunk: Uint8Array) => {
        left -= chunk.length;
        if (left < 0) request.pause();
      });
      for (const event of ['end', 'close', 'error']) request.once(event, done);
      request.resume();
    });
  }

  async *#read(limit: number, hint: string): AsyncGenerator<Uint8Array> {
    // Not `for await` over the request: leaving that loop destroys the connection, and with it the response.
    const chunks: AsyncIterator<Uint8Array> = this.#request.iterator({ destroyOnReturn: false });
    let isWaiting = false;
    try {
      for (;;) {
        isWaiting = true;
        const next = await this.#inTime(chunks.next());
        isWaiting = false;
        if (next.done) return;
        this.bytes += next.value.length;
        if (this.bytes > limit) {
          throw new CatalogError('InvalidInput', `The request body has more than ${limit} bytes.`, hint, {
            status: 413,
          });
        }
        yield next.value;
      }
    } finally {
      // While a read is pending, `return()` could wait forever.
      if (!isWaiting) await chunks.return?.();
    }
  }

  /** @throws CatalogError InvalidInput (13) if no data arrives for `idle` ms */
  async #inTime<T>(chunk: Promise<T>): Promise<T> {
    const { idle } = this.#limits;
    if (idle === 0) return chunk;
    let late: NodeJS.Timeout | undefined;
    const silence = new Promise<never>((_, reject) => {
      late = setTimeout(() => {
        const what = `No data of the request body arrived for ${idle / 1000} seconds.`;
        reject(new CatalogError('InvalidInput', what, 'Send it again, without pauses.', { status: 408 }));
      }, idle);
    });
    try {
      return await Promise.race([chunk, silence]);
    } finally {
      clearTimeout(late);
    }
  }
}
