import type { CatalogError } from '#shared/errors.ts';
import type { Operation } from '#catalog/contract.ts';

/** One request of the contract: operation, object and body. address.ts derives its URL. */
export type WireRequest = {
  operation: Operation;
  /** The path of a namespace, followed by the table name if the request is about a table. */
  id?: readonly string[];
  /** Leaves the identifier out of the path: some servers list the root at `/v1/namespace/list`. */
  withoutId?: boolean;
  /** Value for `{index_name}` in the path. */
  indexName?: string;
  /** A list is sent as a repeated parameter. */
  query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  /** A JSON body … */
  json?: unknown;
  /** … or an Arrow IPC stream, complete or streamed. A streamed body is sent once and never repeated. */
  arrow?: Uint8Array | AsyncIterable<Uint8Array>;
  accept?: string;
  /** `Prefer` (RFC 7240): parts of the request beyond the specification; see `WireResponse.applied`. */
  prefer?: string;
  /** Whether the whole response must arrive within `timeouts.json`, unlike a stream of rows. */
  isShort?: boolean;
  signal?: AbortSignal | undefined;
};

export type WireResponse = {
  contentType: string;
  /** `Preference-Applied` (RFC 7240): the preferences of `prefer` that the server has applied. */
  applied: readonly string[];
  /** Must be read to its end or destroyed. */
  body: AsyncIterable<Uint8Array> & { destroy(): void };
};

/** Requests to one server. Every failure is a `CatalogError` that names the operation and its object. */
export interface Wire {
  /** Name of the server in errors. */
  readonly name: string;
  /** Separator of the components of an identifier. Default: `$`. */
  readonly delimiter?: string | undefined;
  /** Sends a request and reads the whole response as JSON; `undefined` if it is empty. */
  json(request: WireRequest): Promise<unknown>;
  /** Sends a request and returns the response as a stream. */
  send(request: WireRequest): Promise<WireResponse>;
  /** Returns the error for a response that does not follow the contract. */
  unexpected(what: string, cause?: unknown): CatalogError;
}
