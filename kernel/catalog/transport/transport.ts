import type { Dispatcher } from 'undici';
import { preference } from '#catalog/contract.ts';
import { CapabilityLog } from '#catalog/rest/capabilities.ts';
import { withCellSignal } from '#processes/calls.ts';
import { readBytes } from '#processes/readBytes.ts';
import { CatalogError, withErrorContext, isAbort, isCatalogError } from '#shared/errors.ts';
import { arrowStreamMime } from '#shared/mime.ts';
import { isRecord } from '#shared/records.ts';
import { type Address, addressOf, encodePart, identifierOf, type OtherPath, parseAddress } from './address.ts';
import { parsePreferences } from '#catalog/preferences.ts';
import { bodyOf, bodyWithin, decodedBody, headerOf, readSome, uploadOf } from './bodies.ts';
import { openDispatcher, type Route } from './dispatcher.ts';
import {
  errorFromResponse,
  errorFromConnection,
  type ErrorResponse,
  hasContractError,
  type Server,
  withMeantStatus,
} from './errors.ts';
import { redact } from './redact.ts';
import type { Wire, WireRequest, WireResponse } from './request.ts';
import { isRetryable, withRetries } from './retry.ts';

type Ask = (address: Address, signal: AbortSignal | undefined) => Promise<unknown>;

type DialectName = 'specification' | 'service';

/**
 * The dialect of a server: the specification, or the four endpoints of the older service. The first call whose path
 * differs between the dialects detects the dialect. The detection comes before the body of the call is sent, because a
 * streamed body can't be sent again.
 */
class Dialect {
  readonly #ask: Ask;
  #known: DialectName | undefined;
  #search: Promise<DialectName | undefined> | undefined;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /**
   * Returns the server's own paths if they may differ for this request; `undefined` for the paths of the specification.
   * @throws CatalogError of the server if the dialect can't be detected
   */
  async of(request: WireRequest): Promise<OtherPath | undefined> {
    if (servicePath(request, '') === undefined) return undefined;
    this.#known ??= await this.#find(request.signal);
    return this.#known === 'service' ? servicePath : undefined;
  }

  /** One search serves all waiting calls; after an undecided search the next call searches again. */
  async #find(signal: AbortSignal | undefined): Promise<DialectName | undefined> {
    const search = this.#search;
    if (search) {
      try {
        return await search;
      } catch {
        // The search was started by another call, and only that call's signal can cancel it. So this call's signal is
        // checked here.
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
    // A server with neither list follows the specification, but lacks this operation.
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
      // A key without the right to list may still create tables. So the call is sent, with the specification's path.
      if (error.status === 401 || error.status === 403) return 'undecided';
      // The server knows the path, because its error has the format of the contract.
      if (error.status === 400 || error.status === 406 || error.kind === 'Unsupported') return 'there';
      throw error;
    }
  }
}

const hasTables = (body: unknown): boolean => isRecord(body) && Array.isArray(body['tables']);

/** Returns the older service's path for an operation; `undefined` if it has the specification's path. */
const servicePath: OtherPath = ({ operation, id = [] }, encoded) => {
  const [name, ...more] = id;
  // The service lists tables and child namespaces together.
  if (operation === 'ListTables') return name === undefined ? '/v1/tables' : `/v1/namespace/${encoded}/list`;
  const isInRoot = name !== undefined && more.length === 0;
  return operation === 'CreateTable' && isInRoot ? `/v1/tables/${encodePart(name)}` : undefined;
};

/** `json` is the time for the whole body of a response that is not a stream of rows. */
type Timeouts = Route['timeouts'] & { json: number };

export type TransportOptions = {
  /** Origin and base path of the server. */
  uri: string;
  /** Name of the server in errors. Default: "The catalog server at" and the URL. */
  name?: string;
  /** Headers of every request, with names in lowercase. They may hold secrets, so they are never part of an error. */
  headers?: Record<string, string>;
  /** The next step shown if the key is rejected. */
  keyHint?: string | undefined;
  /** Strings that are removed from messages of the server. */
  secrets?: readonly string[];
  /** Separator of the components of an identifier. */
  delimiter?: string;
  /** How often a request that changes nothing is sent again. Default: 0. */
  retries?: number;
  timeouts?: Timeouts;
  /** Whether the server is this product's engine. Then its dialect is known. */
  isOurs?: boolean;
  /** Returns a better error if the connection fails, for instance that the process has ended. */
  explain?: (error: unknown) => Promise<CatalogError | undefined>;
} & Pick<Route, 'socketPath' | 'endpoint' | 'ca' | 'proxy'>;

