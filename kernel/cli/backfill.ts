import { jobJson, planJson, trialJson } from '#jobs/report/jobText.ts';
import { planText } from '#jobs/report/planRows.ts';
import type { Jobs } from '#jobs/service/jobs.ts';
import { tableText } from '#session/display/tableText.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { countText } from '#shared/format/numbers.ts';
import { durationText } from '#shared/format/times.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { rowsText } from '#shared/jobs/jobLabels.ts';
import type { BackfillPlan, BackfillTrial } from '#shared/jobs/jobPlan.ts';
import { displayPath } from '#shared/names.ts';
import { allowPrograms } from './allowPrograms.ts';
import {
  type BackfillArguments,
  askedByArguments,
  askedByFile,
  backfillArguments,
  type BackfillValues,
  jobFileOf,
  rayTokenVariable,
} from './backfillArguments.ts';
import { givenFunction, describeJobFailure, withConsent } from './backfillFunction.ts';
import { oneCatalogHelp } from './catalogArguments.ts';
import { type Command, parse, UsageError } from './command.ts';
import { endWithHint, followJob, jobExitCodes } from './followJob.ts';
import { stopBySignals } from './signals.ts';
import { askTerminal, canAsk, failureText, withCliHints, terminalText } from './terminal.ts';

/** Formats a trial for a terminal: its result, and the first rows of the computed fragment. */
export function trialText(trial: BackfillTrial, column: string): string {
  const { fragment, rows, seconds, errors, after } = trial;
  const rate = seconds > 0 ? ` (${countText(Math.round(rows / seconds))} rows/s)` : '';
  const failed = errors > 0 ? `; ${rowsText(errors)} failed` : '';
  const head = `Fragment ${fragment}: ${rowsText(rows)} in ${durationText(seconds)}${rate}${failed}. Nothing was written.`;
  const table = readArrow(Buffer.from(after, 'base64'));
  const nothing = errors === 0 && rows > 0 && table.getChild(column)?.nullCount === table.numRows;
  const note = nothing ? `\nEvery value of "${column}" is null. Check that the function returns a value.` : '';
  return `${head}${note}\n\n${tableText(table, table.numRows)}`;
}

const summary = `  lance-catalog backfill TABLE COLUMN [--sql EXPR | --file FILE[#NAME]] [--plan | --try | --detach] …
  lance-catalog backfill JOB.lance-job.json [--plan | --try | --detach] …
      compute a column with a function, in a job that outlives the terminal`;

export const backfillCommand: Command = {
  summary,
  help: `Computes a column

${summary}

Table and column
  TABLE               shop/products, or as JSON ["shop","a/b"] if a name contains a slash
  COLUMN              created if missing; keeps its function for later runs
${oneCatalogHelp}

Function (default: the function stored on the column)
  --sql EXPR          a SQL expression over the other columns
  --file FILE[#NAME]  a function in a TypeScript file, created by udf(), or in a Python file
  --input A,B --output TYPE [--takes row|batch]   Python: input columns, and an output type such as int32 or float[768]
  --allow-stored-code HASH   run a function stored on the column that was not accepted on this machine

Rows (default: rows whose column is null)
  --where SQL         only rows that match this condition
  --num-frags N       only N fragments
  --read-version N    read this version of the table

Execution
  --runner NAME       local, local-python, ray or rest; auto chooses one and prints the reason (default: auto)
  --on-error fail|null|skip|retry:N   what to do with a row for which the function throws
  --concurrency N     number of parallel workers
  --task-size N       maximum number of rows of a task
  --checkpoint-size N rows between two checkpoints
  --commit-granularity N   fragments between two commits (default: 1/32 of the fragments, at least 8)
  --key COLUMN        local: column that identifies rows when they are written
  --python PATH       local-python: the interpreter
  --ray ADDRESS       ray: URL of the dashboard; the token is read from the environment variable ${rayTokenVariable}
  --profile NAME [--ray-cluster NAME]   ray: a cluster profile of the settings; the cluster is checked first
  --trust             trust the programs that the profile signs in with, now and later; see lance-catalog check --help.
                      Also send the keys of the environment to the servers that only a job file names

Mode
  --plan              print the plan and change nothing
  --try               compute one fragment, print its rows before and after, and write nothing
  --detach            start the job, print its id, and exit
  --yes               don't prompt, and continue if cluster checks fail
  --strict            exit with 3 if the function threw for rows
  --json              print a JSON line for the plan, for the start, and for every change of the job

The job is a separate process, so it continues if the terminal is closed. Ctrl-C cancels it and keeps the computed rows;
"lance-catalog jobs resume ID" continues from there. Ctrl-C twice exits without waiting for the cancellation. If the
same job was already running, the command joins it, and Ctrl-C does not cancel it.
Exit code 0 if the job succeeded, 1 if it failed, 2 if it could not start, 3 with --strict, 130 if it was cancelled.`,
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(args, backfillArguments, true);
  const modes = (['plan', 'try', 'detach'] as const).filter((mode) => values[mode]);
  if (modes.length > 1) throw new UsageError(`Give only one of ${modes.map((mode) => `--${mode}`).join(' and ')}.`);
  const stop = stopBySignals();
  try {
    const asked = await askedOf(values, positionals, stop.signal);
    return await withCliHints(asked, stop.signal, () => backfill(asked, values, stop));
  } catch (error) {
    if (values.json) console.log(JSON.stringify({ kind: 'error', ...describeJobFailure(error) }));
    if (error instanceof UsageError) throw error;
    if (stop.signal.aborted) {
      console.error(stoppedText(modes.length > 0 && !values.detach));
      return stop.code ?? jobExitCodes.cancelled;
    }
    console.error(failureText(error));
    return jobExitCodes.notRun;
  } finally {
    stop.dispose();
  }
}

