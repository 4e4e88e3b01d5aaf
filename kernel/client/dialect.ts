import { isCatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import { encodePart, type Address, type OtherPath } from './transportAddress.ts';
import type { WireRequest } from './wireRequest.ts';

/** Sends a request and reads its answer as JSON. */
type Ask = (address: Address, signal: AbortSignal | undefined) => Promise<unknown>;

type DialectName = 'specification' | 'service';

/**
 * How a server speaks: by the specification, or by the four endpoints of the service that there was before it. Found out
 * once, by the first call that differs between them and before its body is sent, which could not be sent again.
 */
export class Dialect {
  readonly #ask: Ask;
  #known: DialectName | undefined;
  #search: Promise<DialectName | undefined> | undefined;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /**
   * The paths that this server has instead of the specification's, where they may differ for this request.
   * @throws CatalogError as the server says, where it could not be asked at all
   */
  async of(request: WireRequest): Promise<OtherPath | undefined> {
    if (servicePath(request, '') === undefined) return undefined;
    this.#known ??= await this.#find(request.signal);
    return this.#known === 'service' ? servicePath : undefined;
  }

  /** One search for all calls that wait for it; one that decided nothing is made again by the next call. */
  async #find(signal: AbortSignal | undefined): Promise<DialectName | undefined> {
    const search = this.#search;
    if (search) {
      try {
        return await search;
      } catch {
        // Somebody else's: it may have been cancelled.
        signal?.throwIfAborted();
        return this.#known ?? (await this.#find(signal));
      }
    }
    const own = this.#probe(signal);
    this.#search = own;
    try {
      return await own;
    } finally {
      this.#search = undefined;
    }
  }

  async #probe(signal: AbortSignal | undefined): Promise<DialectName | undefined> {
    const first = await this.#list('/v1/namespace/%24/table/list?limit=1', signal);
    if (first !== 'missing') return first === 'there' ? 'specification' : undefined;
    const second = await this.#list('/v1/tables', signal);
    // With neither of them it is the specification's operations that it lacks.
    if (second !== 'undecided') return second === 'there' ? 'service' : 'specification';
    return undefined;
  }

  async #list(path: string, signal: AbortSignal | undefined): Promise<'there' | 'missing' | 'undecided'> {
    try {
      const body = await this.#ask({ method: 'GET', path }, signal);
      return hasTables(body) ? 'there' : 'missing';
    } catch (error) {
      if (!isCatalogError(error)) throw error;
      if (error.status === 404 || error.status === 405) return 'missing';
      // A key that may not list may still create: the call itself will tell.
      if (error.status === 401 || error.status === 403) return 'undecided';
      // It knows the path, and what it says is of the contract.
      if (error.status === 400 || error.status === 406 || error.kind === 'Unsupported') return 'there';
      throw error;
    }
  }
}

/** Whether an answer is a list of tables. */
export const hasTables = (body: unknown): boolean => isRecord(body) && Array.isArray(body['tables']);

/** Where the service has an operation instead, `undefined` where it is the specification's place. */
const servicePath: OtherPath = ({ operation, id = [] }, encoded) => {
  const [name, ...more] = id;
  // Of a namespace in it, the list of what it holds names the tables too.
  if (operation === 'ListTables') return name === undefined ? '/v1/tables' : `/v1/namespace/${encoded}/list`;
  const isInRoot = name !== undefined && more.length === 0;
  return operation === 'CreateTable' && isInRoot ? `/v1/tables/${encodePart(name)}` : undefined;
};
