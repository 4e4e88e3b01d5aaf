import type { Table as ArrowTable } from '#arrow';
import { checkOptions } from '#catalog/arguments/options.ts';
import type { BackfillJob, BackfillResult, FunctionGiven, TableBackfillOptions } from '#catalog/backfill.ts';
import type { Table } from '#catalog/table/table.ts';
import type { TableBackfills } from '#catalog/table/tableBackfills.ts';
import { referenceOf } from '#catalog/tableReference.ts';
import type { Jobs } from '#jobs/service/jobs.ts';
import { liveOutput } from '#session/display/live.ts';
import { htmlAndText, type RenderedOutput } from '#session/display/mimeBundle.ts';
import { ownForms } from '#session/display/ownForms.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { CatalogError, isCatalogErrorKind } from '#shared/errors.ts';
import { escapeHtml } from '#shared/format/markup.ts';
import type { BackfillRequest, RayPlace } from '#shared/jobs/backfill.ts';
import { type ComputedFunction, functionForms } from '#shared/jobs/computedFunction.ts';
import { isJobError, isJobErrorKind, JobError } from '#shared/jobs/jobErrors.ts';
import type { FunctionSource } from '#shared/jobs/jobMessages.ts';
import { isRayPlace } from '#shared/jobs/jobShapes.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { loadLazy } from '#shared/loadLazy.ts';
import { displayPath } from '#shared/names.ts';
import { isRecord, isAffirmative } from '#shared/records.ts';
import { isString, listOf } from '#shared/shape.ts';
import { showBefore, showJob, showLeft, showPlan } from './jobOutput.ts';

const loadParts = () => loadLazy(() => import('#jobs/entry.ts'));

/** Resolves the function that a cell gives: from `udf()`, as SQL, or in a file relative to the notebook's folder. */
async function functionOf(
  given: FunctionGiven | ComputedFunction,
  table: Table,
  column: string,
  signal: AbortSignal,
): Promise<ComputedFunction> {
  const { functionHash, readFunction } = await loadParts();
  // Functions of `udf()` are frozen. A changed copy of a function no longer matches the hash, so the copy is refused.
  if (isComputedFunction(given) && functionHash(given) === given.hash) return given;
  return readFunction(sourceOf(given), { folder: process.cwd(), table, column }, signal);
}

function sourceOf(given: object): FunctionSource {
  if (isRecord(given)) {
    const { sql, file, export: entry, inputs, output, takes, name, version } = given;
    const called = { name: textOf(name), version: textOf(version) };
    if (typeof sql === 'string') return { ...called, kind: 'sql', expression: sql };
    if (typeof file === 'string' && !file.endsWith('.py'))
      return { ...called, kind: 'typescript', file, export: textOf(entry) };
    if (typeof file === 'string' && typeof entry === 'string' && isStrings(inputs) && typeof output === 'string')
      return { ...called, kind: 'python', file, entry, takes: takes === 'batch' ? 'batch' : 'row', inputs, output };
  }
  throw new JobError(
    'FunctionInvalid',
    'The option "function" is not a valid column function.',
    "Give udf({ … }, (row) => …), { sql: 'length(caption)' }, { file: './f.ts' }, or { file: './f.py', export: 'f', inputs: ['caption'], output: 'int32' }.",
  );
}

const isComputedFunction = (given: FunctionGiven | ComputedFunction): given is ComputedFunction =>
  'hash' in given && typeof given.hash === 'string' && typeof given.kind === 'string';

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const isStrings = listOf(isString);

const cellForms =
  "{ function: udf({ … }, (row) => …) }, { function: { sql: '…' } } or { function: { file: '…' } } with a TypeScript or Python file";

/** Runs `act`. If it fails with a hint about how to write a function, the hint shows the form for cells. */
async function inCellWords<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!isJobError(error) || !error.hint.includes(functionForms)) throw error;
    throw new JobError(
      error.kind,
      error.what,
      error.hint.replace(functionForms, () => cellForms),
    );
  }
}

/**
 * Runs `act`, which may run a function stored on the table. If the user has not yet accepted this function on this
 * machine, the user has to consent.
 */
async function withConsent<T>(
  { ask, open }: BackfillDeps,
  table: Table,
  column: string,
  signal: AbortSignal,
  act: () => Promise<T>,
): Promise<T> {
  const parts = await loadParts();
  return parts.withConsent(
    {
      table: displayPath(table.namespacePath, table.name),
      column,
      stored: () => parts.storedFunction(table, column, signal),
      ask: async (text) => {
        // The function is shown as an output, because an editor's prompt has room for only one or two lines.
        open()(
          htmlAndText(`<pre style="white-space: pre-wrap; overflow-wrap: anywhere">${escapeHtml(text)}</pre>`, text),
        );
        return isAffirmative(await ask('Run the function shown in the output on this machine, now and later? [y/N] '));
      },
      howToAllow: (hash) => `To allow it without a prompt, pass { allowStoredCode: ['${hash}'] }.`,
    },
    () => inCellWords(act),
  );
}

