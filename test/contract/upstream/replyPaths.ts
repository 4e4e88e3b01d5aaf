import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Server, ServerResponse } from 'node:http';
import { isRecord } from '#shared/records.ts';

/** The fields of a reply that may hold a path of the server: a client that opens the storage itself needs them. */
const fieldsWithPaths: readonly string[] = ['location', 'table_uri', 'storage_options'];

const withoutFields = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutFields);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(([name]) => !fieldsWithPaths.includes(name));
  return Object.fromEntries(entries.map(([name, field]) => [name, withoutFields(field)]));
};

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Which of the server's paths a reply tells outside of the fields that may; a reply is its headers and its body. */
export function pathsTold(paths: readonly string[], headers: unknown, body: Buffer): string[] {
  const value = parsed(body);
  const text = value === undefined ? body : Buffer.from(JSON.stringify(withoutFields(value)));
  const told = JSON.stringify(headers ?? {});
  // The engine writes a path without the slash that it begins with.
  return paths.filter((path) => [text, told].some((part) => part.includes(path.replace(/^\/+/, ''))));
}

/** Fails if a reply tells a path of the server. */
export function assertNoPath(paths: readonly string[], headers: unknown, body: Buffer): void {
  const told = pathsTold(paths, headers, body);
  assert.deepEqual(told, [], `A reply tells where the server keeps its files: ${body.toString('utf8').slice(0, 2000)}`);
}

/** The replies of a server in this process, to clients in any process. */
export type WatchedReplies = {
  /** Stops watching. @throws AssertionError if a reply told one of the paths */
  stop(): void;
};

/** Reads every reply of the server on a port, as it is written, and looks for paths in it. */
export function watchReplies(port: number, paths: readonly string[]): WatchedReplies {
  const leaks: string[] = [];
  const onRequest = (message: unknown): void => {
    if (!isRecord(message)) return;
    const { server, response, request } = message;
    if (!(server instanceof Server) || !(response instanceof ServerResponse)) return;
    const address = server.address();
    if (address === null || typeof address === 'string' || address.port !== port) return;
    const chunks: Buffer[] = [];
    let headers: unknown;
    const keep = (chunk: unknown): void => {
      if (typeof chunk === 'string') chunks.push(Buffer.from(chunk));
      else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
    };
    observe(response, 'write', keep);
    observe(response, 'end', keep);
    observe(response, 'writeHead', (_status, given) => (headers = given));
    response.once('close', () => {
      const body = Buffer.concat(chunks);
      for (const path of pathsTold(paths, headers, body)) {
        const asked = isRecord(request) ? `${String(request['method'])} ${String(request['url'])}` : '';
        leaks.push(`${asked} tells ${path}: ${JSON.stringify(headers)} ${body.toString('utf8').slice(0, 1000)}`);
      }
    });
  };
  subscribe('http.server.request.start', onRequest);
  return {
    stop() {
      unsubscribe('http.server.request.start', onRequest);
      assert.deepEqual(leaks, [], 'replies tell where the server keeps its files');
    },
  };
}

/** Has the arguments of a method of a response seen before it gets them. */
function observe(response: ServerResponse, method: 'write' | 'end' | 'writeHead', see: (...args: unknown[]) => void) {
  const own: unknown = Reflect.get(response, method);
  assert.ok(typeof own === 'function');
  Reflect.set(response, method, (...args: unknown[]): unknown => {
    see(...args);
    return Reflect.apply(own, response, args);
  });
}
