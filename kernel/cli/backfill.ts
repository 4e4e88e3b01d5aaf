import { tableFromIPC } from '#arrow';
import { jobJson, planJson, trialJson } from '#jobs/report/jobText.ts';
import { planText } from '#jobs/report/planRows.ts';
import type { Jobs } from '#jobs/service/jobs.ts';
import { tableText } from '#session/display/tableText.ts';
import { messageOf } from '#shared/errors.ts';
import { countText } from '#shared/format/numbers.ts';
import { durationText } from '#shared/format/times.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { rowsText } from '#shared/jobs/jobLabels.ts';
import type { BackfillPlan, BackfillTrial } from '#shared/jobs/jobPlan.ts';
import { displayPath } from '#shared/names.ts';
import {
  type AskedBackfill,
  askedByArguments,
  askedByFile,
  backfillArguments,
  type BackfillValues,
  jobFileOf,
  rayTokenVariable,
} from './backfillArguments.ts';
import { givenFunction, toldFailure, withConsent } from './backfillFunction.ts';
import { oneCatalogHelp } from './catalogArguments.ts';
import { type Command, parse, UsageError } from './command.ts';
import { endWithHint, followJob, jobExitCodes } from './followJob.ts';
import { stopBySignals } from './signals.ts';
import { askTerminal, canAsk, inTerminalWords } from './terminal.ts';

/** Formats a trial for a terminal: its result, and the first rows of the computed fragment. */
export function trialText(trial: BackfillTrial, column: string): string {
  const { fragment, rows, seconds, errors, after } = trial;
  const rate = seconds > 0 ? ` (${countText(Math.round(rows / seconds))} rows/s)` : '';
  const failed = errors > 0 ? `; ${rowsText(errors)} failed` : '';
  const head = `Fragment ${fragment}: ${rowsText(rows)} in ${durationText(seconds)}${rate}${failed}. Nothing was written.`;
  const table = tableFromIPC(Buffer.from(after, 'base64'));
  const nothing = errors === 0 && rows > 0 && table.getChild(column)?.nullCount === table.numRows;
  const note = nothing ? `\nEvery value of "${column}" is null: does its function return one?` : '';
  return `${head}${note}\n\n${tableText(table, table.numRows)}`;
}

const summary = `  lance-catalog backfill TABLE COLUMN [--sql EXPR | --file FILE[#NAME]] [--plan | --try | --detach] …
  lance-catalog backfill JOB.lance-job.json [--plan | --try | --detach] …
      computes a column by a function, in a job that outlives the terminal`;

export const backfillCommand: Command = {
  summary,
  help: `Computes a column

${summary}

What
  TABLE               shop/products, or as JSON ["shop","a/b"] where a name has a slash
  COLUMN              is made where it is not there; its function is kept on it, so that the next time the names suffice
${oneCatalogHelp}

By which function; the one that is kept on the column when nothing is said
  --sql EXPR          an expression of SQL over the other columns
  --file FILE[#NAME]  a function of a TypeScript file, made by udf(), or of a Python file
  --input A,B --output TYPE [--takes row|batch]   of Python: its columns, and a type such as int32 or float[768]
  --allow-stored-code HASH   runs a function that is kept on the column without having been accepted on this machine

Which rows; those where the column is null when nothing is said
  --where SQL         rows for which it holds
  --num-frags N       only so many fragments
  --read-version N    reads this version of the table

How
  --runner NAME       auto (when nothing is said) picks one of local, local-python, ray and rest, and says why
  --on-error fail|null|skip|retry:N   what is done with a row that the function throws for
  --concurrency N     how many compute at once
  --task-size N       rows of a task at most
  --checkpoint-size N rows after which what was computed is kept
  --commit-granularity N   fragments after which what was computed is committed
  --key COLUMN        local: names rows, so that they can be written back
  --python PATH       local-python: the interpreter
  --ray ADDRESS       ray: of its dashboard; its token comes from the variable ${rayTokenVariable}
  --profile NAME [--ray-cluster NAME]   ray: a cluster of the settings; what the job needs of it is verified first

What is done
  --plan              says what would be done, and changes nothing
  --try               computes one fragment, shows its rows before and after, and writes nothing
  --detach            starts the job, prints its id, and leaves
  --yes               does not ask, and goes on where the checks of a cluster fail
  --strict            ends with 3 when the function threw for rows
  --json              a line of JSON for the plan, for the start, and for every change of the job

The job is a process of its own: a closed terminal does not end it. Ctrl-C cancels it, as it ends a container that is not
detached; what was computed is kept, and "lance-catalog jobs resume ID" goes on from there. Ctrl-C twice leaves without
waiting for that. A job that somebody else began and this one joined is left alone by Ctrl-C.
Ends with 0 when it is done, 1 when it failed, 2 when it could not begin, 3 by --strict, 130 when it was cancelled.`,
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(args, backfillArguments, true);
  const modes = (['plan', 'try', 'detach'] as const).filter((mode) => values[mode]);
  if (modes.length > 1) throw new UsageError(`Give one of ${modes.map((mode) => `--${mode}`).join(' and ')}.`);
  const stop = stopBySignals();
  try {
    const asked = await askedOf(values, positionals, stop.signal);
    return await inTerminalWords(asked, stop.signal, () => backfill(asked, values, stop));
  } catch (error) {
    if (values.json) console.log(JSON.stringify({ kind: 'error', ...toldFailure(error) }));
    if (error instanceof UsageError) throw error;
    if (stop.signal.aborted) {
      console.error(stoppedText(modes.length > 0 && !values.detach));
      return stop.code ?? jobExitCodes.cancelled;
    }
    console.error(messageOf(error));
    return jobExitCodes.notRun;
  } finally {
    stop.dispose();
  }
}

