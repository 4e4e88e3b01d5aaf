import type { ServerResponse } from 'node:http';
import type { CatalogError } from '#shared/errors.ts';
import { arrowStreamMime } from '#shared/mime.ts';
import type { BodyReader, Limits, Patience } from './httpBody.ts';

/** A reply that is sent piece by piece. */
export type Streamed = {
  headers: Record<string, string>;
  chunks: AsyncIterator<Uint8Array>;
};

/** Bytes of an answer that are handed over at once; how a reader gets on is seen between them. */
const pieceBytes = 64 * 1024;

/** The answer to one request. */
export class Reply {
  /** How many bytes of a body were sent. */
  bytes = 0;
  /** How it ended; `left` until it has. */
  end: 'sent' | 'left' | 'cut' = 'left';
  readonly #response: ServerResponse;
  readonly #limits: Limits;
  readonly #signal: AbortSignal;
  /** Wakes the one `write` that waits; listeners that came and went with each would pile up under a slow reader. */
  #wake: (() => void) | undefined;

  /** `signal` is aborted when the client goes away. */
  constructor(response: ServerResponse, limits: Limits, signal: AbortSignal) {
    this.#response = response;
    this.#limits = limits;
    this.#signal = signal;
    const wake = () => this.#wake?.();
    response.on('drain', wake);
    // A write to a client that has just gone; that it has gone is learnt by `signal`.
    response.on('error', () => undefined);
    signal.addEventListener('abort', wake);
  }

  json(status: number, value: unknown): Promise<void> {
    return this.#whole(status, 'application/json', Buffer.from(JSON.stringify(value)));
  }

  /** An Arrow IPC stream that is there as a whole. */
  arrow(stream: Uint8Array): Promise<void> {
    return this.#whole(200, arrowStreamMime, stream);
  }

  empty(): Promise<void> {
    return this.#finish(() => this.#response.writeHead(200, { 'content-length': 0 }).end());
  }

  /**
   * Sends chunks as fast as they are taken, and has the next one made meanwhile. The first comes before the headers: until
   * then a failure can be told.
   */
  async stream({ headers, chunks }: Streamed): Promise<void> {
    try {
      let chunk = await chunks.next();
      this.#response.writeHead(200, headers);
      while (!chunk.done) {
        const written = this.#write(chunk.value);
        const next = chunks.next();
        // Nobody asks for it when the client goes away first.
        next.catch(() => undefined);
        await written;
        chunk = await next;
      }
      await this.#finish(() => this.#response.end());
    } finally {
      // Whoever makes the chunks lets go of the scan, also when nobody takes them any more.
      await chunks.return?.();
    }
  }

  /** Answers with an error, or cuts the connection where an answer has begun. What is left of the body is waited for. */
  async refuse(
    error: CatalogError,
    body: BodyReader,
    { allow, patience }: { allow: readonly string[] | undefined; patience: Patience },
  ): Promise<void> {
    const response = this.#response;
    if (response.headersSent) {
      // Too late for an error body; a cut connection tells the reader that the rows are not complete.
      this.destroy('cut');
      return;
    }
    if (response.destroyed) return;
    const text = JSON.stringify(error);
    response.writeHead(error.status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      connection: 'close',
      ...(allow && { allow: allow.join(', ') }),
      ...(error.status === 401 && { 'www-authenticate': 'Bearer' }),
      ...((error.status === 503 || error.status === 429) && { 'retry-after': '1' }),
    });
    response.write(text);
    this.bytes += Buffer.byteLength(text);
    // The answer is whole by now; the connection stays for who is still sending. From a silent one nothing will come.
    if (error.status !== 408) await body.discard(patience);
    await this.#finish(() => response.end());
  }

  destroy(end: 'left' | 'cut' = 'left'): void {
    if (!this.#response.destroyed) this.end = end;
    this.#response.destroy();
  }

  async #whole(status: number, mime: string, bytes: Uint8Array): Promise<void> {
    this.#response.writeHead(status, { 'content-type': mime, 'content-length': bytes.length });
    let at = 0;
    for (; at + pieceBytes < bytes.length; at += pieceBytes) await this.#write(bytes.subarray(at, at + pieceBytes));
    await this.#finish(() => {
      this.bytes += bytes.length - at;
      this.#response.end(bytes.subarray(at));
    });
  }

  /** Resolves when everything was handed to the system, or nobody is there to take it. */
  async #finish(send: () => void): Promise<void> {
    const response = this.#response;
    // Gone already: nothing more will be heard of it.
    if (response.destroyed) return;
    const late = this.#cutWhenIdle();
    await new Promise<void>((resolve) => {
      response.once('finish', resolve);
      response.once('close', resolve);
      send();
    });
    clearTimeout(late);
    if (response.writableFinished) this.end = 'sent';
  }

  /** Writes a chunk and waits until it is taken: a slow reader holds up the scan instead of filling memory. */
  async #write(chunk: Uint8Array): Promise<void> {
    this.#signal.throwIfAborted();
    this.bytes += chunk.length;
    if (this.#response.write(chunk)) return;
    const late = this.#cutWhenIdle();
    await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = undefined;
    clearTimeout(late);
    this.#signal.throwIfAborted();
  }

  /** Cuts the connection to a reader that takes nothing for too long, unless the timer is cleared. */
  #cutWhenIdle(): NodeJS.Timeout | undefined {
    const { idle } = this.#limits;
    return idle > 0 ? setTimeout(() => this.destroy('cut'), idle) : undefined;
  }
}
