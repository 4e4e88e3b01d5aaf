import type { IncomingMessage } from 'node:http';
import { isRecord } from '#shared/records.ts';
import { CatalogError } from '#shared/errors.ts';
import { openArrow, type ArrowBody } from './arrowBody.ts';

/** What a request may cost. */
export type Limits = {
  /** Bytes of a JSON body: a query vector of a few thousand numbers is far below. */
  jsonBytes: number;
  /** Bytes of an Arrow body, which is taken as it comes and never held as a whole. */
  arrowBytes: number;
  /** Milliseconds that a body may not move, in either direction; 0 for any. */
  idle: number;
};

export const defaultLimits: Limits = { jsonBytes: 4 * 1024 * 1024, arrowBytes: Number.POSITIVE_INFINITY, idle: 0 };

/** How much of a body, and for how many milliseconds, is still read once the answer is out. */
export type Patience = { bytes: number; time: number };
export const patience: Patience = { bytes: 64 * 1024 * 1024, time: 5000 };
/** The same for who was not let in, whom a connection that is held open must cost more than the server. */
export const strangersPatience: Patience = { bytes: 64 * 1024, time: 500 };

/** The body of one request, read when it is asked for, within limits. */
export class BodyReader {
  /** How many bytes of it were read. */
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

  /** Whether it says of itself that it is JSON. */
  get isJson(): boolean {
    return this.#type === 'application/json';
  }

  /**
   * The JSON object in it; `{}` where there is none.
   * @throws CatalogError InvalidInput (13) for another content type, another shape, or too many bytes
   */
  async json(): Promise<Record<string, unknown>> {
    const refusal = (): CatalogError =>
      new CatalogError(
        'InvalidInput',
        `The request body is ${this.#type ?? 'of no type'}.`,
        'Send JSON with Content-Type: application/json.',
      );
    if (this.#type !== undefined && !this.isJson) throw refusal();
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.#read(this.#limits.jsonBytes, 'Send less.')) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    // Nothing at all has no type either: so some clients send what the specification has as an object that may be empty.
    if (!this.isJson && text !== '') throw refusal();
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
   * The rows in it, which is an Arrow IPC stream. Resolves as soon as its schema is there; a stream without rows is a
   * schema alone.
   * @throws CatalogError InvalidInput (13) for what is no such stream
   */
  arrow(): Promise<ArrowBody> {
    return openArrow(this.#read(this.#limits.arrowBytes, 'Send the rows in several requests.'));
  }

  /**
   * Reads and forgets what is left of it, for some time and up to some bytes: a sender who is cut off in the middle of a
   * body may never see the answer that says why. From one who sends more nothing is taken, for the rest of the time.
   */
  async discard({ bytes, time }: Patience): Promise<void> {
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
    // Not by `for await` over the request: leaving that destroys the connection, and with it the answer.
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
          throw new CatalogError('InvalidInput', `The request body is over ${limit} bytes.`, hint, { status: 413 });
        }
        yield next.value;
      }
    } finally {
      // Behind a chunk that does not come it would wait for ever.
      if (!isWaiting) await chunks.return?.();
    }
  }

  /** @throws CatalogError InvalidInput (13) where nothing comes for too long */
  async #inTime<T>(chunk: Promise<T>): Promise<T> {
    const { idle } = this.#limits;
    if (idle === 0) return chunk;
    let late: NodeJS.Timeout | undefined;
    const silence = new Promise<never>((_, reject) => {
      late = setTimeout(() => {
        const what = `Nothing of the request body came for ${idle / 1000} seconds.`;
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
