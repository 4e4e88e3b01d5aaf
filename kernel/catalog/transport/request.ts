import type { CatalogError } from '#shared/errors.ts';
import type { Operation } from '#catalog/contract.ts';

/** One request of the contract: which operation, of what, with which body. Addresses are made of it in one place. */
export type WireRequest = {
  operation: Operation;
  /** Components of what the operation is about: a namespace's path, or that and a table's name. */
  id?: readonly string[];
  /** For `{index_name}` in the path. */
  indexName?: string;
  /** A list is a parameter several times. */
  query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  /** A JSON body … */
  json?: unknown;
  /** … or an Arrow IPC stream, whole or as it comes. One that comes piece by piece is sent once, never again. */
  arrow?: Uint8Array | AsyncIterable<Uint8Array>;
  accept?: string;
  /** `Prefer` of RFC 7240: parts of the request that are beyond the specification; see `WireResponse.applied`. */
  prefer?: string;
  signal?: AbortSignal | undefined;
};

export type WireResponse = {
  contentType: string;
  /** `Preference-Applied` of RFC 7240: which wishes of `prefer` the server has met. */
  applied: readonly string[];
  /** Must be read to its end or destroyed. */
  body: AsyncIterable<Uint8Array> & { destroy(): void };
};

/** Requests to one server. Every failure is a `CatalogError` that names the operation and what it was about. */
export interface Wire {
  /** How the server is called in errors. */
  readonly name: string;
  /** Sends a request and reads the whole answer as JSON; `undefined` for an empty one. */
  json(request: WireRequest): Promise<unknown>;
  /** Sends a request and gives the answer as it comes. */
  send(request: WireRequest): Promise<WireResponse>;
  /** The error for an answer that is not what the contract says. */
  unexpected(what: string, cause?: unknown): CatalogError;
}
