import { Pool } from 'undici';
import { CatalogError, catalogErrorCodes, isAbort, isCatalogError, kindOfCode, messageOf } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import { kindOfStatus } from './wire.ts';

export type TransportOptions = {
  /** Origin and base path of the server. */
  uri: string;
  /** How the server is called in errors; the address when not given. */
  name?: string;
  /** A Unix socket or named pipe to reach it by, instead of the network. */
  socketPath?: string;
  /** Sent with every request. May hold secrets: never part of an error. */
  headers?: Record<string, string>;
  /** What to say instead when the connection fails, for instance that the process has ended. */
  explain?: (error: unknown) => CatalogError | undefined;
};

export type WireRequest = {
  method: 'GET' | 'POST';
  path: string;
  query?: Record<string, string | number | undefined>;
  /** A JSON body, or the bytes of an Arrow stream. */
  json?: unknown;
  arrow?: Uint8Array;
  accept?: string;
  signal?: AbortSignal | undefined;
};

export type WireResponse = { contentType: string; body: AsyncIterable<Uint8Array> & { destroy(): void } };

/** An error body is a sentence or two; of a longer one the rest is not looked at. */
const maxErrorBytes = 64 * 1024;
const maxJsonBytes = 64 * 1024 * 1024;

/** Requests to one server: pooled connections, errors of the contract as `CatalogError`. */
export class Transport {
  readonly #pool: Pool;
  readonly #basePath: string;
  readonly #options: TransportOptions;
  #closed = false;

  /** @throws CatalogError InvalidInput (13) for an address that is no http(s) URL */
  constructor(options: TransportOptions) {
    const url = parseAddress(options.uri);
    this.#options = options;
    this.#basePath = url.pathname.replace(/\/+$/, '');
    this.#pool = new Pool(url.origin, {
      connections: 16,
      ...(options.socketPath !== undefined && {
        socketPath: options.socketPath,
        // A scan on the same machine may think for long before the first row; the caller's signal ends it.
        headersTimeout: 0,
        bodyTimeout: 0,
      }),
    });
  }

  /** Sends a request and reads the whole answer as JSON. */
  async json(request: WireRequest): Promise<unknown> {
    const { body } = await this.send(request);
    const bytes = await readAll(body, maxJsonBytes, this.name).catch((error: unknown) => {
      throw this.#failure(error, request.signal);
    });
    if (bytes.length === 0) return undefined;
    try {
      return JSON.parse(new TextDecoder().decode(bytes));
    } catch (cause) {
      throw this.unexpected('an answer that is no JSON', cause);
    }
  }

  /**
   * Sends a request; the body must be read to its end or destroyed.
   * @throws CatalogError as the server says, ServiceUnavailable (17) naming the server when it can't be reached
   */
  async send(request: WireRequest): Promise<WireResponse> {
    const { method, path, query, json, arrow, accept, signal } = request;
    signal?.throwIfAborted();
    if (this.#closed) throw new CatalogError('InvalidInput', `${this.name} was closed here.`, 'Connect again.');
    try {
      const response = await this.#pool.request({
        method,
        path: this.#basePath + path + searchOf(query),
        headers: {
          ...this.#options.headers,
          ...(accept !== undefined && { accept }),
          ...(json !== undefined && { 'content-type': 'application/json' }),
          ...(arrow !== undefined && { 'content-type': 'application/vnd.apache.arrow.stream' }),
        },
        body: arrow ?? (json === undefined ? null : JSON.stringify(json)),
        ...(signal && { signal }),
      });
      // Between the headers and the first read nobody listens, and a stream without a listener throws its error into
      // the process; readers get it all the same.
      response.body.on('error', () => undefined);
      if (response.statusCode >= 400) {
        const bytes = await readAll(response.body, maxErrorBytes, this.name).catch(() => new Uint8Array());
        throw this.#told(response.statusCode, bytes);
      }
      const type = response.headers['content-type'];
      return { contentType: typeof type === 'string' ? type : '', body: this.#body(response.body, signal) };
    } catch (error) {
      throw this.#failure(error, signal);
    }
  }

  /** How the server is called in errors. */
  get name(): string {
    return this.#options.name ?? `The catalog server at ${this.#options.uri}`;
  }

  unexpected(what: string, cause?: unknown): CatalogError {
    return new CatalogError(
      'Internal',
      `${this.name} gave ${what}.`,
      'Check that the address is that of a catalog server.',
      {
        cause,
      },
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#pool.destroy();
  }

  #body(
    body: AsyncIterable<Uint8Array> & { destroy(error?: Error): unknown },
    signal: AbortSignal | undefined,
  ): WireResponse['body'] {
    const failure = (error: unknown): unknown => this.#failure(error, signal);
    return {
      destroy: () => void body.destroy(),
      // A generator between undici's stream and its reader: readers of Arrow destroy a Node stream at its end, which undici
      // reports as an unhandled error.
      async *[Symbol.asyncIterator]() {
        try {
          for await (const chunk of body) yield chunk;
        } catch (error) {
          throw failure(error);
        }
      },
    };
  }

  #told(status: number, bytes: Uint8Array): CatalogError {
    const text = new TextDecoder().decode(bytes);
    const body = parseErrorBody(text);
    if (body) return new CatalogError(kindOfCode(body.code), body.error, body.detail);
    return new CatalogError(
      kindOfStatus(status),
      `${this.name} answered with status ${status}.`,
      'Check that the address is that of a catalog server.',
    );
  }

  #failure(error: unknown, signal: AbortSignal | undefined): unknown {
    // An abort may carry any reason; it is thrown as it is.
    if (signal?.aborted) return signal.reason;
    if (isCatalogError(error)) return error;
    if (isAbort(error)) return error;
    const explained = this.#options.explain?.(error);
    if (explained) return explained;
    const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : messageOf(error);
    return new CatalogError(
      'ServiceUnavailable',
      `${this.name} can't be reached (${code}).`,
      'Check the address and that the server runs.',
      {
        cause: error,
      },
    );
  }
}

function parseAddress(uri: string): URL {
  let url: URL | undefined;
  try {
    url = new URL(uri);
  } catch {
    // Told below.
  }
  if (url && (url.protocol === 'http:' || url.protocol === 'https:') && !url.username && !url.password) return url;
  // The address is not repeated when it may hold a password.
  const what = url && (url.username || url.password) ? 'An address with a password in it' : `"${uri}"`;
  throw new CatalogError(
    'InvalidInput',
    `${what} is no address of a catalog server.`,
    'Write for instance "https://catalog.example.com", and secrets as headers.',
  );
}

function searchOf(query: WireRequest['query']): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) if (value !== undefined) search.set(key, String(value));
  return search.size > 0 ? `?${search.toString()}` : '';
}

async function readAll(body: AsyncIterable<Uint8Array>, limit: number, name: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of body) {
    total += chunk.length;
    if (total > limit)
      throw new CatalogError('Internal', `${name} answered with over ${limit} bytes.`, 'Ask for less.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parseErrorBody(text: string): { error: string; code: number; detail: string } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { error, code, detail } = value;
  if (typeof error !== 'string' || typeof code !== 'number') return undefined;
  const known = Object.values(catalogErrorCodes).some((one) => one === code);
  return { error, code: known ? code : catalogErrorCodes.Internal, detail: typeof detail === 'string' ? detail : '' };
}