type BackfillDeps = {
  /** Opens an output of the cell; each call of the returned function shows a value there. */
  open: () => (shown: RenderedOutput) => void;
  /** Marks a value as shown, so that the cell does not show it again as its last expression. */
  isShown: (value: object) => void;
  /** Returns the signal of the running cell. */
  signal: () => AbortSignal;
  /** Prompts the user for a line of text. */
  ask: (question: string) => Promise<string>;
};

let opened: Jobs | undefined;

async function jobs(): Promise<Jobs> {
  return (opened ??= (await loadParts()).openJobs());
}

/** Creates `table.backfill`, `table.planBackfill` and `table.tryBackfill` of a notebook. */
export function createBackfills(parts: BackfillDeps): TableBackfills {
  const signalOf = ({ signal }: TableBackfillOptions): AbortSignal => {
    const own = parts.signal();
    return signal ? AbortSignal.any([own, signal]) : own;
  };
  return {
    backfill: (table, column, options) => {
      const job = startJob(parts, table, column, { ...options, signal: signalOf(options) });
      parts.isShown(job);
      return job;
    },
    plan: async (table, column, options) => {
      const signal = signalOf(options);
      const request = await requestOf(table, column, options, signal);
      const service = await jobs();
      await confirmSignIn(request, parts.ask);
      const plan = await inCellWords(() => service.plan(request, signal));
      return Object.defineProperty(plan, ownForms, { value: () => showPlan(plan).data });
    },
    try: async (table, column, options) => {
      const signal = signalOf(options);
      const request = await requestOf(table, column, options, signal);
      const service = await jobs();
      const trial = await withConsent(parts, table, column, signal, () => service.try(request, signal));
      return { ...trial, before: read(trial.before), after: read(trial.after) };
    },
  };
}

/** All options. The type makes the compiler report a missing option. */
const optionNames: Record<keyof Required<TableBackfillOptions>, true> = {
  runner: true,
  where: true,
  concurrency: true,
  taskSize: true,
  checkpointSize: true,
  commitGranularity: true,
  numFrags: true,
  readVersion: true,
  onError: true,
  key: true,
  ray: true,
  python: true,
  function: true,
  allowStoredCode: true,
  signal: true,
};

/**
 * Builds the request to the job service: the table by its location, and the function as data.
 * @throws JobError RequestInvalid if the table was opened at a version, a tag or a branch
 */
async function requestOf(
  table: Table,
  column: string,
  asked: TableBackfillOptions,
  signal: AbortSignal,
): Promise<BackfillRequest> {
  checkOptions('backfill', asked, Object.keys(optionNames));
  const reference = referenceOf(table);
  if (!reference)
    throw new JobError(
      'RequestInvalid',
      `Can't run a backfill on "${displayPath(table.namespacePath, table.name)}": the table was opened at a version, a tag or a branch.`,
      'Open the table without a version, tag or branch.',
    );
  const { function: given, ray, ...options } = asked;
  const made = given === undefined ? undefined : await functionOf(given, table, column, signal);
  const place = ray === undefined ? undefined : toRayPlace(ray);
  const request = {
    ...options,
    table: reference,
    column,
    ...(place && { ray: place }),
    ...(made && { function: made }),
  };
  // The signal works only in this process, so it can't be part of the request.
  delete request.signal;
  return request;
}

/** @throws JobError RequestInvalid if `ray` has another type, for instance in a cell that is not type-checked */
function toRayPlace(ray: NonNullable<TableBackfillOptions['ray']>): RayPlace {
  if (typeof ray === 'string') return { address: ray };
  const given: unknown = isRecord(ray) && 'place' in ray ? ray.place : ray;
  if (isRayPlace(given)) return given;
  // The value of an object is left out, because the object may hold a token.
  const got = typeof ray === 'object' ? 'another object' : String(ray);
  throw new JobError(
    'RequestInvalid',
    `Can't run the backfill on Ray: expected a Ray connection or an address for "ray", got ${got}.`,
    "Give the result of ray.connect(…) or ray.cluster(…), or an address such as 'http://127.0.0.1:8265'.",
  );
}

const read = (stream: string): ArrowTable => readArrow(Buffer.from(stream, 'base64'));

type Owned = TableBackfillOptions & { readonly signal: AbortSignal };