const stoppedText = (wasLooking: boolean): string =>
  wasLooking ? 'Stopped; nothing was changed.' : 'Stopped before the job began; nothing was computed.';

async function askedOf(
  values: BackfillValues,
  positionals: readonly string[],
  signal: AbortSignal,
): Promise<AskedBackfill> {
  const path = jobFileOf(positionals);
  if (path === undefined) return askedByArguments(values, positionals);
  const { openJobFile } = await import('#jobs/entry.ts');
  return askedByFile(values, path, await openJobFile(path, signal));
}

type Stop = ReturnType<typeof stopBySignals>;

async function backfill(asked: AskedBackfill, values: BackfillValues, stop: Stop): Promise<number> {
  const { signal } = stop;
  const { json = false, strict = false } = values;
  const made = await givenFunction(asked, signal);
  const request: BackfillRequest = {
    ...asked.options,
    table: { catalog: asked.catalog, namespacePath: asked.namespacePath, name: asked.name },
    column: asked.column,
    ...(made && { function: made }),
    ...(values['allow-stored-code'] && { allowStoredCode: values['allow-stored-code'] }),
  };
  const jobs = (await import('#jobs/entry.ts')).openJobs();
  if (values.try) {
    const trial = await withConsent(asked, signal, () => jobs.try(request, signal));
    console.log(json ? JSON.stringify({ kind: 'trial', trial: trialJson(trial) }) : trialText(trial, asked.column));
    return jobExitCodes.done;
  }
  // Before the plan, which would only report that Ray does not respond.
  if (!values.plan && !(await mayLaunch(request, values.yes ?? false, signal))) return notDone();
  const plan = await jobs.plan(request, signal);
  tellPlan(asked, plan, { json, isAsked: values.plan ?? false });
  if (values.plan) return jobExitCodes.done;
  const isRisky = plan.notes.some(({ level }) => level === 'warning');
  if (isRisky && !values.yes && canAsk() && !(await askTerminal('Run it?', signal))) return notDone();
  const started = await withConsent(asked, signal, () => jobs.start(request, signal));
  if (json) console.log(JSON.stringify({ kind: 'started', ...started }));
  if (values.detach) {
    if (!json) console.log(started.id);
    return jobExitCodes.done;
  }
  if (!json) console.error(started.joined ? `Joined the job ${started.id}, which does the same.` : `Job ${started.id}`);
  return attend(jobs, started, { json, strict }, stop);
}

function notDone(): number {
  console.error('Nothing was done.');
  return jobExitCodes.notRun;
}

/**
 * Whether a job may start on a cluster: if a check that it needs fails, the user decides.
 * @throws JobError ClusterNotReady if the user can't be prompted
 */
async function mayLaunch(request: BackfillRequest, isDecided: boolean, signal: AbortSignal): Promise<boolean> {
  const { launchProblem } = await import('#jobs/entry.ts');
  const problem = await launchProblem(request, signal);
  if (!problem) return true;
  const isAsked = !isDecided && canAsk();
  if (!isDecided && !isAsked)
    throw new JobError(problem.kind, problem.what, `${problem.hint}. To run it anyway, add --yes.`, { cause: problem });
  console.error(messageOf(problem));
  return isDecided || askTerminal('Run it anyway?', signal);
}

function tellPlan(asked: AskedBackfill, plan: BackfillPlan, how: { json: boolean; isAsked: boolean }): void {
  if (how.json) return console.log(JSON.stringify({ kind: 'plan', plan: planJson(plan) }));
  const text = `${displayPath(asked.namespacePath, asked.name)}.${plan.column}\n${planText(plan)}`;
  // Stdout is for the requested output; a plan that precedes a run goes to stderr.
  if (how.isAsked) console.log(text);
  else console.error(text);
}

/** Follows a started job. A signal cancels it, or only stops following if this command joined an existing job. */
async function attend(
  jobs: Jobs,
  { id, joined }: { readonly id: string; readonly joined: boolean },
  how: { readonly json: boolean; readonly strict: boolean },
  stop: Stop,
): Promise<number> {
  try {
    return await followJob(jobs, id, { ...how, signal: stop.signal });
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  // SIGHUP: the terminal was closed, which does not mean to cancel the job.
  const isHungUp = stop.code === 129;
  if (joined || isHungUp) {
    console.error(`The job goes on; it is followed with: lance-catalog jobs follow ${id}`);
    return stop.code ?? jobExitCodes.cancelled;
  }
  stop.onRepeat(() => process.exit(stop.code));
  console.error(`Cancelling ${id}. Press again to leave without waiting.`);
  await jobs.cancel(id, AbortSignal.timeout(120_000));
  const view = await jobs.view(id, AbortSignal.timeout(10_000));
  if (how.json) console.log(JSON.stringify({ kind: 'job', job: jobJson(view) }));
  else console.error(endWithHint(view));
  return stop.code ?? jobExitCodes.cancelled;
}
