import type { IncomingMessage } from 'node:http';
import { isRecord } from '#shared/records.ts';
import { CatalogError } from '#shared/errors.ts';
import { arrowStreamMime } from '#shared/mime.ts';
import { openArrow, type ArrowBody } from './arrowBody.ts';

/** Limits of a request. */
export type Limits = {
  /** Maximum bytes of a JSON body; a query vector of a few thousand numbers is far below the default. */
  jsonBytes: number;
  /** Maximum bytes of an Arrow body, which is streamed and never held as a whole. */
  arrowBytes: number;
  /** Milliseconds that a JSON body may take as a whole; 0 for no limit. */
  jsonTime: number;
  /** Milliseconds that the body of a request or a response may make no progress; 0 for no limit. */
  idle: number;
};

export const defaultLimits: Limits = {
  jsonBytes: 4 * 1024 * 1024,
  arrowBytes: Number.POSITIVE_INFINITY,
  jsonTime: 0,
  idle: 0,
};

/**
 * Minimum average rate of an Arrow body, in bytes a second, while the server waits for data. Checked for each period of
 * `idle`.
 */
const leastRate = 100;

/** Called when the reading of a JSON body starts and ends. An error that it throws refuses the request. */
export type ReadingObserver = {
  startReading: (request: IncomingMessage) => void;
  /** Bytes of the body have arrived, and are held until the request ends. */
  receive: (request: IncomingMessage, bytes: number) => void;
  endReading: (request: IncomingMessage) => void;
};

const lessData = 'Send less data.';

/** How many bytes of a body are still read after the response was sent, and for how many milliseconds. */
export type DrainLimits = { bytes: number; time: number };
export const drainLimits: DrainLimits = { bytes: 64 * 1024 * 1024, time: 5000 };
/** Limits for unauthorized clients: a connection that they keep open must cost the client more than the server. */
export const unauthenticatedDrainLimits: DrainLimits = { bytes: 64 * 1024, time: 500 };

