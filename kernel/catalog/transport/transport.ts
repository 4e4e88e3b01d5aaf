import type { Dispatcher } from 'undici';
import { CapabilityLog } from '#catalog/rest/capabilities.ts';
import { asPartOfWork } from '#processes/calls.ts';
import { CatalogError, during, isAbort, isCatalogError } from '#shared/errors.ts';
import { arrowStreamMime } from '#shared/mime.ts';
import { isRecord } from '#shared/records.ts';
import { type Address, addressOf, encodePart, identifierOf, type OtherPath, parseAddress } from './address.ts';
import { bodyOf, headerOf, readAll, readSome, uploadOf, wishesOf } from './bodies.ts';
import { openDispatcher, type Route } from './dispatcher.ts';
import { errorOfAnswer, errorOfConnection, type FailedAnswer, isOfContract, type Server } from './errors.ts';
import type { Wire, WireRequest, WireResponse } from './request.ts';
import { mayRepeat, withRetries } from './retry.ts';

/** Sends a request and reads its answer as JSON. */
type Ask = (address: Address, signal: AbortSignal | undefined) => Promise<unknown>;

type DialectName = 'specification' | 'service';

/**
 * How a server speaks: by the specification, or by the four endpoints of the service that there was before it. Found out
 * once, by the first call that differs between them and before its body is sent, which could not be sent again.
 */
class Dialect {
  readonly #ask: Ask;
  #known: DialectName | undefined;
  #search: Promise<DialectName | undefined> | undefined;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /**
   * The paths that this server has instead of the specification's, where they may differ for this request.
   * @throws CatalogError as the server says, where it could not be asked at all
   */
  async of(request: WireRequest): Promise<OtherPath | undefined> {
    if (servicePath(request, '') === undefined) return undefined;
    this.#known ??= await this.#find(request.signal);
    return this.#known === 'service' ? servicePath : undefined;
  }

  /** One search for all calls that wait for it; one that decided nothing is made again by the next call. */
  async #find(signal: AbortSignal | undefined): Promise<DialectName | undefined> {
    const search = this.#search;
    if (search) {
      try {
        return await search;
      } catch {
        // Somebody else's: it may have been cancelled.
        signal?.throwIfAborted();
        return this.#known ?? (await this.#find(signal));
      }
    }
    const own = this.#probe(signal);
    this.#search = own;
    try {
      return await own;
    } finally {
      this.#search = undefined;
    }
  }

  async #probe(signal: AbortSignal | undefined): Promise<DialectName | undefined> {
    const first = await this.#list('/v1/namespace/%24/table/list?limit=1', signal);
    if (first !== 'missing') return first === 'there' ? 'specification' : undefined;
    const second = await this.#list('/v1/tables', signal);
    // With neither of them it is the specification's operations that it lacks.
    if (second !== 'undecided') return second === 'there' ? 'service' : 'specification';
    return undefined;
  }

  async #list(path: string, signal: AbortSignal | undefined): Promise<'there' | 'missing' | 'undecided'> {
    try {
      const body = await this.#ask({ method: 'GET', path }, signal);
      return hasTables(body) ? 'there' : 'missing';
    } catch (error) {
      if (!isCatalogError(error)) throw error;
      if (error.status === 404 || error.status === 405) return 'missing';
      // A key that may not list may still create: the call itself will tell.
      if (error.status === 401 || error.status === 403) return 'undecided';
      // It knows the path, and what it says is of the contract.
      if (error.status === 400 || error.status === 406 || error.kind === 'Unsupported') return 'there';
      throw error;
    }
  }
}

/** Whether an answer is a list of tables. */
const hasTables = (body: unknown): boolean => isRecord(body) && Array.isArray(body['tables']);

/** Where the service has an operation instead, `undefined` where it is the specification's place. */
const servicePath: OtherPath = ({ operation, id = [] }, encoded) => {
  const [name, ...more] = id;
  // Of a namespace in it, the list of what it holds names the tables too.
  if (operation === 'ListTables') return name === undefined ? '/v1/tables' : `/v1/namespace/${encoded}/list`;
  const isInRoot = name !== undefined && more.length === 0;
  return operation === 'CreateTable' && isInRoot ? `/v1/tables/${encodePart(name)}` : undefined;
};

