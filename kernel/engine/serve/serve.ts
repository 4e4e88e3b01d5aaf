import { createServer as createHttpServer, type Server, type ServerOptions } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { isSecretOption } from '#catalog/identity.ts';
import { CatalogError, messageOf } from '#shared/errors.ts';
import { OpenCatalogs } from '#engine/server/openCatalogs.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { createContractHandler } from '#engine/server/server.ts';
import { openCertificate } from './certificate.ts';
import { clientError } from './clientErrors.ts';
import { Gate } from './gate.ts';
import { openKeyRing } from './keyRing.ts';
import { jsonLog, type Log } from './log.ts';
import { Metrics } from './metrics.ts';
import { checkExposure, defaultServeLimits, type ServeOptions } from './options.ts';
import { createListener } from './listener.ts';
import { Readiness } from './readiness.ts';

export type RunningServer = {
  /** For people and clients: `http://127.0.0.1:2333`. */
  readonly address: string;
  readonly port: number;
  /**
   * Ends it: takes no further connections, finishes the requests under way, as long as the limit allows.
   * @returns how many requests were cut off
   */
  close(): Promise<number>;
};

/** How connections are kept; a body is watched while it comes, for a large table takes its time. */
const connectionOptions = (idle: number): ServerOptions => ({
  // Of the request line and headers together.
  headersTimeout: Math.min(10_000, idle),
  requestTimeout: 0,
  // How often the first of these is looked at: without it a slow sender has half a minute more.
  connectionsCheckingInterval: Math.min(2_000, idle),
  // Longer than that of usual load balancers: the one that closes an idle connection first should be the client.
  keepAliveTimeout: 75_000,
});

/**
 * Serves catalogs to a team: the REST contract with keys, over TLS or behind a proxy. It has no state of its own, so any
 * number of them may serve the same roots.
 * @throws CatalogError InvalidInput (13) for a root, a file or an address that can't be used
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  checkExposure(options);
  const limits = { ...defaultServeLimits, ...options.limits };
  const log = jsonLog(options.write, secretsOf(options));
  const { storageOptions } = options;
  const catalogs = new OpenCatalogs(
    (root) => openDir({ root, ...(storageOptions && { storageOptions }) }),
    // Beside the databases themselves there may be prefixes in them.
    options.databases.length + 32,
  );
  // A local root that is not there is a typing mistake, and better said now than to every client.
  for (const { root } of options.databases) await catalogs.get(root);
  const keys = await openKeyRing(options.keys, {
    changed: (count) => log('info', 'keys_read', { count }),
    problem: (error) => log('error', 'keys_kept', { problem: messageOf(error) }),
  });
  const readiness = new Readiness({
    catalogs: () => options.databases.map(({ root }) => catalogs.get(root)),
    onChange: (ready, problem) =>
      ready ? log('info', 'ready') : log('error', 'not_ready', { problem: messageOf(problem) }),
  });
  const gate = new Gate({ keys, databases: options.databases, host: options.host, publicHosts: options.publicHosts });
  const metrics = new Metrics();
  const contract = createContractHandler({
    authorize: (request, asked) => {
      gate.authorize(request, asked);
      listener.admit(request);
    },
    catalogOf: (request) => {
      const caller = gate.callerOf(request);
      if (!caller) throw new CatalogError('Internal', 'A request passed without a caller.', '');
      return catalogs.get(caller.database.root);
    },
    jobs: options.jobs,
    errorFor: (request, error) => {
      const told = clientError(error, gate.callerOf(request));
      // What the client is not told is for the administrator; the stack of the unexpected is in the log already.
      if (told !== error && told.status >= 500 && error.kind !== 'Internal') {
        log('error', 'failure', { problem: error.message });
      }
      return told;
    },
    limits: { arrowBytes: limits.bodyBytes, idle: limits.idle },
    log: (line) => log('error', 'failure', { problem: line }),
    onAnswered: (request, answered) => listener.answered(request, answered),
  });
  const listener = createListener({
    contract,
    gate,
    readiness,
    metrics,
    log,
    isEnding: () => closing !== undefined,
    maxRequests: limits.requests,
    behindProxy: options.behindProxy,
  });

  let closing: Promise<number> | undefined;
  let certificate: { close(): void } | undefined;
  const closeFiles = (): void => {
    keys.close();
    certificate?.close();
  };
  let server: Server;
  let port: number;
  try {
    ({ server, certificate } = await makeServer(options, connectionOptions(limits.idle), log));
    server.maxConnections = limits.connections;
    server.on('request', (request, response) => void listener.handle(request, response));
    port = await listen(server, options);
  } catch (error) {
    // Files are looked at until they are closed, also for a server that never was.
    closeFiles();
    throw error;
  }
  void readiness.check();
  return {
    address: `${options.tls ? 'https' : 'http'}://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    port,
    close: () =>
      (closing ??= (async () => {
        log('info', 'stopping', { requests: contract.inFlight });
        const cut = await end(server, contract.drain(), () => contract.inFlight, limits.grace);
        closeFiles();
        log(cut > 0 ? 'warn' : 'info', 'stopped', { cut });
        return cut;
      })()),
  };
}

async function makeServer(options: ServeOptions, connections: ServerOptions, log: Log) {
  if (!options.tls) return { server: createHttpServer(connections), certificate: undefined };
  let server: HttpsServer | undefined;
  const certificate = await openCertificate(options.tls, {
    changed: (context) => {
      server?.setSecureContext(context);
      log('info', 'certificate_read');
    },
    problem: (error) => log('error', 'certificate_kept', { problem: messageOf(error) }),
  });
  server = createHttpsServer({ ...connections, ...certificate.value, handshakeTimeout: 10_000 });
  return { server, certificate };
}

async function listen(server: Server, { host, port }: ServeOptions): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new CatalogError(
          'InvalidInput',
          `Can't listen on ${host}:${port} (${messageOf(cause)}).`,
          'Choose another --port.',
          {
            cause,
          },
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
  // Bound to TCP, so it is an object.
  const { port: bound } = server.address() as AddressInfo;
  return bound;
}

/** Ends a server without cutting what it is doing, unless that takes too long. */
async function end(server: Server, drained: Promise<void>, inFlight: () => number, grace: number): Promise<number> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Connections that were busy become idle one by one, and Node closes those that were so at the beginning alone.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), grace);
  });
  const first = await Promise.race([drained, late]);
  const cut = first === 'late' ? inFlight() : 0;
  if (first !== 'late') await Promise.race([closed, late]);
  clearTimeout(timer);
  clearInterval(sweep);
  server.closeAllConnections();
  await closed;
  return cut;
}

/** What must never be in a log line. */
function secretsOf({ keys, storageOptions = {} }: ServeOptions): string[] {
  const stored = Object.entries(storageOptions).filter(([name]) => isSecretOption(name));
  return [...stored.map(([, value]) => value), ...(keys.kind === 'key' ? [keys.key] : [])];
}
