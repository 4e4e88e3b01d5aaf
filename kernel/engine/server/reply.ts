import type { ServerResponse } from 'node:http';
import { retryAfterOf } from '#catalog/transport/retry.ts';
import type { CatalogError } from '#shared/errors.ts';
import { arrowStreamMime } from '#shared/mime.ts';
import type { BodyReader, Limits, DrainLimits } from './httpBody.ts';

export type Streamed = {
  /** Default: 200. */
  status?: number;
  headers: Readonly<Record<string, string>>;
  chunks: AsyncIterator<Uint8Array>;
};

/** A response whose bytes are all known. */
export type Whole = {
  headers: Readonly<Record<string, string>>;
  bytes: Uint8Array;
};

/** Bytes of a response written at once; between two writes, the progress of the reader is checked. */
const pieceBytes = 64 * 1024;

/** How long the first chunks of a response wait for the rest of it, in milliseconds. */
const holdTime = 5;

/**
 * Reads a small response as a whole; then `next` is undefined. If a response is larger or slower, returns its first
 * chunks and the promise of the next one. The first chunk waits at most `holdTime`.
 */
async function holdSmall(
  chunks: Streamed['chunks'],
): Promise<{ held: Uint8Array[]; next: Promise<IteratorResult<Uint8Array>> | undefined }> {
  const held: Uint8Array[] = [];
  const first = await chunks.next();
  if (first.done) return { held, next: undefined };
  held.push(first.value);
  let bytes = first.value.length;
  let late: NodeJS.Timeout | undefined;
  const isLate = new Promise<undefined>((resolve) => {
    late = setTimeout(resolve, holdTime, undefined);
  });
  try {
    for (;;) {
      const next = chunks.next();
      // The caller awaits `next` only if the client is still there, so a rejection is handled here.
      next.catch(() => undefined);
      if (bytes >= pieceBytes) return { held, next };
      const chunk = await Promise.race([next, isLate]);
      if (chunk === undefined) return { held, next };
      if (chunk.done) return { held, next: undefined };
      held.push(chunk.value);
      bytes += chunk.value.length;
    }
  } finally {
    clearTimeout(late);
  }
}

export class Reply {
  bytes = 0;
  /** How the response ended; `left` until the response has ended. */
  end: 'sent' | 'left' | 'cut' = 'left';
  readonly #response: ServerResponse;
  readonly #limits: Limits;
  readonly #signal: AbortSignal;
  /**
   * Resolves the pending wait for an event of the response. A listener for each write is not used, because with a slow
   * reader the listeners would accumulate.
   */
  #wake: (() => void) | undefined;

  /** `signal` is aborted when the client disconnects. */
  constructor(response: ServerResponse, limits: Limits, signal: AbortSignal) {
    this.#response = response;
    this.#limits = limits;
    this.#signal = signal;
    const wake = () => this.#wake?.();
    response.on('drain', wake);
    response.on('finish', wake);
    response.on('close', wake);
    // The error of a write to a client that has just disconnected is ignored, because `signal` reports the disconnect.
    response.on('error', () => undefined);
  }

  /** @param applied preferences of the client that were applied */
  json(status: number, value: unknown, applied?: string): Promise<void> {
    const headers = {
      'content-type': 'application/json',
      ...(applied !== undefined && { 'preference-applied': applied }),
    };
    return this.#whole(status, headers, [Buffer.from(JSON.stringify(value))]);
  }

  /** Sends a complete Arrow IPC stream. */
  arrow(stream: Uint8Array): Promise<void> {
    return this.whole({ headers: { 'content-type': arrowStreamMime }, bytes: stream });
  }

  whole({ headers, bytes }: Whole): Promise<void> {
    return this.#whole(200, headers, [bytes]);
  }

  empty(): Promise<void> {
    return this.#finish(() => this.#response.writeHead(200, { 'content-length': 0 }).end());
  }