/** The body of one request, read on demand, within limits. */
export class BodyReader {
  bytes = 0;
  readonly #request: IncomingMessage;
  readonly #limits: Limits;
  readonly #observer: ReadingObserver | undefined;
  #json: Promise<Record<string, unknown>> | undefined;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(request: IncomingMessage, limits: Limits, observer?: ReadingObserver) {
    this.#observer = observer;
    this.#request = request;
    this.#limits = limits;
  }

  get #type(): string | undefined {
    return this.#request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  }

  get isJson(): boolean {
    return this.#type === 'application/json';
  }

  get isArrow(): boolean {
    return this.#type === arrowStreamMime;
  }

  /**
   * Returns the JSON object in the body; `{}` if the body is empty. Reads the body once, also if called again.
   * @throws CatalogError InvalidInput (13) for another content type, another shape, or too many bytes
   */
  json(): Promise<Record<string, unknown>> {
    return (this.#json ??= this.#readJson());
  }

  /** Returns the bytes of the body that `json` has read. */
  jsonBytes(): Uint8Array {
    return this.#bytes;
  }

  async #readJson(): Promise<Record<string, unknown>> {
    const refusal = (): CatalogError =>
      new CatalogError(
        'InvalidInput',
        `Expected JSON in the request body, got ${this.#type ?? 'no content type'}.`,
        'Send JSON with Content-Type: application/json.',
      );
    if (this.#type !== undefined && !this.isJson) throw refusal();
    const hasArrived = this.#request.complete && !this.#request.destroyed;
    this.#bytes = hasArrived ? this.#arrivedBytes() : await this.#arrivingBytes();
    const text = this.#bytes.toString('utf8');
    // An empty body needs no content type, because some clients omit an optional object in this way.
    if (!this.isJson && text !== '') throw refusal();
    if (isTooDeep(text)) {
      const hint = `Nest lists and objects at most ${maxDepth} levels deep.`;
      throw new CatalogError('InvalidInput', 'The JSON of the request body is nested too deeply.', hint);
    }
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
   * Returns a body that has arrived as a whole, as a small one does together with the headers. Nothing is awaited, so
   * no time limit is needed.
   */
  #arrivedBytes(): Buffer {
    const chunk: unknown = this.#request.read();
    if (!(chunk instanceof Buffer)) return Buffer.alloc(0);
    this.#count(chunk, this.#limits.jsonBytes, lessData);
    this.#observer?.receive(this.#request, chunk.length);
    return chunk;
  }

  /**
   * Reads a body with listeners, because iterating over a request costs as much as the rest of a small request.
   * @throws CatalogError InvalidInput (13) if the body is too large, pauses for too long, or takes too long
   */
  async #arrivingBytes(): Promise<Buffer> {
    const request = this.#request;
    const { idle, jsonTime, jsonBytes } = this.#limits;
    const chunks: Uint8Array[] = [];
    this.#observer?.startReading(request);
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: unknown): void => {
        clearTimeout(silence);
        clearTimeout(late);
        request.off('data', take).off('end', settle).off('error', settle).off('close', leave);
        if (error === undefined) return resolve();
        // `discard` reads the rest.
        request.pause();
        reject(error);
      };
      const limitTime = (time: number, what: string): NodeJS.Timeout | undefined =>
        time > 0 ? setTimeout(() => settle(tooSlow(`${what} ${time / 1000} seconds`)), time) : undefined;
      const silence = limitTime(idle, 'paused for');
      const late = limitTime(jsonTime, 'took more than');
      const take = (chunk: Uint8Array): void => {
        silence?.refresh();
        try {
          this.#count(chunk, jsonBytes, lessData);
          this.#observer?.receive(request, chunk.length);
          chunks.push(chunk);
        } catch (error) {
          settle(error);
        }
      };
      const leave = (): void => settle(new Error('The client disconnected before the end of its request.'));
      if (request.destroyed) return leave();
      request.on('data', take).on('end', settle).on('error', settle).on('close', leave);
    });
    this.#observer?.endReading(request);
    return Buffer.concat(chunks);
  }

  /** @throws CatalogError InvalidInput (13) if the body has more than `limit` bytes */
  #count(chunk: Uint8Array, limit: number, hint: string): void {
    this.bytes += chunk.length;
    if (this.bytes <= limit) return;
    throw new CatalogError('InvalidInput', `The request body has more than ${limit} bytes.`, hint, { status: 413 });
  }

  /**
   * Opens the body as an Arrow IPC stream. Resolves as soon as its schema has arrived; a stream without rows is only
   * a schema.
   * @throws CatalogError InvalidInput (13) if the body is not an Arrow stream
   */
  arrow(): Promise<ArrowBody> {
    return openArrow(this.arrowBytes());
  }

  /** Returns the body of an Arrow IPC stream unread, within the limits. Can be read once, instead of `arrow`. */
  arrowBytes(): AsyncIterable<Uint8Array> {
    return this.#read(this.#limits.arrowBytes, 'Send the rows in several requests.');
  }

  /**
   * Discards the rest of the body, up to a time and a number of bytes: if a client is cut off while it sends, it may
   * never see the error response. After that many bytes, reading pauses until the time is up.
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
    // `for await` over the request can't be used: leaving that loop destroys the connection and with it the response.
    const chunks: AsyncIterator<Uint8Array> = this.#request.iterator({ destroyOnReturn: false });
    let isWaiting = false;
    // Only the time that the server waits for data counts, because the server itself may be slower than the client.
    let waited = 0;
    let arrived = 0;
    try {
      for (;;) {
        isWaiting = true;
        const since = performance.now();
        const next = await this.#inTime(chunks.next());
        waited += performance.now() - since;
        isWaiting = false;
        if (next.done) return;
        this.#count(next.value, limit, hint);
        arrived += next.value.length;
        if (this.#limits.idle > 0 && waited >= this.#limits.idle) {
          if (arrived < (leastRate * waited) / 1000) throw tooSlow(`arrived at less than ${leastRate} bytes a second`);
          waited = 0;
          arrived = 0;
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
      late = setTimeout(() => reject(tooSlow(`paused for ${idle / 1000} seconds`)), idle);
    });
    try {
      return await Promise.race([chunk, silence]);
    } finally {
      clearTimeout(late);
    }
  }
}

/** Maximum levels of lists and objects in a JSON body; requests of the specification need about ten. */
const maxDepth = 100;

/** Whether JSON is nested too deeply for code that follows it recursively. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      // Skips to the end of the string. The parser reports invalid JSON.
      for (at++; at < text.length && text.charCodeAt(at) !== quote; at++) if (text.charCodeAt(at) === backslash) at++;
    } else if (code === openBracket || code === openBrace) {
      if (++depth > maxDepth) return true;
    } else if (code === closeBracket || code === closeBrace) depth--;
  }
  return false;
}

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

const tooSlow = (what: string): CatalogError =>
  new CatalogError('InvalidInput', `The request body ${what}.`, 'Send it again, faster and without pauses.', {
    status: 408,
  });
