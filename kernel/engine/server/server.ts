import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  CatalogError,
  withErrorContext,
  isAbort,
  isCatalogError,
  messageOf,
  type CatalogErrorCode,
} from '#shared/errors.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import { operations, readingOperations, type Operation } from '#catalog/contract.ts';
import { parsePreferences } from '#catalog/preferences.ts';
import { refusalOf } from '#engine/dir/dirCapabilities.ts';
import type { DirCatalog } from '#engine/dir/dirCatalog.ts';
import type { DirTable } from '#engine/dir/dirTable.ts';
import {
  BodyReader,
  defaultLimits,
  drainLimits,
  type Limits,
  type ReadingObserver,
  unauthenticatedDrainLimits,
} from './httpBody.ts';
import { type Dialect, dialectError, dialectResponse, remoteHeaders } from './remoteDialect.ts';
import { Reply, type Streamed } from './reply.ts';
import { matchRoute, type RouteMatch } from './routes.ts';
import { callOf, type VendCredentials, type VendingRequest } from './routeTypes.ts';
import { rowsOf } from './rows.ts';
import { type RequestKind, RunningRequests } from './runningRequests.ts';
import { ServedCatalog } from './servedCatalog.ts';
import { jobOperations, type ServerJobs } from './serverJobs.ts';

/** The operation of a request and its identifier, known before the body is read. */
export type RequestInfo = {
  /** Undefined if the URL is not part of the contract. */
  operation: Operation | undefined;
  /** The components of the identifier in the URL. */
  id: readonly string[];
};

/** The outcome of a request, for logs and metrics. Contains names of tables, but none of their data. */
export type RequestLog = {
  method: string;
  operation: Operation | undefined;
  /** The identifier for display; undefined if the URL names no object. */
  identifier: string | undefined;
  status: number;
  code: CatalogErrorCode | undefined;
  milliseconds: number;
  /** Bytes of the request and response bodies. */
  bytesReceived: number;
  bytesSent: number;
  /**
   * `left`: the client disconnected before the end; `cut`: the response failed after its first bytes, and the
   * connection was cut.
   */
  end: 'sent' | 'left' | 'cut';
};

type ContractOptions = {
  /**
   * Refuses unauthorized requests by throwing a `CatalogError`; runs before anything else and reads no body.
   * @throws CatalogError Unauthenticated (16), PermissionDenied (15), ServiceUnavailable (17) if the server is
   * overloaded
   */
  authorize: (request: IncomingMessage, asked: RequestInfo, response: ServerResponse) => void | Promise<void>;
  /** Bounds the requests whose JSON body is read. */
  reading?: ReadingObserver | undefined;
  /** Returns the catalog of a request. The caller owns it and must keep it open while requests run. */
  catalogOf: (request: IncomingMessage, asked: RequestInfo) => Promise<DirCatalog>;
  /** Returns the namespace that is the root for a request (default: the root of the catalog). */
  namespaceOf?: ((request: IncomingMessage) => NamespacePath) | undefined;
  /** Runs jobs; without it their operations are refused. */
  jobs?: ServerJobs | undefined;
  /** Vends credentials for a table to the caller of a request; without it no response has any. */
  vendCredentials?:
    ((request: IncomingMessage, table: VendingRequest, signal: AbortSignal) => ReturnType<VendCredentials>) | undefined;
  /**
   * Runs a request in another process, because it could end this one. Returns `undefined` for requests that run here.
   */
  runElsewhere?: ((call: ForwardableCall) => Promise<Streamed | undefined>) | undefined;
  limits?: Partial<Limits> | undefined;
  /**
   * Converts an error to the one that the client sees (default: unchanged). `identifier` is the object that the URL
   * names, for display.
   */
  errorFor?:
    | ((request: IncomingMessage, error: CatalogError, identifier: string | undefined) => Promise<CatalogError>)
    | undefined;
  /** Logs internal errors with stack traces: for the administrator, never for the client. */
  log: (line: string) => void;
  /** Called once a request has ended, in any way. */
  onAnswered?: ((request: IncomingMessage, answered: RequestLog) => void) | undefined;
};

/** A request that may run in another process. */
export type ForwardableCall = {
  readonly request: IncomingMessage;
  /** The URL of the request without a base path. */
  readonly url: string;
  readonly operation: Operation;
  readonly dialect: Dialect;
  /** The parameters of the URL. */
  readonly query: URLSearchParams;
  readonly body: BodyReader;
  readonly signal: AbortSignal;
};

/** The REST contract as a listener of `node:http` or `node:https`. */
export type ContractHandler = {
  /**
   * Handles a request. Never rejects.
   * @param url the URL of the request without a base path (default: the URL as received)
   */
  handle(request: IncomingMessage, response: ServerResponse, url?: string): Promise<void>;
  readonly inFlight: number;
  /** Refuses further requests with 503; resolves when all running requests, or only the `writes`, have ended. */
  drain(which?: RequestKind): Promise<void>;
};

const changes = (operation: Operation | undefined): boolean =>
  operation !== undefined && !readingOperations.has(operation);

