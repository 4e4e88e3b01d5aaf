import { availableParallelism } from 'node:os';
import { Field, Schema, Table, Utf8, tableToIPC, vectorFromArray } from '#arrow';
import type { JobDescription, JobState as ServerState, JobSummary } from '#catalog/jobs.ts';
import { withoutNamespace } from '#engine/errors/pathText.ts';
import { defaultMaxJobs, type JobScope, type ServerJobs } from '#engine/server/serverJobs.ts';
import type { Jobs } from './jobs.ts';
import { tableOfJob } from '#engine/server/jobRoutes.ts';
import { CatalogError } from '#shared/errors.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { displayPath } from '#shared/names.ts';
import { isActive } from '#shared/jobs/jobLabels.ts';
import { isJobError, type JobErrorKind } from '#shared/jobs/jobErrors.ts';
import type { JobState, JobView } from '#shared/jobs/jobView.ts';

const pageSize = 100;

/** Maximum concurrency that a client may request. Each worker is a process on this machine. */
const mostAtOnce = Math.max(8, availableParallelism());

/**
 * States of jobs in the server's API. An interrupted job counts as failed there, because clients have to start it
 * again.
 */
const states: Readonly<Record<JobState, ServerState>> = {
  queued: 'queued',
  starting: 'queued',
  running: 'running',
  interrupted: 'failed',
  succeeded: 'finished',
  failed: 'failed',
  cancelled: 'cancelled',
};

type ServerJobsOptions = {
  /** May hold secrets. */
  readonly storageOptions?: Record<string, string> | undefined;
  /** Stored functions that may run here, in addition to functions that were accepted on this machine. */
  readonly allowStoredCode?: readonly string[] | undefined;
  /** Jobs that may run at the same time on this machine, over all tables and catalogs (default: `defaultMaxJobs`). */
  readonly maxJobs?: number | undefined;
};

/** Serves the jobs of this machine through a server. Each catalog, and each namespace as a root, sees only its own jobs. */
export function serverJobs(
  jobs: Jobs,
  { storageOptions, allowStoredCode, maxJobs = defaultMaxJobs }: ServerJobsOptions = {},
): ServerJobs {
  // Requests are started in turn, because each request counts the jobs that the previous requests started.
  let previous: Promise<unknown> = Promise.resolve();
  const start = (
    catalog: JobScope,
    request: BackfillRequest,
    signal: AbortSignal,
  ): Promise<{ readonly id: string }> => {
    const started = previous.then(async () => {
      signal.throwIfAborted();
      const running = (await jobs.list(signal)).filter(isActive);
      const path = displayPath([...request.table.namespacePath, request.table.name]);
      // A second request for a column starts no job: the request joins the running job, or is refused because of that
      // job.
      const isSame = (view: JobView): boolean =>
        view.column === request.column &&
        isOf(view, catalog) &&
        displayPath([...view.table.namespacePath, view.table.name]) === path;
      if (running.length >= maxJobs && !running.some(isSame)) throw tooManyJobs(maxJobs);
      return jobs.start(request, signal);
    });
    previous = started.catch(() => undefined);
    return started;
  };
  const viewIfAny = async (id: string, signal: AbortSignal): Promise<JobView | undefined> => {
    try {
      return await jobs.view(id, signal);
    } catch (error) {
      if (isJobError(error) && error.kind === 'JobMissing') return undefined;
      throw error;
    }
  };
  const own = async (catalog: JobScope, id: string, signal: AbortSignal): Promise<JobView> => {
    const view = await told(() => viewIfAny(id, signal));
    // A job of another catalog or namespace gives the same error as a missing or unreadable job, because a key must not
    // reveal jobs that it does not open.
    if (!view || !isOf(view, catalog)) throw missing(id);
    return view;
  };
  return {
    backfill: async ({ catalog, namespacePath, name, column, options, signal }) => {
      const root = catalog.location;
      const config = { implementation: 'dir' as const, root, ...(storageOptions && { storageOptions }) };
      const table = { catalog: config, namespacePath: [...catalog.namespacePath, ...namespacePath], name };
      const asked = options.concurrency;
      const atOnce = asked !== undefined && { concurrency: Math.min(asked, mostAtOnce) };
      const request = { ...options, ...atOnce, table, column, ...(allowStoredCode && { allowStoredCode }) };
      const { id } = await told(() => start(catalog, request, signal));
      return { jobId: id };
    },
    list: async ({ catalog, pageToken, signal }) => {
      const all = (await jobs.list(signal)).filter((view) => isOf(view, catalog));
      // Ids ascend with time and newer jobs come first, so new jobs do not shift later pages.
      const rest = pageToken === undefined ? all : all.filter(({ id }) => id < pageToken);
      const page = rest.slice(0, pageSize);
      const last = page.at(-1);
      return {
        jobs: page.map((view) => summaryOf(view, catalog)),
        ...(rest.length > page.length && last && { pageToken: last.id }),
      };
    },
    describe: async ({ catalog, id, signal }) => descriptionOf(await own(catalog, id, signal), catalog),
    cancel: async ({ catalog, id, signal }) => {
      const view = await own(catalog, id, signal);
      if (view.can.cancel) await told(() => jobs.cancel(id, signal));
    },
    events: async ({ catalog, id, signal }) => {
      await own(catalog, id, signal);
      const log = withoutNamespace(await told(() => wholeLog(jobs, id, signal)), catalog.namespacePath);
      const lines = log.split('\n').filter((line) => line !== '');
      const schema = new Schema([new Field('line', new Utf8(), false)]);
      const table = lines.length === 0 ? new Table(schema) : new Table({ line: vectorFromArray(lines, new Utf8()) });
      return tableToIPC(table, 'stream');
    },
  };
}

