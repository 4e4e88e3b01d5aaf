import type { JobDescription, JobState, JobSummary } from '#catalog/jobs.ts';
import { CatalogError } from '#shared/errors.ts';
import { encodeId } from '#shared/names.ts';
import { definedEntries } from '#shared/records.ts';
import { refusalOf } from '#engine/dir/dirCapabilities.ts';
import { count, requiredString, optionalString, invalidRequestField, type Json } from './requestBody.ts';
import { tableOf, type RequestContext, type Handlers } from './routeTypes.ts';
import type { ServerJobs } from './serverJobs.ts';

/** The names of the states in the protocol. */
const words: Readonly<Record<JobState, string>> = {
  queued: 'QUEUED',
  running: 'IN_PROGRESS',
  finished: 'DONE',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
};

/** Returns the object that runs the jobs. If the server has none, the request is refused before a handler is called. */
function jobsOf({ jobs }: RequestContext): ServerJobs {
  if (!jobs) throw refusalOf('ListJobs');
  return jobs;
}

const atLeastOne = (body: Json, field: string): number | undefined => {
  const value = count(body, field);
  return value === 0 ? invalidRequestField(field, 'a whole number from 1') : value;
};

const listed = ({ id, type, state, table, created }: JobSummary): Json => ({
  job_id: id,
  job_type: type,
  state: words[state],
  ...definedEntries({ table, created_at_millis: created?.getTime() }),
});

function described({ id, type, state, table, created, spec, result, failure }: JobDescription): Json {
  return {
    job_id: id,
    job_type: type,
    job_state: words[state],
    ...definedEntries({ table, creation_ms: created?.getTime(), spec, result, failure }),
  };
}

export const jobHandlers: Handlers = {
  async AlterTableBackfillColumns(call) {
    const body = await call.json();
    if (optionalString(body, 'branch') !== undefined)
      throw new CatalogError('Unsupported', "This server can't compute columns of branches.", 'Leave branch out.', {
        status: 400,
      });
    const [name, namespacePath] = tableOf(call.id);
    const { jobId } = await jobsOf(call).backfill({
      catalog: call.catalog,
      signal: call.signal,
      namespacePath,
      name,
      column: requiredString(body, 'column'),
      // The other fields of the specification have no meaning here. They are ignored without an error, because they are
      // only hints.
      options: definedEntries({
        where: optionalString(body, 'where'),
        concurrency: atLeastOne(body, 'concurrency'),
        taskSize: atLeastOne(body, 'task_size'),
        checkpointSize: atLeastOne(body, 'checkpoint_size') ?? atLeastOne(body, 'max_checkpoint_size'),
        commitGranularity: atLeastOne(body, 'commit_granularity'),
        numFrags: atLeastOne(body, 'num_frags'),
        readVersion: atLeastOne(body, 'read_version'),
      }),
    });
    return { json: { job_id: jobId }, status: 202 };
  },
  async ListJobs(call) {
    const { catalog, signal } = call;
    const pageToken = optionalString(await call.optionalJson(), 'page_token');
    const page = await jobsOf(call).list({ catalog, signal, pageToken });
    return { json: { jobs: page.jobs.map(listed), ...definedEntries({ page_token: page.pageToken }) } };
  },
  async DescribeJob(call) {
    return { json: described(await jobsOf(call).describe(await jobOf(call))) };
  },
  async CancelJob(call) {
    await jobsOf(call).cancel(await jobOf(call));
    return { json: {} };
  },
  async QueryJobEvents(call) {
    return { arrow: await jobsOf(call).events(await jobOf(call)) };
  },
};

async function jobOf(
  call: RequestContext,
): Promise<{ catalog: RequestContext['catalog']; signal: AbortSignal; id: string }> {
  const { catalog, signal } = call;
  return { catalog, signal, id: requiredString(await call.json(), 'job_id') };
}

/** Returns the identifier of a table in lists of jobs. */
export const tableOfJob = (namespacePath: readonly string[], name: string): string => encodeId(namespacePath, name).id;