const stoppedText = (wasLooking: boolean): string =>
  wasLooking ? 'Stopped; nothing was changed.' : 'Stopped before the job started; nothing was computed.';

async function askedOf(
  values: BackfillValues,
  positionals: readonly string[],
  signal: AbortSignal,
): Promise<BackfillArguments> {
  const path = jobFileOf(positionals);
  if (path === undefined) return askedByArguments(values, positionals);
  const { openJobFile } = await import('#jobs/entry.ts');
  return askedByFile(values, path, await openJobFile(path, signal));
}

type Stop = ReturnType<typeof stopBySignals>;

async function backfill(asked: BackfillArguments, values: BackfillValues, stop: Stop): Promise<number> {
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
  const { openJobs, rayProfile } = await import('#jobs/entry.ts');
  const jobs = openJobs();
  if (values.try) {
    const trial = await withConsent(asked, signal, () => jobs.try(request, signal));
    console.log(
      json ? JSON.stringify({ kind: 'trial', trial: trialJson(trial) }) : terminalText(trialText(trial, asked.column)),
    );
    return jobExitCodes.done;
  }
  const profile = await rayProfile(request.ray);
  if (profile) await allowPrograms(profile, values.trust ?? false, signal);
  // The cluster is checked before the plan, because the plan would only report that Ray does not respond.
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
  if (!json)
    console.error(started.joined ? `Joined job ${started.id}, which runs the same backfill.` : `Job ${started.id}`);
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
  console.error(failureText(problem));
  return isDecided || askTerminal('Run it anyway?', signal);
}

function tellPlan(asked: BackfillArguments, plan: BackfillPlan, how: { json: boolean; isAsked: boolean }): void {
  if (how.json) return console.log(JSON.stringify({ kind: 'plan', plan: planJson(plan) }));
  const text = terminalText(`${displayPath(asked.namespacePath, asked.name)}.${plan.column}\n${planText(plan)}`);
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
  // SIGHUP means that the terminal was closed. This does not cancel the job.
  const isHungUp = stop.code === 129;
  if (joined || isHungUp) {
    console.error(`The job keeps running. To follow it: lance-catalog jobs follow ${id}`);
    return stop.code ?? jobExitCodes.cancelled;
  }
  stop.onRepeat(() => process.exit(stop.code));
  console.error(`Cancelling ${id}. Press Ctrl-C again to exit without waiting.`);
  await jobs.cancel(id, AbortSignal.timeout(120_000));
  const view = await jobs.view(id, AbortSignal.timeout(10_000));
  if (how.json) console.log(JSON.stringify({ kind: 'job', job: jobJson(view) }));
  else console.error(endWithHint(view));
  return stop.code ?? jobExitCodes.cancelled;
}