export type TransportOptions = {
  /** Origin and base path of the server. */
  uri: string;
  /** How the server is called in errors; the address when not given. */
  name?: string;
  /** Sent with every request, names in lower case. May hold secrets: never part of an error. */
  headers?: Record<string, string>;
  /** What to do about a key that is refused. */
  keyHint?: string | undefined;
  /** Texts that are taken out of what a server says. */
  secrets?: readonly string[];
  /** Between the components of an identifier. */
  delimiter?: string;
  /** How often a request that changes nothing is sent again; none when not given. */
  retries?: number;
  timeouts?: Route['timeouts'];
  /** The server is ours, so nobody needs to find out how it speaks. */
  isOurs?: boolean;
  /** What to say instead when the connection fails, for instance that the process has ended. */
  explain?: (error: unknown) => Promise<CatalogError | undefined>;
} & Pick<Route, 'socketPath' | 'endpoint' | 'ca' | 'proxy'>;

const maxJsonBytes = 64 * 1024 * 1024;
const jsonType = { 'content-type': 'application/json' };
const noTimeouts = { connect: 10_000, headers: 0, body: 0 };

/** Requests to one server: pooled connections, retries, errors of the contract as `CatalogError`. */
export class Transport implements Wire {
  readonly capabilities = new CapabilityLog();
  readonly #dispatcher: Dispatcher;
  readonly #origin: string;
  readonly #basePath: string;
  readonly #options: TransportOptions;
  readonly #timeouts: Route['timeouts'];
  readonly #dialect: Dialect | undefined;
  #isKnown = false;
  #closed = false;

  /** @throws CatalogError InvalidInput (13) for an address that is no http(s) URL; nothing is sent yet */
  constructor(options: TransportOptions) {
    const url = parseAddress('uri', options.uri);
    this.#options = options;
    this.#origin = url.origin;
    this.#basePath = url.pathname.replace(/\/+$/, '');
    this.#timeouts = options.timeouts ?? noTimeouts;
    this.#dispatcher = openDispatcher({ ...options, url, timeouts: this.#timeouts });
    this.#dialect = options.isOurs ? undefined : new Dialect((address, signal) => this.#probe(address, signal));
  }

  /** How the server is called in errors. */
  get name(): string {
    return this.#options.name ?? `The catalog server at ${this.#options.uri}`;
  }

