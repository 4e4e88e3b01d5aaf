import { CatalogError } from '#shared/errors.ts';
import type { Catalog, OpenTableOptions } from '#catalog/catalog.ts';
import type { Operation } from '#catalog/contract.ts';
import type { QuerySpec } from '#catalog/querySpec.ts';
import type { Table } from '#catalog/table.ts';
import type { ArrowBody } from './arrowBody.ts';
import type { BodyReader } from './httpBody.ts';
import { checkEnvelope, checkId, type Json } from './requestBody.ts';
import type { ServerJobs } from './serverJobs.ts';

/** One request, its parts read and checked on demand. */
export type Call = {
  catalog: Catalog;
  /** The components of the identifier in the address. */
  id: readonly string[];
  indexName: string;
  query: URLSearchParams;
  /** The JSON body; one that names another object than the address is refused. */
  json: () => Promise<Json>;
  /** The same where the specification has no body: what is no JSON is none. */
  optionalJson: () => Promise<Json>;
  /** The JSON body where all of it is a map, and `id` in it a key like others. */
  map: () => Promise<Json>;
  arrow: () => Promise<ArrowBody>;
  /** Hands over a table, to be closed when the answer is out, or can't be given any more. */
  own: (table: Table) => Table;
  /** What runs jobs, where somebody does. */
  jobs: ServerJobs | undefined;
  signal: AbortSignal;
};

/** Puts together what a handler is given. */
export function callOf(
  { id, indexName, query }: { id: readonly string[]; indexName: string; query: URLSearchParams },
  { catalog, body, own, jobs, signal }: Pick<Call, 'catalog' | 'own' | 'jobs' | 'signal'> & { body: BodyReader },
): Call {
  const json = async (): Promise<Json> => {
    const value = await body.json();
    checkEnvelope(value);
    checkId(value, id);
    return value;
  };
  return {
    catalog,
    id,
    indexName,
    query,
    json,
    optionalJson: () => (body.isJson ? json() : Promise.resolve({})),
    map: () => body.json(),
    arrow: () => body.arrow(),
    own,
    jobs,
    signal,
  };
}

/** The rows of a query. */
export type Rows = { table: Table; spec: QuerySpec };

/** What is answered: JSON, nothing, an Arrow IPC stream that is there as a whole, or rows. */
type Answer = { json: unknown; status?: 200 | 201 | 202 } | { empty: true } | { arrow: Uint8Array } | { rows: Rows };

export type Handler = (call: Call) => Promise<Answer>;

/** Handlers of some operations. */
export type Handlers = Partial<Record<Operation, Handler>>;

/** @throws CatalogError InvalidInput (13) for the root, which is no table */
export function tableOf(id: readonly string[]): [name: string, namespacePath: string[]] {
  const name = id.at(-1);
  if (name === undefined) throw new CatalogError('InvalidInput', 'The address names no table.', 'Name one.');
  return [name, id.slice(0, -1)];
}

/** Opens the table of the address, to be closed with the request. */
export async function openTable(
  { catalog, id, own, signal }: Call,
  at: Pick<OpenTableOptions, 'version' | 'tag' | 'branch'> = {},
): Promise<Table> {
  const [name, path] = tableOf(id);
  return own(await catalog.openTable(name, path, { ...at, signal }));
}
