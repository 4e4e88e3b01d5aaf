import type { JobSummary } from '#catalog/jobs.ts';
import { eachPage } from '#catalog/listPages.ts';
import { jobDetails, jobJson, jobTable } from '#jobs/report/jobText.ts';
import type { Jobs } from '#jobs/service/jobs.ts';
import { isAbort } from '#shared/errors.ts';
import { alignColumns } from '#shared/format/markup.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { allowPrograms } from './allowPrograms.ts';
import { onErrorOf, runnerOf, withToken } from './backfillArguments.ts';
import { describeJobFailure } from './backfillFunction.ts';
import { catalogArguments, catalogOf, type CatalogValues, oneCatalogHelp } from './catalogArguments.ts';
import { type Command, parse, UsageError } from './command.ts';
import { endWithHint, followJob, jobExitCodes } from './followJob.ts';
import { stopBySignals } from './signals.ts';
import { failureText, withCliHints, terminalText } from './terminal.ts';

/**
 * Prints all jobs of a catalog's server, started by any client, in the server's order.
 * @throws CatalogError Unsupported (0) if the server runs no jobs
 */
export async function listServerJobs(values: CatalogValues, isJson: boolean, signal: AbortSignal): Promise<void> {
  const { withCatalog } = await import('#jobs/entry.ts');
  const all = await withCatalog(catalogOf(values), signal, async ({ jobs }) => {
    const found: JobSummary[] = [];
    await eachPage(async (pageToken) => {
      const page = await jobs.list({ signal, pageToken });
      found.push(...page.jobs);
      return { keys: page.jobs.map(({ id }) => id), pageToken: page.pageToken };
    });
    return found;
  });
  if (isJson) console.log(JSON.stringify(all, null, 2));
  else if (all.length > 0) console.log(terminalText(tableOf(all)));
  else console.error('The server has no jobs.');
}

function tableOf(jobs: readonly JobSummary[]): string {
  const rows = jobs.map(({ id, state, type, table = '', created }) => {
    return [id, state, type, table, created?.toISOString() ?? ''];
  });
  // The columns are not truncated, because users copy names of jobs and tables from this list.
  return alignColumns([['job', 'state', 'kind', 'table', 'started'], ...rows], Infinity).join('\n');
}

const summary = `  lance-catalog jobs [list | show ID | follow ID | log ID | cancel ID | resume ID | remove ID] [--json]
      list and manage the backfill jobs on this machine`;

export const jobsCommand: Command = {
  summary,
  help: `Manages the backfill jobs on this machine, started in an editor, a notebook or a terminal

${summary}

  list                list all jobs, newest first (default)
      --catalog https://…   list the jobs of this server instead, started by any client
      --catalog DIR         list the jobs on this machine, because a directory runs none
  show ID             show the details of a job
  follow ID           show progress until the job ends; Ctrl-C stops following and does not affect the job
  log ID [--follow]   print the log of the job: output of its function and messages of its runner
  cancel ID           cancel a job; computed rows are kept
  resume ID           continue a stopped job; for a finished job, retry the rows that it left null
      --runner NAME   use another runner
      --on-error fail|null|skip|retry:N   from now on, handle failing rows this way
      --detach        print the job's id, and exit
      --trust         trust the programs that the cluster profile of the job signs in with, now and later
  remove ID           remove the record of a finished job; tables and checkpoints are kept
  --json              print JSON: an array for list, an object for a job, a line per change for follow
  --strict            follow and resume: exit with 3 if the function threw for rows

ID can be shortened as long as it is unique. Job records contain no secrets: to resume a job on a server or an object
store, give the same credentials as when it was started:
${oneCatalogHelp}
  --allow-stored-code HASH           run a function stored on the table that was not accepted on this machine

Exit code 0; for follow and resume as for "backfill": 1 if the job failed, 130 if it was cancelled.`,
  run,
};

const options = {
  ...catalogArguments,
  json: { type: 'boolean' },
  strict: { type: 'boolean' },
  follow: { type: 'boolean' },
  detach: { type: 'boolean' },
  trust: { type: 'boolean' },
  runner: { type: 'string' },
  'on-error': { type: 'string' },
  'allow-stored-code': { type: 'string', multiple: true },
} as const;

type Values = CatalogValues & {
  readonly json?: boolean | undefined;
  readonly strict?: boolean | undefined;
  readonly follow?: boolean | undefined;
  readonly detach?: boolean | undefined;
  readonly trust?: boolean | undefined;
  readonly runner?: string | undefined;
  readonly 'on-error'?: string | undefined;
  readonly 'allow-stored-code'?: string[] | undefined;
};

type Asked = { readonly jobs: Jobs; readonly id: string; readonly values: Values; readonly signal: AbortSignal };

const follow = ({ jobs, id, values, signal }: Asked): Promise<number> =>
  followJob(jobs, id, { json: values.json ?? false, strict: values.strict ?? false, signal });

