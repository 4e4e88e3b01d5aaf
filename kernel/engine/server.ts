import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { CatalogError, isAbort, isCatalogError, messageOf, statusOf } from '#shared/errors.ts';
import { idDelimiter } from '#shared/names.ts';
import { arrowFileMime, arrowStreamMime } from '#shared/mime.ts';
import type { Catalog } from '#client/catalog.ts';
import type { QuerySpec } from '#client/querySpec.ts';
import type { Table } from '#client/table.ts';
import type { Query } from '#client/query.ts';
import { engineHost, rootHeader } from '#client/wire.ts';
import { DirTable } from './dirTable.ts';
import { readArrow, readJson } from './httpBody.ts';
import { encodeBatches, streamOfFiles } from './ipcStream.ts';
import { decodePart, findRoute, type Answer, type Call } from './routes.ts';

export type EngineServerOptions = {
  /** What a request must carry as `Authorization: Bearer …`. */
  secret: string;
  /** The catalog of a root directory. */
  catalogOf: (root: string) => Promise<Catalog>;
  log: (line: string) => void;
};

/**
 * The REST contract over `Catalog`s, for one parent process on this machine. Not listening yet.
 *
 * A web page can make a browser send requests to local servers, and by rebinding its name even read the answers: a
 * request that names an `Origin` or another `Host` than ours is refused before anything is looked at.
 */
export function createEngineServer(options: EngineServerOptions): Server {
  const wanted = digest(`Bearer ${options.secret}`);
  const server = createServer((request, response) => {
    const done = new AbortController();
    // A client that goes away stops the work that was done for it.
    response.on('close', () => done.abort());
    void answer(request, response, options, wanted, done.signal);
  });
  server.headersTimeout = 10_000;
  // A large table takes its time to arrive, and only the parent can connect.
  server.requestTimeout = 0;
  return server;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: EngineServerOptions,
  wanted: Buffer,
  signal: AbortSignal,
): Promise<void> {
  const tables: Table[] = [];
  const own = (table: Table): Table => {
    tables.push(table);
    return table;
  };
  try {
    checkCaller(request, wanted);
    await send(response, request, await handle(request, options, own, signal), signal);
  } catch (error) {
    if (signal.aborted || isAbort(error)) response.destroy();
    else refuse(response, error, options.log);
  } finally {
    // Garbage to this process is a few bytes each, to the engine it is a table's metadata and open files.
    for (const table of tables) if (table instanceof DirTable) table.close();
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** @throws CatalogError PermissionDenied (15) or Unauthenticated (16) */
function checkCaller(request: IncomingMessage, wanted: Buffer): void {
  if (request.headers.origin !== undefined) {
    throw new CatalogError('PermissionDenied', 'Requests from web pages are refused.', '');
  }
  if (request.headers.host !== engineHost) {
    throw new CatalogError('PermissionDenied', 'The request is for another host.', '');
  }
  // Digests are equally long, so the comparison takes the same time whatever was sent.
  if (!timingSafeEqual(digest(request.headers.authorization ?? ''), wanted)) {
    throw new CatalogError('Unauthenticated', 'The request does not carry the secret of this engine.', '');
  }
}

async function handle(
  request: IncomingMessage,
  options: EngineServerOptions,
  own: Call['own'],
  signal: AbortSignal,
): Promise<Answer> {
  const url = new URL(request.url ?? '/', `http://${engineHost}`);
  const found = findRoute(request.method ?? 'GET', url.pathname, url.searchParams.get('delimiter') ?? idDelimiter);
  if (!found) {
    throw new CatalogError(
      'Unsupported',
      `This server has no ${request.method} ${url.pathname}.`,
      'See the specification.',
    );
  }
  const root = request.headers[rootHeader];
  if (typeof root !== 'string' || root === '') {
    throw new CatalogError('InvalidInput', `The header ${rootHeader} is missing.`, 'Send the root directory in it.');
  }
  return found.route({
    catalog: await options.catalogOf(decodePart(root)),
    id: found.id,
    query: url.searchParams,
    json: () => readJson(request),
    arrow: () => readArrow(request),
    own,
    signal,
  });
}

async function send(
  response: ServerResponse,
  request: IncomingMessage,
  reply: Answer,
  signal: AbortSignal,
): Promise<void> {
  if ('empty' in reply) {
    response.writeHead(200).end();
    return;
  }
  if ('json' in reply) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply.json));
    return;
  }
  const format = request.headers.accept?.includes(arrowStreamMime) ? 'stream' : 'file';
  const chunks = await rowsOf(reply.rows, format, signal);
  // The first chunk comes before the headers: until then a failure can still be told as one.
  const first = await chunks.next();
  response.writeHead(200, { 'content-type': format === 'stream' ? arrowStreamMime : arrowFileMime });
  for (let next = first; !next.done; next = await chunks.next()) await write(response, next.value, signal);
  response.end();
}

async function rowsOf(
  { table, spec }: Extract<Answer, { rows: unknown }>['rows'],
  format: 'file' | 'stream',
  signal: AbortSignal,
): Promise<AsyncGenerator<Uint8Array>> {
  const native = format === 'stream' && table instanceof DirTable ? await table.executeIpc(spec, signal) : undefined;
  if (native) return streamOfFiles(native.schema, native.buffers);
  const { schema, batches } = await queryOf(table, spec).execute({ signal });
  return encodeBatches(format, schema, batches);
}

function queryOf(table: Table, spec: QuerySpec): Query {
  let query = table.query();
  if (spec.vector) {
    const { values, ...options } = spec.vector;
    query = query.nearestTo(values, options);
  }
  if (spec.columns) query = query.select(spec.columns);
  if (spec.filter !== undefined) query = query.where(spec.filter);
  if (spec.limit !== undefined) query = query.limit(spec.limit);
  if (spec.offset !== undefined) query = query.offset(spec.offset);
  return query;
}

/** Writes a chunk and waits until it is taken: a slow reader holds up the scan instead of filling memory. */
function write(response: ServerResponse, chunk: Uint8Array, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (response.write(chunk)) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const settle = () => {
      response.off('drain', settle);
      signal.removeEventListener('abort', settle);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    response.on('drain', settle);
    signal.addEventListener('abort', settle, { once: true });
  });
}

function refuse(response: ServerResponse, error: unknown, log: (line: string) => void): void {
  const told = isCatalogError(error)
    ? error
    : new CatalogError('Internal', `The engine failed: ${messageOf(error)}.`, '', { cause: error });
  if (told.kind === 'Internal') log(error instanceof Error ? (error.stack ?? error.message) : String(error));
  if (response.headersSent) {
    // Too late for an error body; a cut connection tells the reader that the rows are not complete.
    response.destroy();
    return;
  }
  response
    .writeHead(statusOf(told.kind), { 'content-type': 'application/json', connection: 'close' })
    .end(JSON.stringify(told));
}
