import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isSameSecret } from '#processes/isSameSecret.ts';
import { CatalogError } from '#shared/errors.ts';
import type { NamespacePath } from '#shared/names.ts';
import { isRecord } from '#shared/records.ts';
import { ensureShape, isString, listOf } from '#shared/shape.ts';
import type { DirConfig } from '#catalog/connect.ts';
import {
  blobsPath,
  engineHost,
  namespaceHeader,
  repairPath,
  rootHeader,
  storageOptionsHeader,
} from '#catalog/contract.ts';
import { type DirCatalog, findPlace } from '#engine/dir/dirCatalog.ts';
import { inspectCatalog, repairCatalog } from '#engine/repair/repair.ts';
import { readBlobs } from './blobRoute.ts';
import { allTexts, decodePart, invalidRequestField } from './requestBody.ts';
import { catalogError, createContractHandler, type ContractHandler } from './server.ts';

type EngineServerOptions = {
  /** The secret that a request must carry as `Authorization: Bearer …`. */
  secret: string;
  catalogOf: (config: DirConfig) => Promise<DirCatalog>;
  log: (line: string) => void;
};

/** The server of the engine process, for one parent process on this machine. Not listening yet. */
type EngineServer = {
  server: Server;
  contract: ContractHandler;
};

/**
 * Creates the server of the REST contract. Each request names its directory in a header.
 *
 * A web page can make a browser send requests to local servers, and with DNS rebinding even read the responses. So
 * requests with an `Origin` or another `Host` are refused before anything else.
 */
export function createEngineServer({ secret, catalogOf, log }: EngineServerOptions): EngineServer {
  const wanted = `Bearer ${secret}`;
  const contract = createContractHandler({
    authorize: (request) => checkCaller(request, wanted),
    catalogOf: (request) => catalogOf(rootOf(request)),
    namespaceOf,
    log,
  });
  const server = createServer((request, response) => {
    if (request.url === repairPath) void answerRepair(request, response, wanted);
    else if (request.url === blobsPath) void answerBlobs(request, response, wanted, catalogOf);
    else void contract.handle(request, response);
  });
  server.headersTimeout = 10_000;
  // There is no time limit for requests, because a large table takes long to arrive, and only the parent can connect.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 0;
  return { server, contract };
}

/** GET inspects the catalog that the request names, POST repairs it. */
async function answerRepair(request: IncomingMessage, response: ServerResponse, wanted: string): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  request.resume();
  try {
    checkCaller(request, wanted);
    const place = await findPlace(rootOf(request));
    const result =
      request.method === 'POST' ? await repairCatalog(place, { signal: gone.signal }) : await inspectCatalog(place);
    send(response, 200, result);
  } catch (error) {
    const failure = catalogError(error);
    send(response, failure.status, failure);
  }
}

/** POST reads blobs of a table. */
async function answerBlobs(
  request: IncomingMessage,
  response: ServerResponse,
  wanted: string,
  catalogOf: EngineServerOptions['catalogOf'],
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  try {
    checkCaller(request, wanted);
    const bytes = await readBlobs(await catalogOf(rootOf(request)), request, gone.signal);
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes);
  } catch (error) {
    request.resume();
    const failure = catalogError(error);
    send(response, failure.status, failure);
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** @throws CatalogError PermissionDenied (15) or Unauthenticated (16) */
function checkCaller(request: IncomingMessage, wanted: string): void {
  if (request.headers.origin !== undefined) {
    throw new CatalogError('PermissionDenied', 'Requests from web pages are refused.', '');
  }
  if (request.headers.host !== engineHost) {
    throw new CatalogError('PermissionDenied', 'The request is for another host.', '');
  }
  if (!isSameSecret(request.headers.authorization ?? '', wanted)) {
    throw new CatalogError('Unauthenticated', 'The request does not have the secret of this engine.', '');
  }
}

/** @throws CatalogError InvalidInput (13) */
function rootOf({ headers }: IncomingMessage): DirConfig {
  const root = headers[rootHeader];
  if (typeof root !== 'string' || root === '') {
    throw new CatalogError('InvalidInput', `The header ${rootHeader} is missing.`, 'Send the root directory in it.');
  }
  const given = headers[storageOptionsHeader];
  if (given === undefined) return { root: decodePart(root) };
  return { root: decodePart(root), storageOptions: storageOptionsOf(String(given)) };
}

/** @throws CatalogError InvalidInput (13) */
function namespaceOf({ headers }: IncomingMessage): NamespacePath {
  const given = headers[namespaceHeader];
  if (given === undefined) return [];
  return ensureShape(parseHeader(String(given)), listOf(isString), () =>
    invalidRequestField(namespaceHeader, 'a JSON list of names'),
  );
}

function storageOptionsOf(encoded: string): Record<string, string> {
  const value = parseHeader(encoded);
  return isRecord(value)
    ? allTexts(value, storageOptionsHeader)
    : invalidRequestField(storageOptionsHeader, 'a JSON object');
}

/** Parses the JSON of a header; `undefined` for other text. No error has the value, because it can contain credentials. */
function parseHeader(encoded: string): unknown {
  try {
    return JSON.parse(decodePart(encoded));
  } catch {
    return undefined;
  }
}