function startJob(parts: BackfillDeps, table: Table, column: string, options: Owned): BackfillJob {
  const { signal } = options;
  const live = liveOutput(parts.open());
  live.update(() => showBefore(column, 'starting'));
  const begun = begin(parts, table, column, options);
  const done = begun.then(async (id) => followed(await jobs(), id, live, signal));
  // If a cell does not await the job and the job fails, the output shows the failure. The failure must not be an
  // unhandled rejection too.
  for (const promise of [begun, done]) promise.catch(() => undefined);
  begun.catch((error: unknown) =>
    live.end(() => showBefore(column, error instanceof Error ? error.message : String(error))),
  );
  const job: BackfillJob = {
    id: begun,
    done,
    // oxlint-disable-next-line unicorn/no-thenable -- so that `await table.backfill(…)` waits for the end
    then: (resolve, reject) => done.then(resolve, reject),
    view: async () => (await jobs()).view(await begun, parts.signal()),
    cancel: async () => (await jobs()).cancel(await begun, parts.signal()),
  };
  // If the job is the last expression of a cell or is printed, it is shown as one line, because its output is already
  // on screen.
  return Object.defineProperty(job, ownForms, { value: () => ({ 'text/plain': `Backfill of ${column}` }) });
}

async function begin(parts: BackfillDeps, table: Table, column: string, options: Owned): Promise<string> {
  const { signal } = options;
  const request = await requestOf(table, column, options, signal);
  const service = await jobs();
  await confirmSignIn(request, parts.ask);
  await mayLaunch(request, parts.ask, signal);
  const { id } = await withConsent(parts, table, column, signal, () => service.start(request, signal));
  return id;
}

/** @throws ClusterError ProgramNotTrusted if the Ray profile needs a program that the user does not allow */
async function confirmSignIn({ ray }: BackfillRequest, ask: BackfillDeps['ask']): Promise<void> {
  const profile = await (await loadParts()).rayProfile(ray);
  if (!profile) return;
  const { confirmPrograms } = await loadLazy(() => import('#cluster/entry.ts'));
  await confirmPrograms(profile, async (question) => isAffirmative(await ask(`${question} [y/N] `)));
}

/**
 * Prompts the user to confirm a launch on a cluster that is not ready.
 * @throws JobError ClusterNotReady if the user declines
 */
async function mayLaunch(request: BackfillRequest, ask: BackfillDeps['ask'], signal: AbortSignal): Promise<void> {
  const problem = await (await loadParts()).launchProblem(request, signal);
  if (!problem) return;
  const answer = await ask(`${problem.message}\n\nRun it anyway? [y/N] `).catch(() => '');
  if (!isAffirmative(answer)) throw problem;
}

/** Shows a job as it changes. An interrupt of the cell ends the display, not the job. */
async function followed(
  service: Jobs,
  id: string,
  live: ReturnType<typeof liveOutput>,
  signal: AbortSignal,
): Promise<BackfillResult> {
  let last: JobView | undefined;
  // Called as soon as the signal aborts, and not only when `follow` has ended, because output may be lost once the cell
  // has ended.
  const leave = (): void => live.end(() => showLeft(id, last));
  signal.addEventListener('abort', leave, { once: true });
  try {
    for await (const view of service.follow(id, signal)) {
      last = view;
      live.update(() => showJob(view));
    }
    signal.throwIfAborted();
    last ??= await service.view(id, signal);
  } catch (error) {
    leave();
    throw error;
  } finally {
    signal.removeEventListener('abort', leave);
  }
  const view = last;
  live.end(() => showJob(view));
  return resultOf(view);
}

function resultOf(view: JobView): BackfillResult {
  const { id, state, failure, sentence, startedAt, endedAt } = view;
  if (failure && isJobErrorKind(failure.code)) throw new JobError(failure.code, failure.message, failure.hint);
  // If the catalog fails, the cell gets the same error as without a job.
  if (failure && isCatalogErrorKind(failure.code)) throw new CatalogError(failure.code, failure.message, failure.hint);
  if (state === 'cancelled')
    throw new JobError('Aborted', `The job ${id} was cancelled.`, 'Run the backfill again to continue.');
  if (state !== 'succeeded')
    throw new JobError(
      'Internal',
      failure?.message ?? `The job ${id} was interrupted. ${sentence}`,
      'Run the backfill again to continue.',
    );
  return {
    id,
    rows: view.rows.done,
    errors: view.errors.count,
    errorSamples: view.errors.samples,
    skipped: view.skipped,
    bytesWritten: view.bytesWritten,
    seconds: startedAt === undefined || endedAt === undefined ? 0 : (endedAt - startedAt) / 1000,
    version: view.version,
  };
}
