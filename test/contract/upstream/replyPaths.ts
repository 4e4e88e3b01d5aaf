import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Server, ServerResponse } from 'node:http';
import { isRecord } from '#shared/records.ts';

/**
 * The fields of a response that may contain a path of the server, because clients that open the storage itself need
 * them.
 */
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

/** Returns which of the server's paths a response contains outside of the allowed fields, in its headers or body. */
export function pathsTold(paths: readonly string[], headers: unknown, body: Buffer): string[] {
  const value = parsed(body);
  const text = value === undefined ? body : Buffer.from(JSON.stringify(withoutFields(value)));
  const told = JSON.stringify(headers ?? {});
  // The engine omits the leading slash of a path.
  return paths.filter((path) => [text, told].some((part) => part.includes(path.replace(/^\/+/, ''))));
}

/** Fails if a response contains a path of the server. */
export function assertNoPath(paths: readonly string[], headers: unknown, body: Buffer): void {
  const told = pathsTold(paths, headers, body);
  assert.deepEqual(told, [], `A reply tells where the server keeps its files: ${body.toString('utf8').slice(0, 2000)}`);
}

/** The responses of a server in this process, to clients in any process. */
export type WatchedReplies = {
  /** Stops watching. @throws AssertionError if a response contained one of the paths */
  stop(): void;
};

/** Watches the responses of the server on a port while they are written, and searches them for paths. */
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

/** Passes the arguments of a response's method to an observer before the call. */
function observe(response: ServerResponse, method: 'write' | 'end' | 'writeHead', see: (...args: unknown[]) => void) {
  const own: unknown = Reflect.get(response, method);
  assert.ok(typeof own === 'function');
  Reflect.set(response, method, (...args: unknown[]): unknown => {
    see(...args);
    return Reflect.apply(own, response, args);
  });
}