  /**
   * Sends chunks as fast as the client takes them, and produces the next chunk meanwhile. The headers are sent when the
   * first chunk is ready, because until then a failure can still become an error response. A response of a few
   * kilobytes is sent as a whole, because each write costs server and client as much as reading a row.
   */
  async stream({ status = 200, headers, chunks }: Streamed): Promise<void> {
    try {
      const { held, next } = await holdSmall(chunks);
      if (next === undefined) {
        await this.#whole(status, headers, held);
        return;
      }
      this.#response.writeHead(status, headers);
      for (const chunk of held) await this.#write(chunk);
      for (let chunk = await next; !chunk.done;) {
        const written = this.#write(chunk.value);
        const following = chunks.next();
        // If the client disconnects first, this promise is not awaited, so its rejection is handled here.
        following.catch(() => undefined);
        await written;
        chunk = await following;
      }
      await this.#finish(() => this.#response.end());
    } finally {
      // Lets the producer close its scan, even if the client stopped reading.
      await chunks.return?.();
    }
  }

  /**
   * Sends an error and discards the rest of the request body; after status 408 there is none. Cuts the connection
   * instead if a response has started.
   */
  async refuse(
    error: CatalogError,
    body: BodyReader,
    { allow, patience }: { allow: readonly string[] | undefined; patience: DrainLimits },
  ): Promise<void> {
    const response = this.#response;
    if (response.headersSent) {
      // Too late for an error body; a cut connection tells the client that the rows are incomplete.
      this.destroy('cut');
      return;
    }
    if (response.destroyed) return;
    const text = JSON.stringify(error);
    // Removes the header, because it is set for connections that stay open.
    response.removeHeader('keep-alive');
    response.writeHead(error.status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      connection: 'close',
      ...(allow && { allow: allow.join(', ') }),
      ...(error.status === 401 && { 'www-authenticate': 'Bearer' }),
      ...((error.status === 503 || error.status === 429) && {
        'retry-after': String(Math.ceil((retryAfterOf(error) ?? 1000) / 1000)),
      }),
    });
    response.write(text);
    this.bytes += Buffer.byteLength(text);
    // The response is complete, but the connection stays open for a client that is still sending. After 408 the client
    // sends nothing, so nothing is discarded.
    if (error.status !== 408) await body.discard(patience);
    await this.#finish(() => response.end());
  }

  destroy(end: 'left' | 'cut' = 'left'): void {
    if (!this.#response.destroyed) this.end = end;
    this.#response.destroy();
  }

  /** Sends pieces as one response. They are not joined, because the copies would keep the garbage collector busy. */
  async #whole(status: number, headers: Streamed['headers'], pieces: readonly Uint8Array[]): Promise<void> {
    const response = this.#response;
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    response.writeHead(status, { ...headers, 'content-length': length });
    if (length > 2 * pieceBytes)
      for (const piece of pieces) {
        for (let at = 0; at < piece.length; at += pieceBytes) await this.#write(piece.subarray(at, at + pieceBytes));
      }
    await this.#finish(() => {
      if (length > 2 * pieceBytes) return response.end();
      this.bytes += length;
      for (const piece of pieces.slice(0, -1)) response.write(piece);
      return response.end(pieces.at(-1));
    });
  }

  /** Resolves when all data was passed to the system, or the client has disconnected. */
  async #finish(send: () => unknown): Promise<void> {
    const response = this.#response;
    // If the client has already disconnected, no further event will occur.
    if (response.destroyed) return;
    const late = this.#cutWhenIdle();
    send();
    while (!response.writableFinished && !response.closed) await this.#nextEvent();
    clearTimeout(late);
    if (response.writableFinished) this.end = 'sent';
  }

  /**
   * Writes a chunk and waits until the client has taken it, so that a slow reader slows the scan down and does not fill
   * the memory.
   */
  async #write(chunk: Uint8Array): Promise<void> {
    this.#signal.throwIfAborted();
    this.bytes += chunk.length;
    if (this.#response.write(chunk)) return;
    const late = this.#cutWhenIdle();
    await this.#nextEvent();
    clearTimeout(late);
    this.#signal.throwIfAborted();
  }

  /** Resolves when the client has taken data, or all of it, or has disconnected. */
  async #nextEvent(): Promise<void> {
    await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = undefined;
  }

  /** Starts a timer that cuts the connection to a reader that takes nothing for `idle` ms. */
  #cutWhenIdle(): NodeJS.Timeout | undefined {
    const { idle } = this.#limits;
    return idle > 0 ? setTimeout(() => this.destroy('cut'), idle) : undefined;
  }
}