  /**
   * Sends a request and reads the whole answer as JSON; `undefined` for an empty one.
   * @throws CatalogError as the server says, ServiceUnavailable (17) where it can't be reached, Internal (18) for what is
   * no JSON
   */
  json(request: WireRequest): Promise<unknown> {
    return this.#during(request, async (asked, address) => {
      const { body, contentType } = await this.#ask(asked, address);
      const bytes = await readAll(body, maxJsonBytes, this.name);
      const value = this.#parse(bytes, contentType);
      if (value !== undefined) this.#isKnown = true;
      this.capabilities.noteSuccess(request.operation);
      return value;
    });
  }

  /**
   * Sends a request; the body must be read to its end or destroyed. It rejects with ServiceUnavailable (17) where the
   * connection breaks before its end.
   * @throws CatalogError as `json`
   */
  send(request: WireRequest): Promise<WireResponse> {
    return this.#during(request, async (asked, address) => {
      const response = await this.#ask(asked, address);
      if (response.contentType.startsWith('application/vnd.apache.arrow')) {
        this.#isKnown = true;
        this.capabilities.noteSuccess(request.operation);
      }
      return response;
    });
  }

  unexpected(what: string, cause?: unknown): CatalogError {
    const hint = 'Check that the address is that of a catalog server.';
    return new CatalogError('Internal', `${this.name} gave ${what}.`, hint, cause === undefined ? {} : { cause });
  }

  /** Ends what is under way and lets go of the connections. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#dispatcher.destroy();
  }

  /** Runs the tries of one request; its errors say what it was about, and its outcome is remembered. */
  #during<T>(request: WireRequest, attempt: (asked: WireRequest, address: Address) => Promise<T>): Promise<T> {
    const { operation, id } = request;
    const context = { operation, identifier: identifierOf(operation, id) };
    const send = async (asked: WireRequest): Promise<T> => {
      asked.signal?.throwIfAborted();
      const other = await this.#dialect?.of(asked);
      const address = addressOf(asked, this.#options.delimiter, other);
      const retries = mayRepeat(operation) ? (this.#options.retries ?? 0) : 0;
      try {
        return await withRetries({ retries, signal: asked.signal }, () => attempt(asked, address));
      } catch (error) {
        if (isCatalogError(error)) this.capabilities.noteFailure(operation, error);
        throw error;
      }
    };
    return asPartOfWork(request.signal, (signal) => during(context, () => send({ ...request, signal })));
  }

  async #ask(request: WireRequest, { method, path }: Address): Promise<WireResponse> {
    const { json, arrow, accept, prefer, signal } = request;
    if (this.#closed) throw this.#closedHere();
    const upload = arrow === undefined ? undefined : uploadOf(arrow, signal);
    try {
      const response = await this.#dispatcher.request({
        origin: this.#origin,
        method,
        path: this.#basePath + path,
        headers: {
          ...this.#options.headers,
          ...(accept !== undefined && { accept }),
          ...(prefer !== undefined && { prefer }),
          ...(arrow !== undefined && { 'content-type': arrowStreamMime }),
          // The service wants it of its list too, which has no body.
          ...((json !== undefined || path.startsWith('/v1/tables')) && arrow === undefined && jsonType),
        },
        body: upload?.body ?? (json === undefined ? null : JSON.stringify(json)),
        headersTimeout: this.#timeouts.headers,
        bodyTimeout: this.#timeouts.body,
        ...(signal && { signal }),
      });
      const { statusCode, headers } = response;
      // Between the headers and the first read nobody listens, and a stream without a listener throws its error into
      // the process; readers get it all the same.
      response.body.on('error', () => undefined);
      const contentType = headerOf(headers, 'content-type') ?? '';
      if (statusCode < 200 || statusCode >= 300) {
        const text = await readSome(response.body);
        const retryAfter = headerOf(headers, 'retry-after');
        const location = headerOf(headers, 'location');
        throw await this.#refusal(request, { status: statusCode, contentType, retryAfter, location, text });
      }
      const applied = wishesOf(headerOf(headers, 'preference-applied'));
      const broken = (error: unknown): Promise<unknown> => this.#failure(error, signal, 'answering');
      return { contentType, applied, body: bodyOf(response.body, broken) };
    } catch (error) {
      throw await this.#failure(upload?.failure() ?? error, signal, 'asking');
    }
  }

  /** A list of tables for the dialect. */
  async #probe(address: Address, signal: AbortSignal | undefined): Promise<unknown> {
    const ask = async () => {
      const { body, contentType } = await this.#ask({ operation: 'ListTables', signal }, address);
      const found = this.#parse(await readAll(body, maxJsonBytes, this.name), contentType);
      if (hasTables(found)) this.#isKnown = true;
      return found;
    };
    return withRetries({ retries: this.#options.retries ?? 0, signal }, ask);
  }

  #parse(bytes: Uint8Array, contentType: string): unknown {
    if (bytes.length === 0) return undefined;
    try {
      return JSON.parse(new TextDecoder().decode(bytes));
    } catch (cause) {
      const what = contentType.startsWith('text/html') ? 'a web page' : 'an answer that is no JSON';
      throw this.unexpected(what, cause);
    }
  }

  async #refusal({ operation, id = [], signal }: WireRequest, answer: FailedAnswer): Promise<CatalogError> {
    if (isOfContract(answer)) this.#isKnown = true;
    const isMissing = answer.status === 404 || answer.status === 405;
    if (isMissing && !this.#isKnown && operation !== 'ListTables') {
      // Whether the operation is missing or the whole catalog, a list tells; what it fails of is no matter here.
      await this.#dialect?.of({ operation: 'ListTables', signal }).catch(() => undefined);
    }
    return errorOfAnswer(this.#server(), { operation, id }, answer);
  }

  #server(): Server {
    return {
      name: this.name,
      isKnown: this.#isKnown,
      isPlain: this.#origin.startsWith('http:') && this.#options.socketPath === undefined,
      endsWithVersion: this.#basePath.endsWith('/v1'),
      secrets: this.#options.secrets ?? [],
      keyHint: this.#options.keyHint,
    };
  }

  #closedHere(): CatalogError {
    return new CatalogError('InvalidInput', `${this.name} was closed here.`, 'Connect again.');
  }

  async #failure(error: unknown, signal: AbortSignal | undefined, phase: 'asking' | 'answering'): Promise<unknown> {
    // An abort may carry any reason; it is thrown as it is.
    if (signal?.aborted) return signal.reason;
    if (isCatalogError(error)) return error;
    if (this.#closed) return this.#closedHere();
    // Who destroys an answer gets this. While asking it is what a proxy's refusal looks like, and no cancellation.
    if (phase === 'answering' && isAbort(error)) return error;
    return (await this.#options.explain?.(error)) ?? errorOfConnection(this.#server(), error, phase);
  }
}