/** Creates the REST contract over catalogs. The options decide on authorization and the catalog of a request. */
export function createContractHandler(options: ContractOptions): ContractHandler {
  const running = new RunningRequests();
  const limits = { ...defaultLimits, ...options.limits };
  let isDraining = false;
  return {
    async handle(request, response, url = request.url ?? '') {
      const found = matchRoute(request.method ?? '', url);
      const exchange = { request, response, url, found, options, limits, isDraining };
      // A request that is refused while the server shuts down must not delay the end.
      if (isDraining) return answer(exchange);
      const isWrite = changes(found.operation);
      running.start(isWrite);
      try {
        await answer(exchange);
      } finally {
        running.end(isWrite);
      }
    },
    get inFlight() {
      return running.count;
    },
    drain(which = 'all') {
      isDraining = true;
      return running.ended(which);
    },
  };
}

type Exchange = {
  request: IncomingMessage;
  response: ServerResponse;
  url: string;
  found: RouteMatch;
  options: ContractOptions;
  limits: Limits;
  isDraining: boolean;
};

async function answer({ request, response, url, found, options, limits, isDraining }: Exchange): Promise<void> {
  const started = performance.now();
  const gone = new AbortController();
  // If the client disconnects, its work is cancelled. After a complete response `close` is emitted too, but then there
  // is nothing to abort.
  response.on('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  const identifier = found.id.length > 0 ? displayPath(found.id) : undefined;
  const body = new BodyReader(request, limits, options.reading);
  const reply = new Reply(response, limits, gone.signal);
  let failure: CatalogError | undefined;
  let isLetIn = false;
  try {
    await withErrorContext({ operation: found.operation, identifier }, async () => {
      if (isDraining) throw new CatalogError('ServiceUnavailable', 'The server is shutting down.', 'Try again.');
      await options.authorize(request, found, response);
      isLetIn = true;
      for (const [name, value] of Object.entries(remoteHeaders(found, request))) response.setHeader(name, value);
      if (found.problem) throw found.problem;
      await serve({ request, url, found, options, body, reply, signal: gone.signal });
    });
  } catch (error) {
    failure = dialectError(found, catalogError(error));
    if (failure.kind === 'Internal' && !isAbort(error)) options.log(stackOf(error));
    failure = (await options.errorFor?.(request, failure, identifier)) ?? failure;
    if (gone.signal.aborted || isAbort(error)) reply.destroy();
    else
      await reply.refuse(failure, body, {
        allow: found.allow,
        patience: isLetIn ? drainLimits : unauthenticatedDrainLimits,
      });
  }
  try {
    options.onAnswered?.(request, {
      method: request.method ?? '',
      operation: found.operation,
      identifier,
      status: response.statusCode,
      code: failure?.code,
      milliseconds: performance.now() - started,
      bytesReceived: body.bytes,
      bytesSent: reply.bytes,
      end: reply.end,
    });
  } catch (error) {
    options.log(stackOf(error));
  }
}

const isRun = (operation: Operation, jobs: ServerJobs | undefined): boolean =>
  jobs !== undefined && jobOperations.has(operation);

/**
 * Whether an operation could succeed although the namespace that is its root does not exist. All others fail by
 * themselves.
 */
const needsRoot = (operation: Operation): boolean =>
  operations[operation].subject === 'none' || operation === 'DropNamespace';

type Served = Pick<Exchange, 'request' | 'url' | 'found' | 'options'> & {
  body: BodyReader;
  reply: Reply;
  signal: AbortSignal;
};

async function serve({ request, url, found, options, body, reply, signal }: Served): Promise<void> {
  const tables: DirTable[] = [];
  try {
    const base = await options.catalogOf(request, found);
    const catalog = new ServedCatalog(base, options.namespaceOf?.(request) ?? []);
    const { operation } = found;
    // The request is refused before the handler runs, so that a client can test capabilities without creating anything.
    if (operation && !isRun(operation, options.jobs) && (await catalog.capabilities({ signal }))[operation] === 'no')
      throw refusalOf(operation);
    if (operation && needsRoot(operation)) await catalog.mustExist({ signal });
    const { dialect, query } = found;
    const elsewhere =
      operation && (await options.runElsewhere?.({ request, url, operation, dialect, query, body, signal }));
    if (elsewhere) {
      await reply.stream(elsewhere);
      return;
    }
    const own = (table: DirTable): DirTable => {
      tables.push(table);
      return table;
    };
    const preferences = parsePreferences(request.headers['prefer']);
    const { jobs, vendCredentials: vend } = options;
    const vendCredentials: VendCredentials | undefined = vend && ((table) => vend(request, table, signal));
    const told = await found.handler(callOf(found, { catalog, body, preferences, own, jobs, vendCredentials, signal }));
    if ('rows' in told) {
      const rows = await rowsOf(told.rows, request.headers, signal);
      await ('bytes' in rows ? reply.whole(rows) : reply.stream(rows));
    } else if ('arrow' in told) await reply.arrow(told.arrow);
    else if ('json' in told) await reply.json(told.status ?? 200, dialectResponse(found, told.json), told.applied);
    else await reply.empty();
  } finally {
    // Tables are closed explicitly: to the garbage collector each is only a few bytes, but the engine holds table
    // metadata and open files for it.
    for (const table of tables) table.close();
  }
}

export const catalogError = (error: unknown): CatalogError =>
  isCatalogError(error)
    ? error
    : new CatalogError('Internal', `The server failed: ${messageOf(error)}.`, '', { cause: error });

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
