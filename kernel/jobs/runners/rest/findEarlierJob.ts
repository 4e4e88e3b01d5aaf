import type { Catalog } from '#catalog/catalog.ts';
import type { JobDescription } from '#catalog/jobs.ts';
import { isCatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';

/** Tolerance in milliseconds, for clocks that differ and rounded times. */
const clockSlack = 60_000;
/** Number of pages of the server's list to search. The order of the list is not specified. */
const pages = 20;

type Wanted = {
  readonly catalog: Catalog;
  /** `shop/products` */
  readonly table: string;
  readonly column: string;
  readonly id: string | undefined;
  /** Milliseconds since 1970. */
  readonly askedAt: string | undefined;
  readonly signal: AbortSignal;
};

/**
 * Finds the job that an earlier process started on the server: by id, or by table, column and time if the process died
 * before it received the id. Failed and cancelled jobs don't count.
 */
export async function findEarlierJob({ id, askedAt, ...wanted }: Wanted): Promise<string | undefined> {
  if (id !== undefined) {
    const job = await described(wanted, id);
    return job && isWorth(job) ? id : undefined;
  }
  return askedAt === undefined ? undefined : lost(wanted, Number(askedAt));
}

const isWorth = ({ state }: JobDescription): boolean => state !== 'failed' && state !== 'cancelled';

async function described(
  { catalog, signal }: Pick<Wanted, 'catalog' | 'signal'>,
  id: string,
): Promise<JobDescription | undefined> {
  try {
    return await catalog.jobs.describe(id, { signal });
  } catch (error) {
    // Servers forget old jobs, so these statuses mean that the job does not exist. All other errors, and also 408
    // (timeout) and 429, do not show whether it exists.
    if (isCatalogError(error) && error.status >= 400 && error.status < 500 && ![408, 429].includes(error.status)) {
      if (error.kind === 'Unauthenticated' || error.kind === 'PermissionDenied') throw error;
      return undefined;
    }
    throw error;
  }
}

/** Finds a job without its id. Ignores finished jobs, and jobs that do not report their table and column. */
async function lost(wanted: Omit<Wanted, 'id' | 'askedAt'>, askedAt: number): Promise<string | undefined> {
  let pageToken: string | undefined;
  for (let page = 0; page < pages; page++) {
    const listed = await wanted.catalog.jobs.list({ pageToken, signal: wanted.signal });
    for (const { id, created, state, table } of listed.jobs) {
      const isOurs = created !== undefined && created.getTime() >= askedAt - clockSlack && isTable(table, wanted.table);
      if (!isOurs || (state !== 'queued' && state !== 'running')) continue;
      const job = await described(wanted, id);
      if (job && isRecord(job.spec) && job.spec['column'] === wanted.column) return id;
    }
    ({ pageToken } = listed);
    if (pageToken === undefined) return undefined;
  }
  return undefined;
}

/** Compares a table's identifier with any delimiter, because servers join identifiers with different delimiters. */
const isTable = (told: string | undefined, path: string): boolean =>
  told !== undefined && told.replaceAll(/[$.]/g, '/') === path.replaceAll(/[$.]/g, '/');
