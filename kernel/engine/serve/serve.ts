import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerOptions } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { isSecretOption } from '#catalog/identity.ts';
import { CatalogError, isCatalogError, messageOf } from '#shared/errors.ts';
import { OpenCatalogs } from '#engine/server/openCatalogs.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { createContractHandler } from '#engine/server/server.ts';
import { openCertificate } from './certificate.ts';
import { clientError, jobsRefused, rootNamespaceMissing } from './clientErrors.ts';
import { Authorizer, type Caller } from './authorizer.ts';
import { openKeyStore } from './keyStore.ts';
import { jsonLog, type Log } from './log.ts';
import { Metrics } from './metrics.ts';
import { checkExposure, defaultServeLimits, keepAliveMs, type ServeOptions } from './options.ts';
import { createListener } from './listener.ts';
import { ConnectionLimits } from './connectionLimits.ts';
import { PooledQueries } from './pooledQueries.ts';
import { Readiness } from './readiness.ts';
import { RequestSlots } from './requestSlots.ts';
import { checkVending, TableCredentials } from './tableCredentials.ts';

export type RunningServer = {
  /** For display and for clients: `http://127.0.0.1:2333`. */
  readonly address: string;
  readonly port: number;
  /**
   * Stops the server: refuses new connections and waits for running requests up to `limits.grace`.
   * @returns how many requests were cut off
   */
  close(): Promise<number>;
};

/** Timeouts of connections. The body is watched separately while it arrives, since a large table takes long. */
const connectionOptions = (idle: number): ServerOptions => ({
  // Time limit for the request line and the headers together.
  headersTimeout: Math.min(10_000, idle),
  requestTimeout: 0,
  // How often `headersTimeout` is checked: with the default a slow sender gets up to 30 s more.
  connectionsCheckingInterval: Math.min(2_000, idle),
  // For connections without a key the time is shorter; the listener sets it after each response.
  keepAliveTimeout: keepAliveMs,
});