/**
 * Requests no credentials for the storage. This client reads and writes through the server, and some servers need a call
 * of their cloud for each credential.
 */
function withoutCredentials(request: WireRequest): WireRequest {
  const { operation, json, prefer } = request;
  if (operation === 'CreateTable')
    return {
      ...request,
      prefer: prefer === undefined ? preference.noCredentials : `${prefer}, ${preference.noCredentials}`,
    };
  if ((operation !== 'DescribeTable' && operation !== 'DeclareTable') || !isRecord(json)) return request;
  return { ...request, json: { ...json, vend_credentials: false } };
}

const maxJsonBytes = 64 * 1024 * 1024;
/** Characters of an invalid response that are searched for secrets. A tenth of them is part of the error. */
const maxQuoted = 4000;
const jsonType = { 'content-type': 'application/json' };
const noTimeouts = { connect: 10_000, headers: 0, body: 0, json: 0 };

/** Requests to one server: pooled connections, retries, errors of the contract as `CatalogError`. */
export class Transport implements Wire {
  readonly capabilities = new CapabilityLog();
  readonly #dispatcher: Dispatcher;
  readonly #origin: string;
  readonly #basePath: string;
  readonly #options: TransportOptions;
  readonly #timeouts: Timeouts;
  readonly #dialect: Dialect | undefined;
  #isKnown = false;
  #closed = false;

  /** @throws CatalogError InvalidInput (13) if the address is not an http(s) URL; nothing is sent yet */
  constructor(options: TransportOptions) {
    const url = parseAddress('uri', options.uri);
    this.#options = options;
    this.#origin = url.origin;
    this.#basePath = url.pathname.replace(/\/+$/, '');
    this.#timeouts = options.timeouts ?? noTimeouts;
    this.#dispatcher = openDispatcher({ ...options, url, timeouts: this.#timeouts });
    this.#dialect = options.isOurs ? undefined : new Dialect((address, signal) => this.#probe(address, signal));
  }

  get delimiter(): string | undefined {
    return this.#options.delimiter;
  }

  get name(): string {
    return this.#options.name ?? `The catalog server at ${this.#options.uri}`;
  }