/** Actions on one job; each returns the exit code. */
const actions: Readonly<Record<string, (asked: Asked) => Promise<number>>> = {
  show,
  follow,
  log,
  cancel,
  resume,
  remove,
};

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(args, options, true);
  const [word = 'list', id, ...more] = positionals;
  const action = Object.hasOwn(actions, word) ? actions[word] : undefined;
  if (word !== 'list' && !action)
    throw new UsageError(`There is no command "jobs ${word}". Use list, ${Object.keys(actions).join(', ')}.`);
  if (more.length > 0 || (word === 'list' && id !== undefined))
    throw new UsageError(`"jobs ${word}" has too many arguments.`);
  if (action && id === undefined)
    throw new UsageError(`"jobs ${word}" needs the ID of a job. Run lance-catalog jobs to see all ids.`);
  const stop = stopBySignals();
  const { signal } = stop;
  try {
    const jobs = (await import('#jobs/entry.ts')).openJobs();
    if (!action) return await list(jobs, values, signal);
    return await action({ jobs, id: await fullId(jobs, id ?? '', signal), values, signal });
  } catch (error) {
    if (stop.signal.aborted && isAbort(error)) return stop.code ?? jobExitCodes.cancelled;
    if (values.json) console.log(JSON.stringify({ kind: 'error', ...describeJobFailure(error) }));
    if (error instanceof UsageError) throw error;
    console.error(failureText(error));
    return jobExitCodes.notRun;
  } finally {
    stop.dispose();
  }
}

async function list(jobs: Jobs, values: Values, signal: AbortSignal): Promise<number> {
  const { json } = values;
  if (values.catalog !== undefined) {
    if (catalogOf(values).implementation === 'rest') {
      await listServerJobs(values, json ?? false, signal);
      return jobExitCodes.done;
    }
    console.error('Jobs on directories and object stores run on this machine. The list has all jobs on this machine.');
  }
  const all = await jobs.list(signal);
  if (json) console.log(JSON.stringify(all.map(jobJson), null, 2));
  else if (all.length > 0)
    console.log(
      terminalText(jobTable(all, Date.now(), process.stdout.isTTY ? process.stdout.columns || undefined : undefined)),
    );
  else console.error('There are no jobs on this machine.');
  return jobExitCodes.done;
}

/** Completes an id from a unique prefix. Ids of jobs created together have the same prefix, so a suffix works too. */
async function fullId(jobs: Jobs, part: string, signal: AbortSignal): Promise<string> {
  const ids = (await jobs.list(signal)).map(({ id }) => id);
  if (ids.includes(part)) return part;
  const fitting = ids.filter((id) => id.startsWith(part) || id.endsWith(part));
  if (fitting.length > 1)
    throw new UsageError(
      `"${part}" matches ${fitting.length} jobs: ${fitting.slice(0, 3).join(', ')}${fitting.length > 3 ? ' and more' : ''}. Give more of the id.`,
    );
  // If no id matches, the service reports that there is no such job.
  return fitting[0] ?? part;
}

async function show({ jobs, id, values, signal }: Asked): Promise<number> {
  const view = await jobs.view(id, signal);
  console.log(values.json ? JSON.stringify(jobJson(view), null, 2) : terminalText(jobDetails(view)));
  return jobExitCodes.done;
}

async function log({ jobs, id, values, signal }: Asked): Promise<number> {
  let at = 0;
  const print = async (): Promise<void> => {
    for (;;) {
      const { text, next } = await jobs.log(id, at, signal);
      if (next === at) return;
      at = next;
      process.stdout.write(text);
    }
  };
  await print();
  if (values.follow) {
    for await (const _ of jobs.follow(id, signal)) await print();
    await print();
  }
  return jobExitCodes.done;
}

async function cancel({ jobs, id, values, signal }: Asked): Promise<number> {
  await jobs.cancel(id, signal);
  return told(jobs, id, values, signal);
}

async function remove({ jobs, id, signal }: Asked): Promise<number> {
  await jobs.remove(id, signal);
  console.error(`Removed job ${id}. Its table is unchanged.`);
  return jobExitCodes.done;
}

async function told(jobs: Jobs, id: string, { json }: Values, signal: AbortSignal): Promise<number> {
  const view = await jobs.view(id, signal);
  if (json) console.log(JSON.stringify(jobJson(view), null, 2));
  else console.error(terminalText(endWithHint(view)));
  return jobExitCodes.done;
}

async function resume({ jobs, id, values, signal }: Asked): Promise<number> {
  const view = await jobs.view(id, signal);
  const runner = runnerOf(values.runner);
  const onError = onErrorOf(values['on-error']);
  const request = requestAgain(view, values);
  const how = {
    ...(request && { request }),
    ...(runner !== undefined && runner !== 'auto' && { runner }),
    ...(onError && { onError }),
  };
  const profile = await (await import('#jobs/entry.ts')).rayProfile(view.options.ray);
  if (profile) await allowPrograms(profile, values.trust ?? false, signal);
  const { namespacePath, catalog } = view.table;
  // For a job on a server, `request` is always set. Only a job in a directory can have none.
  const place = request?.table ?? { namespacePath, catalog: { implementation: 'dir', root: catalog } };
  const { id: now } = await withCliHints(place, signal, () => jobs.resume(id, how, signal));
  if (values.json) console.log(JSON.stringify({ kind: 'started', id: now, joined: false }));
  else if (values.detach) console.log(now);
  if (values.detach) return jobExitCodes.done;
  return follow({ jobs, id: now, values, signal });
}

/**
 * Returns the request that resumes a job, with credentials. Returns `undefined` if the record of the job is enough, as
 * for a directory on this machine.
 */
function requestAgain(view: JobView, values: Values): BackfillRequest | undefined {
  const { table, options: asked, column } = view;
  const isNamed = values.catalog !== undefined || values['storage-option'] || values['storage-option-env'];
  const allowed = values['allow-stored-code'];
  if (!isNamed && table.implementation === 'dir' && !asked.ray && !allowed) return undefined;
  const { ray, ...more } = asked;
  return {
    ...more,
    ...(ray && { ray: withToken(ray) }),
    table: { catalog: catalogOf(values, table.catalog), namespacePath: table.namespacePath, name: table.name },
    column,
    ...(allowed && { allowStoredCode: allowed }),
  };
}