/**
 * Serves catalogs to a team: the REST contract with keys, over TLS or behind a proxy. It is stateless, so any number
 * of servers can serve the same roots.
 * @throws CatalogError InvalidInput (13) for a root, a file or an address that can't be used
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  checkExposure(options);
  if (options.vending) checkVending(options);
  const limits = { ...defaultServeLimits, ...options.limits };
  const log = jsonLog(options.write, secretsOf(options));
  const { storageOptions } = options;
  const catalogs = new OpenCatalogs(
    (root) => openDir({ root, ...(storageOptions && { storageOptions }) }),
    // Number of catalogs: one for each database, and space for prefixes in the databases.
    options.databases.length + 32,
  );
  // A missing local root is probably a typo. It is reported now, and not later to every client.
  for (const { root } of options.databases) await catalogs.get(root);
  const keys = await openKeyStore(options.keys, {
    changed: (count) => log('info', 'keys_read', { count }),
    problem: (error) => log('error', 'keys_kept', { problem: messageOf(error) }),
  });
  const readiness = new Readiness({
    catalogs: () => options.databases.map(({ root }) => catalogs.get(root)),
    onChange: (ready, problem) =>
      ready ? log('info', 'ready') : log('error', 'not_ready', { problem: messageOf(problem) }),
  });
  const gate = new Authorizer({
    keys,
    databases: options.databases,
    host: options.host,
    publicHosts: options.publicHosts,
  });
  const metrics = new Metrics();
  const hasManyKeys = options.keys.kind === 'file';
  const callerOf = (request: IncomingMessage): Caller => {
    const caller = gate.callerOf(request);
    if (caller) return caller;
    throw new CatalogError('Internal', 'A request passed the gate without a caller.', '');
  };
  const queries = new PooledQueries({
    limits,
    hasManyKeys,
    storageOptions,
    callerOf,
    metrics,
    log,
  });
  const { vending } = options;
  const credentials = vending && new TableCredentials({ vending, storageOptions, metrics, log });
  // A single key has nothing to share.
  const keyShare = hasManyKeys ? limits.keyShare : 1;
  const slots = new RequestSlots({
    requests: limits.requests,
    requestsPerKey: Math.ceil(limits.requests * keyShare),
    jsonBytes: limits.allJsonBytes,
    jsonBytesPerKey: limits.allJsonBytes * keyShare,
  });
  /** Whether an error comes from a root namespace that does not exist. */
  const isRootMissing = async ({ database, namespacePath }: Caller, error: CatalogError): Promise<boolean> => {
    if (namespacePath.length === 0 || !isCatalogError(error, 'NamespaceNotFound')) return false;
    const found = catalogs.get(database.root).then((catalog) => catalog.namespaceExists(namespacePath));
    return !(await found.catch(() => true));
  };
  const contract = createContractHandler({
    authorize: (request, asked, response) => {
      gate.authorize(request, asked);
      listener?.admit(request, response, gate.callerOf(request)?.key.name ?? '');
    },
    catalogOf: async (request) => catalogs.get(callerOf(request).database.root),
    namespaceOf: (request) => callerOf(request).namespacePath,
    jobs: options.jobs,
    vendCredentials: credentials && ((request, table, signal) => credentials.vend(callerOf(request), table, signal)),
    runElsewhere: (call) => queries.run(call),
    errorFor: async (request, error, identifier) => {
      const caller = gate.callerOf(request);
      const isMissing = caller !== undefined && (await isRootMissing(caller, error));
      // Frees the slot of a refused request. The request does no more work, although the rest of its body is still
      // discarded for a while.
      slots.leave(request);
      if (isMissing) return rootNamespaceMissing(caller, error);
      const told = (!options.jobs && jobsRefused(error)) || clientError(error, caller, identifier);
      // Logs what the client does not see, for the administrator; the stack of an internal error is already in the
      // log.
      if (told !== error && told.status >= 500 && error.kind !== 'Internal') {
        log('error', 'failure', { problem: error.message });
      }
      return told;
    },
    reading: slots,
    limits: { arrowBytes: limits.bodyBytes, jsonBytes: limits.jsonBytes, idle: limits.idle, jsonTime: limits.jsonTime },
    log: (line) => log('error', 'failure', { problem: line }),
    onAnswered: (request, answered) => listener?.answered(request, answered),
  });
  let listener: ReturnType<typeof createListener> | undefined;
  let closing: Promise<number> | undefined;
  let certificate: { close(): void } | undefined;
  const closeFiles = (): void => {
    keys.close();
    certificate?.close();
    credentials?.close();
  };
  let server: Server;
  let port: number;
  try {
    ({ server, certificate } = await makeServer(options, connectionOptions(limits.idle), log));
    const { connections, keylessPerAddress, keylessKeepAlive } = limits;
    listener = createListener({
      contract,
      gate,
      readiness,
      metrics,
      log,
      isEnding: () => closing !== undefined,
      slots,
      connections: new ConnectionLimits(server, {
        connections,
        keylessPerAddress: options.behindProxy ? connections : keylessPerAddress,
      }),
      keylessKeepAlive,
      behindProxy: options.behindProxy,
    });
    server.on('request', (request, response) => void listener?.handle(request, response));
    port = await listen(server, options);
  } catch (error) {
    // If the server did not start, the files must be closed too, because they are watched until they are closed.
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
        await queries.close();
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
          `Can't listen on ${host}:${port}: ${listenProblem(cause)}.`,
          'Choose another --port or --host.',
          { cause },
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
  // `address()` returns an object, because the server is bound to TCP.
  const { port: bound } = server.address() as AddressInfo;
  return bound;
}

/** Why a server can't listen on its address. */
function listenProblem(error: unknown): string {
  const { code } = Object(error) as { code?: unknown };
  if (code === 'EADDRINUSE') return 'another program uses this port';
  if (code === 'EACCES') return 'ports below 1024 need more rights';
  if (code === 'EADDRNOTAVAIL') return 'this machine does not have the address';
  return messageOf(error);
}

/** Stops a server without cutting off running requests, unless they take too long. */
async function end(server: Server, drained: Promise<void>, inFlight: () => number, grace: number): Promise<number> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Busy connections become idle one by one, but `server.close()` only closes the connections that are idle at that
  // moment. So idle connections are closed repeatedly.
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

/** The values that must never appear in a log line. */
function secretsOf({ keys, storageOptions = {} }: ServeOptions): string[] {
  const stored = Object.entries(storageOptions).filter(([name]) => isSecretOption(name));
  return [...stored.map(([, value]) => value), ...(keys.kind === 'key' ? [keys.key] : [])];
}