  /**
   * Sends a request and reads the whole response as JSON; `undefined` if it is empty.
   * @throws CatalogError of the server, ServiceUnavailable (17) if it can't be reached, Internal (18) if the response
   * is not JSON
   */
  json(request: WireRequest): Promise<unknown> {
    return this.#during(request, async (asked, address) => {
      const { body, contentType } = await this.#ask({ ...asked, isShort: true }, address);
      const value = await this.#readJson(body, contentType);
      if (value !== undefined) this.#isKnown = true;
      this.capabilities.noteSuccess(request.operation);
      return value;
    });
  }

  /**
   * Sends a request; the body must be read to its end or destroyed. The body throws ServiceUnavailable (17) if the
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
    const hint = 'Check that the address belongs to a catalog server.';
    return new CatalogError('Internal', `${this.name} sent ${what}.`, hint, cause === undefined ? {} : { cause });
  }

  /** Cancels running requests and closes the connections. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#dispatcher.destroy();
  }

  /** Runs the tries of one request, adds its object to errors, and records its outcome for the capabilities. */
  #during<T>(request: WireRequest, attempt: (asked: WireRequest, address: Address) => Promise<T>): Promise<T> {
    const { operation, id } = request;
    const context = { operation, identifier: identifierOf(operation, id) };
    const send = async (asked: WireRequest): Promise<T> => {
      asked.signal?.throwIfAborted();
      const other = await this.#dialect?.of(asked);
      const address = addressOf(asked, this.#options.delimiter, other);
      const retries = isRetryable(operation) ? (this.#options.retries ?? 0) : 0;
      try {
        return await withRetries({ retries, signal: asked.signal }, () => attempt(asked, address));
      } catch (error) {
        if (isCatalogError(error)) this.capabilities.noteFailure(operation, error);
        throw error;
      }
    };
    const own = withoutCredentials(request);
    return withCellSignal(request.signal, (signal) => withErrorContext(context, () => send({ ...own, signal })));
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
          // The older service requires the content type also for its list of tables, although that request has no body.
          ...((json !== undefined || path.startsWith('/v1/tables')) && arrow === undefined && jsonType),
        },
        body: upload?.body ?? (json === undefined ? null : JSON.stringify(json)),
        headersTimeout: this.#timeouts.headers,
        bodyTimeout: this.#timeouts.body,
        ...(signal && { signal }),
      });
      const { statusCode, headers } = response;
      // Between the headers and the first read the stream has no listener, and an error would end the process. A reader
      // still receives the error.
      response.body.on('error', () => undefined);
      const contentType = headerOf(headers, 'content-type')?.toLowerCase() ?? '';
      const isEmpty = statusCode === 204 || headerOf(headers, 'content-length') === '0';
      const encoding = isEmpty ? '' : (headerOf(headers, 'content-encoding') ?? '');
      const content = decodedBody(response.body, encoding, (what, cause) => this.#undecodable(what, cause));
      const broken = (error: unknown): Promise<unknown> => this.#failure(error, signal, 'answering');
      const body = bodyOf(content, broken);
      const isRefused = statusCode < 200 || statusCode >= 300;
      const timed =
        isRefused || request.isShort ? bodyWithin(body, this.#timeouts.json, () => this.#tooSlow(request)) : body;
      if (isRefused) {
        const text = await readSome(timed);
        const retryAfter = headerOf(headers, 'retry-after');
        const location = headerOf(headers, 'location');
        const answer = withMeantStatus({ status: statusCode, contentType, retryAfter, location, text });
        throw await this.#refusal(request, answer);
      }
      const applied = [...parsePreferences(headerOf(headers, 'preference-applied')).keys()];
      return { contentType, applied, body: timed };
    } catch (error) {
      throw await this.#failure(upload?.failure() ?? error, signal, 'asking');
    }
  }

  /** Requests a list of tables to detect the dialect. */
  async #probe(address: Address, signal: AbortSignal | undefined): Promise<unknown> {
    const ask = async () => {
      const { body, contentType } = await this.#ask({ operation: 'ListTables', isShort: true, signal }, address);
      const found = await this.#readJson(body, contentType);
      if (hasTables(found)) this.#isKnown = true;
      return found;
    };
    return withRetries({ retries: this.#options.retries ?? 0, signal }, ask);
  }

  async #readJson(body: WireResponse['body'], contentType: string): Promise<unknown> {
    const bytes = await readBytes(
      body,
      maxJsonBytes,
      () => new CatalogError('Internal', `${this.name} sent more than ${maxJsonBytes} bytes.`, 'Request less data.'),
    );
    if (bytes.length === 0) return undefined;
    const text = new TextDecoder().decode(bytes);
    try {
      return JSON.parse(text);
    } catch {
      const what = contentType.startsWith('text/html') ? 'a web page' : 'a response that is not JSON';
      // The parser's own message quotes a part of the response, which may be a part of a secret.
      const start = redact(text.slice(0, maxQuoted), this.#options.secrets ?? []);
      throw this.unexpected(what, new Error(`The response starts with: ${start.slice(0, maxQuoted / 10)}`));
    }
  }

  async #refusal({ operation, id = [], signal }: WireRequest, answer: ErrorResponse): Promise<CatalogError> {
    if (hasContractError(answer)) this.#isKnown = true;
    const isMissing = answer.status === 404 || answer.status === 405;
    if (isMissing && !this.#isKnown && operation !== 'ListTables') {
      // Another list shows whether only this operation is missing or the whole catalog. A failure of that list does not
      // matter.
      await this.#dialect?.of({ operation: 'ListTables', signal }).catch(() => undefined);
    }
    return errorFromResponse(this.#server(), { operation, id }, answer);
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

  #undecodable(what: string, cause: unknown): CatalogError {
    const hint =
      'Ask the administrator of the server, or of the proxy in front of it, for responses without compression.';
    return new CatalogError('Internal', `${this.name} sent ${what}.`, hint, { cause });
  }

  #tooSlow({ operation }: WireRequest): CatalogError {
    const what = `${this.name} did not finish its response to ${operation} within ${this.#timeouts.json / 1000} s.`;
    return new CatalogError('ServiceUnavailable', what, 'Try again, or raise timeouts.json.');
  }

  #closedHere(): CatalogError {
    return new CatalogError('InvalidInput', `${this.name} was closed by this client.`, 'Connect again.');
  }

  async #failure(error: unknown, signal: AbortSignal | undefined, phase: 'asking' | 'answering'): Promise<unknown> {
    // The reason of an abort can be any value; it is thrown unchanged.
    if (signal?.aborted) return signal.reason;
    if (isCatalogError(error)) return error;
    if (this.#closed) return this.#closedHere();
    // A destroyed response fails with this error. In the phase `asking` the same error means that the proxy refused,
    // not that the call was cancelled.
    if (phase === 'answering' && isAbort(error)) return error;
    return (await this.#options.explain?.(error)) ?? errorFromConnection(this.#server(), error, phase);
  }
}
