import type { Catalog } from '#catalog/catalog.ts';
import type { BackfillColumnOptions } from '#catalog/jobs.ts';
import type { Table } from '#catalog/table/table.ts';
import { withCatalog } from '#jobs/openCatalog.ts';
import type { Availability, RunContext, Runner } from '#jobs/runners/runner.ts';
import { isAbort, isCatalogError, messageOf } from '#shared/errors.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { displayPath } from '#shared/names.ts';
import { definedEntries } from '#shared/records.ts';
import { followServerJob, type Patience } from './followServerJob.ts';
import { findEarlierJob } from './findEarlierJob.ts';
import { serverProgress } from './serverProgress.ts';

/** Names of the values that are kept for the next process: the time of the request and the id of the job. */
const kept = { asked: 'rest.askedAt', job: 'rest.jobId' } as const;

/** Pauses between requests. They grow, and start over when the job starts to run. */
const usual: Patience = { firstPause: 200, longestPause: 3000, silence: 15 * 60_000 };

/**
 * Runs a job on the server of a catalog, by the operation "AlterTableBackfillColumns" of the Lance Namespace
 * specification. The server has the function. The state of the job comes from the server, and its progress from a count
 * of the table's rows.
 */
export function createRestRunner(patience: Patience = usual): Runner {
  return {
    name: 'rest',
    availability: async (request, signal) => availabilityOf(request, signal),
    run: async (context) => run(context, patience),
  };
}

export const restRunner: Runner = createRestRunner();

const isServer = ({ table }: BackfillRequest): boolean => table.catalog.implementation === 'rest';

async function availabilityOf(request: BackfillRequest, signal: AbortSignal): Promise<Availability> {
  if (!isServer(request)) return { isPossible: false, reason: 'The catalog is a folder, not a server.' };
  return withCatalog(request.table.catalog, signal, async (catalog) => {
    try {
      // Whether the server can run a backfill can't be tested. But a server that lists jobs can run them.
      const can = await catalog.capabilities({ probe: ['ListJobs'], signal });
      const isThere = can.AlterTableBackfillColumns !== 'no' && can.ListJobs !== 'no';
      return isThere
        ? { isPossible: true, reason: `${catalog.location} runs jobs.` }
        : { isPossible: false, reason: `${catalog.location} can't run jobs.` };
    } catch (error) {
      if (isAbort(error)) throw error;
      const reason = `Can't check whether ${catalog.location} runs jobs: ${messageOf(error)}`;
      return { isPossible: false, reason };
    }
  });
}

async function run(context: RunContext, patience: Patience): Promise<void> {
  const { request, spec, signal } = context;
  if (!isServer(request))
    throw new JobError('RunnerUnavailable', 'The catalog is a folder, not a server.', 'Choose another runner.');
  await withCatalog(request.table.catalog, signal, async (catalog) => {
    const { name, namespacePath } = request.table;
    const table = await catalog.openTable(name, [...namespacePath], { signal });
    const rows = await serverProgress(table, spec, signal);
    const { id, isAdopted } = await jobOf(context, catalog, table);
    // The event is emitted after the launch, because a job that the server refuses never ran.
    context.emit({ kind: 'planned', ...rows.plan });
    if (isAdopted)
      context.emit({ kind: 'notice', text: `Following the server's job ${id}, which an earlier run started.` });
    await followServerJob({ context, catalog, id, rows, patience });
  });
}

/** Adopts the server's job of an earlier process unless that job failed or was cancelled. Otherwise starts a job. */
async function jobOf(
  context: RunContext,
  catalog: Catalog,
  table: Table,
): Promise<{ readonly id: string; readonly isAdopted: boolean }> {
  const adopted = await findEarlierJob({
    catalog,
    table: displayPath(table.namespacePath, table.name),
    column: context.spec.column,
    id: context.kept.get(kept.job),
    askedAt: context.kept.get(kept.asked),
    signal: context.signal,
  });
  if (adopted !== undefined) {
    context.kept.set(kept.job, adopted);
    return { id: adopted, isAdopted: true };
  }
  // The time is stored before the request: if this process dies before the response, the next process finds the job by
  // this time.
  context.kept.set(kept.asked, String(Date.now()));
  const jobId = await launch(context, table);
  context.kept.set(kept.job, jobId);
  context.log(`The server's job is ${jobId}.\n`);
  return { id: jobId, isAdopted: false };
}

async function launch({ spec, request, signal }: RunContext, table: Table): Promise<string> {
  const options: BackfillColumnOptions = definedEntries({
    where: spec.where,
    // Options that the user has not set are omitted, so that the server chooses.
    concurrency: request.concurrency,
    taskSize: spec.taskSize,
    checkpointSize: request.checkpointSize,
    commitGranularity: request.commitGranularity,
    numFrags: spec.numFrags,
    readVersion: spec.readVersion,
  });
  try {
    return (await table.backfillColumn(spec.column, { ...options, signal })).jobId;
  } catch (error) {
    if (signal.aborted || !isCatalogError(error)) throw error;
    const place = `${displayPath(table.namespacePath, table.name)}.${spec.column}`;
    if (error.kind === 'Unsupported')
      throw new JobError(
        'RunnerUnavailable',
        `The server can't run a backfill of ${place}.`,
        'Choose another runner.',
        {
          cause: error,
        },
      );
    throw new JobError('ServerRefused', `The server refused to compute ${place}: ${error.message}`, '', {
      cause: error,
    });
  }
}
