import type { Catalog } from '#client/catalog.ts';
import type { RunContext } from '#jobs/runners/runner.ts';
import { isCatalogError } from '#shared/errors.ts';

/** Between two looks, since a server gives all of its events each time. */
const pauseMs = 5000;
/** Of one job, for a server may tell every row. */
const most = 10_000;

/** Writes what is new; `isLast` also when it has just been asked. */
export type TellLog = (signal: AbortSignal, isLast?: boolean) => Promise<void>;

/**
 * Makes what writes the server's events into the job's log, a line of JSON each, as they come. A server that can't tell
 * them is asked once, and does not end the job by that.
 */
export function serverLog({ log }: Pick<RunContext, 'log'>, { jobs }: Pick<Catalog, 'jobs'>, id: string): TellLog {
  let told = 0;
  let askedAt = -Infinity;
  let isThere = true;
  return async (signal, isLast = false) => {
    if (!isThere || told >= most || (!isLast && performance.now() - askedAt < pauseMs)) return;
    askedAt = performance.now();
    let seen = 0;
    try {
      for await (const batch of jobs.events(id, { signal }))
        for (const row of batch) {
          if (seen++ < told || told >= most) continue;
          told++;
          log(`${JSON.stringify(row, asText)}\n`);
        }
    } catch (error) {
      if (signal.aborted || !isCatalogError(error)) throw error;
      isThere = error.kind === 'ServiceUnavailable' || error.kind === 'Throttling';
    }
  };
}

/** JSON has no big numbers. */
const asText = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
