import type { Catalog } from '#catalog/catalog.ts';
import type { JobDescription } from '#catalog/jobs.ts';
import { isCatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';

/** Clocks of two machines, and a server that rounds. */
const clockSlack = 60_000;
/** Of a server's list, newest first or last: no more is looked through. */
const pages = 20;

type Wanted = {
  readonly catalog: Catalog;
  /** `shop/products` */
  readonly table: string;
  readonly column: string;
  /** As an earlier process kept it. */
  readonly id: string | undefined;
  /** When an earlier process asked for it, in milliseconds since 1970. */
  readonly askedAt: string | undefined;
  readonly signal: AbortSignal;
};

/**
 * The job on the server that an earlier process began: by its id, or, where that process died before it had the answer, by
 * table, column and time. One that failed or was cancelled is none: the server goes on by a new one.
 */
export async function launchedBefore({ id, askedAt, ...wanted }: Wanted): Promise<string | undefined> {
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
    // Servers forget jobs after a while; anything else is no answer to the question.
    if (isCatalogError(error) && error.status >= 400 && error.status < 500 && error.status !== 429) {
      if (error.kind === 'Unauthenticated' || error.kind === 'PermissionDenied') throw error;
      return undefined;
    }
    throw error;
  }
}

/** A job whose id was never heard. One that says nothing of its table and column is not taken for it. */
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

/** Servers join the parts of an identifier by a delimiter of theirs. */
const isTable = (told: string | undefined, path: string): boolean =>
  told !== undefined && told.replaceAll(/[$.]/g, '/') === path.replaceAll(/[$.]/g, '/');