/** Reads a whole log, which is a few megabytes. */
async function wholeLog(jobs: Jobs, id: string, signal: AbortSignal): Promise<string> {
  let whole = '';
  for (let at = 0; ;) {
    const { text, next } = await jobs.log(id, at, signal);
    if (next === at) return whole;
    whole += text;
    at = next;
  }
}

const isOf = ({ table }: JobView, { location, namespacePath }: JobScope): boolean =>
  table.catalog === location && namespacePath.every((name, index) => name === table.namespacePath[index]);

const tooManyJobs = (maxJobs: number): CatalogError =>
  new CatalogError(
    'Throttling',
    `Can't start the job: the server already runs ${maxJobs} ${maxJobs === 1 ? 'job' : 'jobs'}, which is its maximum.`,
    'Try again when one has finished, or ask the administrator for more (--max-jobs).',
  );

const missing = (id: string): CatalogError =>
  new CatalogError('InvalidInput', `Job ${id} does not exist.`, 'List the jobs.', { status: 404 });

const summaryOf = ({ id, state, table, createdAt }: JobView, { namespacePath }: JobScope): JobSummary => ({
  id,
  type: 'backfill_column',
  state: states[state],
  table: tableOfJob(table.namespacePath.slice(namespacePath.length), table.name),
  created: new Date(createdAt),
});

function descriptionOf(view: JobView, catalog: JobScope): JobDescription {
  const relative = (text: string): string => withoutNamespace(text, catalog.namespacePath);
  const { column, failure, rows, errors, skipped, version, options } = view;
  const { where, concurrency, taskSize, checkpointSize, commitGranularity, numFrags, readVersion } = options;
  return {
    ...summaryOf(view, catalog),
    spec: {
      column,
      where,
      concurrency,
      task_size: taskSize,
      checkpoint_size: checkpointSize,
      commit_granularity: commitGranularity,
      num_frags: numFrags,
      read_version: readVersion,
    },
    ...(view.state === 'succeeded' && { result: { rows: rows.done, errors: errors.count, skipped, version } }),
    ...(failure && {
      failure: { phase: failure.code, message: relative(failure.message), retryable: view.can.resume },
    }),
    ...(view.state === 'interrupted' && { failure: { message: relative(view.sentence), retryable: true } }),
  };
}

/** Kinds of the specification for kinds of job errors. Every other kind becomes InvalidInput. */
const kinds: Partial<Record<JobErrorKind, ConstructorParameters<typeof CatalogError>[0]>> = {
  ColumnMissing: 'ColumnNotFound',
  FunctionNotAccepted: 'PermissionDenied',
  Busy: 'ConcurrentModification',
  TableChanged: 'ConcurrentModification',
  StorageFull: 'Internal',
  StorageFailed: 'ServiceUnavailable',
  RunnerUnavailable: 'ServiceUnavailable',
  Internal: 'Internal',
};

async function told<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isJobError(error)) throw error;
    const { kind, what, hint } = error;
    const options = { cause: error, ...(kind === 'JobMissing' && { status: 404 }) };
    throw new CatalogError(kinds[kind] ?? 'InvalidInput', what, hint, options);
  }
}
