import type { IncomingMessage, ServerResponse } from 'node:http';
import { CatalogError, isCatalogError, messageOf } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import type { RequestLog, ContractHandler } from '#engine/server/server.ts';
import type { Authorizer } from './authorizer.ts';
import { parseBasePath } from './basePath.ts';
import type { ConnectionLimits } from './connectionLimits.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { keepAliveMs } from './options.ts';
import type { Readiness } from './readiness.ts';
import type { RequestSlots } from './requestSlots.ts';

type ListenerOptions = {
  contract: ContractHandler;
  gate: Authorizer;
  readiness: Readiness;
  metrics: Metrics;
  log: Log;
  /** Whether the server is shutting down. */
  isEnding: () => boolean;
  slots: RequestSlots;
  connections: ConnectionLimits;
  /** Milliseconds that an idle connection without a key stays open. */
  keylessKeepAlive: number;
  behindProxy: boolean;
};

/**
 * Handles the contract, health checks and metrics. `/healthz` and `/readyz` need no key and return only yes or no;
 * `/metrics` requires a key, because it shows how much each operation is used.
 */
export function createListener(options: ListenerOptions) {
  const { contract, metrics, slots, connections } = options;
  return {
    async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
      if (!connections.hasKey(request.socket)) closeSoon(request, response, options);
      const path = pathOf(request);
      const own = Object.hasOwn(ownRoutes, path) ? ownRoutes[path] : undefined;
      if (own) return answerOwn(own, request, response, options);
      metrics.begin();
      await contract.handle(request, response, parseBasePath(request.url ?? '').url);
    },
    /**
     * Takes a slot for a request with a valid key. The slot is free again when the request is answered.
     * @throws CatalogError ServiceUnavailable (17), Throttling (21) if no slot is free
     */
    admit(request: IncomingMessage, response: ServerResponse, key: string): void {
      connections.markKey(request.socket);
      announceKeepAlive(response, keepAliveMs);
      slots.enter(request, key);
    },
    /** Counts a finished request of the contract and logs it. */
    answered(request: IncomingMessage, answered: RequestLog): void {
      const { operation, status, milliseconds, bytesReceived, bytesSent, end } = answered;
      slots.leave(request);
      metrics.end({
        operation: operation ?? 'other',
        status: end === 'cut' ? 'cut' : status,
        seconds: milliseconds / 1000,
        bytesIn: bytesReceived,
        bytesOut: bytesSent,
      });
      const caller = options.gate.callerOf(request);
      options.log(end === 'cut' ? 'error' : levelOf(status), 'request', {
        method: answered.method,
        operation,
        identifier: answered.identifier,
        status,
        code: answered.code,
        ms: Math.round(milliseconds * 10) / 10,
        received: bytesReceived,
        sent: bytesSent,
        ...(end !== 'sent' && { end }),
        key: caller?.key.name,
        database: caller?.database.name,
        // `identifier` is below this namespace.
        ...(caller && caller.namespacePath.length > 0 && { namespace: displayPath(caller.namespacePath) }),
        client: clientOf(request, options.behindProxy),
      });
    },
  };
}

type OwnRoute = (
  request: IncomingMessage,
  options: ListenerOptions,
  response: ServerResponse,
) => Promise<{ status: number; type: string; body: string }>;

const plain = 'text/plain; charset=utf-8';

// Health checks need no key and skip the host check: load balancers call them by IP address.
const ownRoutes: Readonly<Record<string, OwnRoute>> = {
  '/healthz': (_request, _options, response) => {
    // The connection is closed after the response, because this request is accepted even if all connections are in use.
    response.setHeader('connection', 'close');
    response.removeHeader('keep-alive');
    return Promise.resolve({ status: 200, type: plain, body: 'ok\n' });
  },
  '/readyz': async (_request, { isEnding, readiness }) => {
    const ready = !isEnding() && (await readiness.check());
    return { status: ready ? 200 : 503, type: plain, body: ready ? 'ok\n' : 'not ready\n' };
  },
  '/metrics': (request, { gate, metrics, readiness, connections }, response) => {
    gate.checkOrigin(request);
    const { name, namespacePath } = gate.checkKey(request);
    if (namespacePath.length > 0) {
      // The counters are those of all namespaces.
      throw new CatalogError(
        'PermissionDenied',
        `The key "${name}" opens only the namespace "${displayPath(namespacePath)}", and no metrics.`,
        'Use a key without a namespace.',
      );
    }
    connections.markKey(request.socket);
    announceKeepAlive(response, keepAliveMs);
    const body = metrics.text(readiness.isReady);
    return Promise.resolve({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body });
  },
};

async function answerOwn(
  route: OwnRoute,
  request: IncomingMessage,
  response: ServerResponse,
  options: ListenerOptions,
): Promise<void> {
  try {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new CatalogError('Unsupported', `This path does not support ${request.method}.`, 'Use GET.');
    }
    const { status, type, body } = await route(request, options, response);
    response
      .writeHead(status, {
        'content-type': type,
        'content-length': Buffer.byteLength(body),
        'cache-control': 'no-store',
      })
      .end(body);
  } catch (error) {
    if (isCatalogError(error)) return refuse(response, error);
    options.log('error', 'failure', { problem: messageOf(error) });
    refuse(
      response,
      new CatalogError('Internal', 'The server failed.', 'Tell the administrator of the server, whose log says why.'),
    );
  }
}

/** Closes the connection soon after the response if no key was seen on it. */
function closeSoon(
  { socket }: IncomingMessage,
  response: ServerResponse,
  { keylessKeepAlive, connections }: ListenerOptions,
): void {
  if (!response.shouldKeepAlive) return;
  announceKeepAlive(response, keylessKeepAlive);
  response.on('finish', () => {
    // This listener runs after Node's own, which sets the time for connections with a key.
    if (!connections.hasKey(socket)) socket.setTimeout(keylessKeepAlive);
  });
}

/**
 * Sets the headers that announce how long the connection stays open. Without them Node announces the same time for all
 * connections.
 */
function announceKeepAlive(response: ServerResponse, milliseconds: number): void {
  if (!response.shouldKeepAlive) return;
  response.setHeader('connection', 'keep-alive');
  response.setHeader('keep-alive', `timeout=${Math.floor(milliseconds / 1000)}`);
}

function refuse(response: ServerResponse, error: CatalogError): void {
  // The body of the request is not read, so the connection can't be reused.
  response.removeHeader('keep-alive');
  response
    .writeHead(error.status, { 'content-type': 'application/json', connection: 'close' })
    .end(JSON.stringify(error));
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

/**
 * 503 means that the server or its store is overloaded or shutting down: a warning for the administrator, not an
 * error.
 */
const levelOf = (status: number) => (status === 503 ? 'warn' : status >= 500 ? 'error' : 'info');

/**
 * Returns the client's address. Behind a proxy this is the last hop in the header, because only the proxy writes that
 * hop; a client can send any earlier hops.
 */
function clientOf(request: IncomingMessage, behindProxy: boolean): string | undefined {
  const forwarded = request.headers['x-forwarded-for'];
  const last = behindProxy && typeof forwarded === 'string' ? forwarded.split(',').at(-1)?.trim() : undefined;
  return last ?? request.socket.remoteAddress;
}
