import type { IncomingMessage, ServerResponse } from 'node:http';
import { CatalogError, isCatalogError, messageOf } from '#shared/errors.ts';
import type { RequestLog, ContractHandler } from '#engine/server/server.ts';
import type { Authorizer } from './authorizer.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Readiness } from './readiness.ts';

type ListenerOptions = {
  contract: ContractHandler;
  gate: Authorizer;
  readiness: Readiness;
  metrics: Metrics;
  log: Log;
  /** Whether the server is shutting down. */
  isEnding: () => boolean;
  maxRequests: number;
  behindProxy: boolean;
};

/**
 * Handles the contract, health checks and metrics. `/healthz` and `/readyz` need no key and return only yes or no;
 * `/metrics` requires a key, because it shows how much each operation is used.
 */
export function createListener(options: ListenerOptions) {
  const { contract, metrics } = options;
  const admitted = new Set<IncomingMessage>();
  return {
    async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const path = pathOf(request);
      const own = Object.hasOwn(ownRoutes, path) ? ownRoutes[path] : undefined;
      if (own) return answerOwn(own, request, response, options);
      metrics.begin();
      await contract.handle(request, response);
    },
    /**
     * Takes one of the `maxRequests` slots until the request is answered. Only for requests with a valid key, so that
     * other clients can't take slots from them.
     * @throws CatalogError ServiceUnavailable (17) if no slot is free
     */
    admit(request: IncomingMessage): void {
      if (admitted.size >= options.maxRequests) throw tooMany();
      admitted.add(request);
    },
    /** Counts a finished request of the contract and logs it. */
    answered(request: IncomingMessage, answered: RequestLog): void {
      const { operation, status, milliseconds, bytesReceived, bytesSent, end } = answered;
      admitted.delete(request);
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
        client: clientOf(request, options.behindProxy),
      });
    },
  };
}

type OwnRoute = (
  request: IncomingMessage,
  options: ListenerOptions,
) => Promise<{ status: number; type: string; body: string }>;

const plain = 'text/plain; charset=utf-8';

// Health checks need no key and skip the host check: load balancers call them by IP address.
const ownRoutes: Readonly<Record<string, OwnRoute>> = {
  '/healthz': () => Promise.resolve({ status: 200, type: plain, body: 'ok\n' }),
  '/readyz': async (_request, { isEnding, readiness }) => {
    const ready = !isEnding() && (await readiness.check());
    return { status: ready ? 200 : 503, type: plain, body: ready ? 'ok\n' : 'not ready\n' };
  },
  '/metrics': (request, { gate, metrics, readiness }) => {
    gate.checkOrigin(request);
    gate.checkKey(request);
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
    const { status, type, body } = await route(request, options);
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

const tooMany = (): CatalogError =>
  new CatalogError('ServiceUnavailable', 'The server has too many requests at the moment.', 'Try again in a second.');

function refuse(response: ServerResponse, error: CatalogError): void {
  // The body of the request is not read, so the connection can't be reused.
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
 * Returns the client's address. Only the last hop was written by the proxy itself; any client can send earlier ones.
 */
function clientOf(request: IncomingMessage, behindProxy: boolean): string | undefined {
  const forwarded = request.headers['x-forwarded-for'];
  const last = behindProxy && typeof forwarded === 'string' ? forwarded.split(',').at(-1)?.trim() : undefined;
  return last ?? request.socket.remoteAddress;
}
