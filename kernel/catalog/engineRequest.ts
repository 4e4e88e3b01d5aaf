import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { DirConfig } from '#shared/catalogConfig.ts';
import { CatalogError, kindOfCode } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import { engineHost, rootHeader, storageOptionsHeader } from './contract.ts';

/** How a process of this user reaches an engine process. The secret is sent over pipes only. */
export type EngineAddress = { readonly socketPath: string; readonly secret: string };

/**
 * Time in milliseconds within which the end of an engine process is reported to its parent after its connections have
 * ended.
 */
export const exitDelay = 500;

/** A request of a path that the engine process offers its parent in addition to the contract. */
type EngineRequest = {
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly config: DirConfig;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal: AbortSignal | undefined;
  /** Returns the error for a broken connection. */
  readonly explain: ((cause: unknown) => Promise<CatalogError>) | undefined;
};

/**
 * Returns the bytes of a response of an engine process.
 * @throws CatalogError the error in the response, or ServiceUnavailable (17) if the connection breaks
 */
export async function requestEngine(
  { socketPath, secret }: EngineAddress,
  { path, method, config, body, signal, explain }: EngineRequest,
): Promise<Buffer> {
  const headers = {
    host: engineHost,
    ...engineHeaders(secret, config),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const sent = request({ socketPath, path, method, headers, ...(signal && { signal }) });
  let response: IncomingMessage;
  let bytes: Buffer;
  try {
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    [response] = (await once(sent, 'response')) as [IncomingMessage];
    bytes = await buffer(response);
  } catch (cause) {
    signal?.throwIfAborted();
    if (explain) throw await explain(cause);
    throw new CatalogError('ServiceUnavailable', 'The engine process does not respond.', 'Try again.', { cause });
  }
  if (response.statusCode === 200) return bytes;
  throw parseErrorBody(JSON.parse(bytes.toString('utf8')), response.statusCode);
}

/** Returns the headers that authenticate the caller of an engine process and select the catalog. */
export function engineHeaders(secret: string, { root, storageOptions = {} }: DirConfig): Record<string, string> {
  const hasOptions = Object.keys(storageOptions).length > 0;
  return {
    authorization: `Bearer ${secret}`,
    [rootHeader]: encodeURIComponent(root),
    ...(hasOptions && { [storageOptionsHeader]: encodeURIComponent(JSON.stringify(storageOptions)) }),
  };
}

/** Returns the error in the body of a response of an engine process, which has the error format of the contract. */
export function parseErrorBody(body: unknown, status: number | undefined): CatalogError {
  const { error, code, detail, instance } = isRecord(body) ? body : {};
  return new CatalogError(kindOfCode(code), String(error), typeof detail === 'string' ? detail : '', {
    ...(status !== undefined && { status }),
    ...(typeof instance === 'string' && { identifier: instance }),
  });
}
