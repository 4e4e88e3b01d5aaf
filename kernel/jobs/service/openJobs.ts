import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Table } from '#catalog/table/table.ts';
import { engineFunction } from '#jobs/definition/engineFunction.ts';
import { columnOf, registerFunction, storedFunction } from '#jobs/definition/registration.ts';
import { readStored } from '#jobs/definition/storedFunction.ts';
import { acceptFunction, checkAccepted } from '#jobs/definition/trust.ts';
import { failureOf } from '#jobs/jobFailure.ts';
import { withTable } from '#jobs/openCatalog.ts';
import { checkRows } from '#jobs/plan/checkWhere.ts';
import { chooseRunner, type ChoosingRequest, type RunnerChoice, type Runners } from '#jobs/plan/chooseRunner.ts';
import { findProcess } from '#jobs/records/control.ts';
import { JobFolders } from '#jobs/records/jobFolder.ts';
import { readLog } from '#jobs/records/jobLog.ts';
import type { JobRecord } from '#jobs/records/jobRecord.ts';
import { withRecordErrors } from '#jobs/records/recordErrors.ts';
import { type Liveness, toJobView } from '#jobs/records/toJobView.ts';
import { openOptions } from '#jobs/records/withoutSecrets.ts';
import { knownRunners, loadRunner } from '#jobs/runners/all.ts';
import { serverFunction } from '#jobs/runners/rest/serverFunction.ts';
import { type NodeRuntime, thisNode } from '#processes/childProcess.ts';
import { withFileLock } from '#processes/fileLock.ts';
import { jobsFolder } from '#processes/jobsFolder.ts';
import { isCatalogError } from '#shared/errors.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { type ComputedFunction, functionForms } from '#shared/jobs/computedFunction.ts';
import { createProgressReducer } from '#shared/jobs/foldEvents.ts';
import { isJobError, JobError } from '#shared/jobs/jobErrors.ts';
import { isJobId, newJobId } from '#shared/jobs/jobId.ts';
import { isActive, jobTableText, progressText } from '#shared/jobs/jobLabels.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { loadLazy } from '#shared/loadLazy.ts';
import { cancelJob } from './cancelJob.ts';
import { JobWatch } from './jobWatch.ts';
import type { Jobs } from './jobs.ts';
import { requestToResume } from './resumeRequest.ts';
import { startProcess, startupFailure } from './startProcess.ts';
import { toJobTable, jobKey, withAbsolutePaths } from './stateFolders.ts';

type Follow = {
  readonly folders: JobFolders;
  readonly id: string;
  /** @throws JobError JobMissing */
  readonly first: () => Promise<JobView>;
  readonly signal: AbortSignal;
};

/**
 * Yields the latest view on each request, so that a slow consumer misses some views but never gets outdated ones. Ends
 * after the final view, or when the record is removed.
 * @throws JobError JobMissing; AbortError if the signal aborts
 */
async function* followJob({ folders, id, first, signal }: Follow): AsyncGenerator<JobView, void> {
  const now = await first();
  yield now;
  if (!isActive(now)) return;
  const stop = new AbortController();
  let latest: JobView | undefined;
  let isRemoved = false;
  let wake: (() => void) | undefined;
  const onChange = (changed: readonly JobView[], removed: readonly string[]): void => {
    latest = changed[0] ?? latest;
    isRemoved = removed.length > 0;
    wake?.();
  };
  const watching = new JobWatch(folders, onChange, { only: id, signal: AbortSignal.any([signal, stop.signal]) }).run();
  const aborted = (): void => wake?.();
  signal.addEventListener('abort', aborted, { once: true });
  try {
    for (;;) {
      // No change is missed, because no other code runs between the check and the wait.
      if (!latest && !isRemoved && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
      signal.throwIfAborted();
      const view = latest;
      latest = undefined;
      if (view) yield view;
      if (isRemoved || (view && !isActive(view))) return;
    }
  } finally {
    signal.removeEventListener('abort', aborted);
    stop.abort();
    await watching;
  }
}

/**
 * Returns the given function, else the stored function. For a function that only the server knows, it returns a
 * placeholder.
 * @throws JobError ColumnMissing, FunctionInvalid, FunctionMissing; FunctionNotAccepted if the function would run here
 * and was not accepted on this machine; CatalogError if the table can't be read
 */
async function functionOf(
  { function: given, table, column, allowStoredCode }: BackfillRequest,
  { isToRun }: { readonly isToRun: boolean },
  signal: AbortSignal,
): Promise<ComputedFunction> {
  signal.throwIfAborted();
  if (given) return given;
  return withTable(table, signal, async (opened) => {
    const field = await columnOf(opened, column, signal).catch((error: unknown) => {
      if (!isJobError(error) || error.kind !== 'ColumnMissing') throw error;
      const hint = `${error.hint} To create the column, set its function: ${functionForms}.`;
      throw new JobError('ColumnMissing', error.what, hint, { cause: error });
    });
    const stored = readStored(field);
    if (stored) {
      if (isToRun) checkAccepted(stored.function, table.name, allowStoredCode);
      return stored.function;
    }
    if (engineFunction(field)) {
      const what = `The column "${column}" of "${table.name}" is computed by the engine.`;
      throw new JobError('FunctionMissing', what, `Refresh it: table.refreshColumn("${column}").`);
    }
    if (table.catalog.implementation === 'rest') return serverFunction(field);
    const what = `The column "${column}" of "${table.name}" has no function.`;
    throw new JobError('FunctionMissing', what, `Set one: ${functionForms}.`);
  });
}

/**
 * Checks that the column still exists, because the runner "local" does not create it.
 * @throws JobError ColumnMissing; CatalogError if the table can't be read
 */
async function checkColumn({ table, column }: BackfillRequest, signal: AbortSignal): Promise<void> {
  await withTable(table, signal, async (opened) => {
    const { fields } = await opened.schema({ signal });
    if (fields.some(({ name }) => name === column)) return;
    const what = `The column "${column}" of "${table.name}" was dropped after the job started.`;
    throw new JobError(
      'ColumnMissing',
      what,
      'Start a new backfill with the function of the column. It creates the column again.',
    );
  });
}

/**
 * Stores a given function on the table for later requests, and accepts it. If the server can't store column metadata,
 * the job runs anyway.
 * @throws JobError ColumnMissing, FunctionInvalid; CatalogError
 */
async function keepFunction({ function: fn, table, column }: BackfillRequest, signal: AbortSignal): Promise<void> {
  if (!fn || fn.kind === 'server') return;
  acceptFunction(fn.hash, { name: fn.name, table: table.name });
  await withTable(table, signal, async (opened) => {
    const isKept = async (): Promise<boolean> => (await hashKept(opened, column, signal)) === fn.hash;
    if (await isKept()) return;
    try {
      await registerFunction(opened, column, fn, { signal });
    } catch (error) {
      if (isCatalogError(error, 'Unsupported')) return;
      // Another process may have stored the same function at the same time. Then the error is ignored.
      if (!(await isKept())) throw error;
    }
  });
}

/** Returns undefined if the column is missing or its function damaged. */
async function hashKept(table: Table, column: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await storedFunction(table, column, signal))?.function.hash;
  } catch (error) {
    if (isJobError(error)) return undefined;
    throw error;
  }
}

type JobsPlace = {
  /** Default: the user's folder. */
  readonly folder?: string | undefined;
  /** Path of the bundle of job processes. Default: `job.cjs` beside this bundle. */
  readonly entry?: string | undefined;
  /** Default: the Node.js of this process. */
  readonly node?: NodeRuntime | undefined;
  /** Default: all runners. */
  readonly runners?: Runners | undefined;
};

/** Returns the jobs API. Opens and creates nothing before the first call of a method. */
export function openJobs(place: JobsPlace = {}): Jobs {
  const folders = new JobFolders(place.folder ?? jobsFolder());
  const entry = place.entry ?? join(import.meta.dirname, 'job.cjs');
  const node = place.node ?? thisNode();
  const runners = place.runners ?? { known: knownRunners, load: loadRunner };

  const livenessOf = async (id: string, signal: AbortSignal): Promise<Liveness> => {
    const found = await findProcess(folders.of(id), signal);
    if (found.kind === 'gone') return { ...found, words: startupFailure(folders, id) };
    if (found.kind === 'elsewhere') return found;
    try {
      return { kind: 'here', pid: found.control.pid, answers: await found.control.answers(signal) };
    } finally {
      found.control.close();
    }
  };

  const viewOfRecord = async (record: JobRecord, signal: AbortSignal): Promise<JobView> => {
    if (!isActive(record.progress)) return toJobView(record, { kind: 'gone', words: '' }, Date.now());
    const liveness = await livenessOf(record.id, signal);
    // The record is read again, because the job may have ended meanwhile.
    return toJobView(folders.read(record.id) ?? record, liveness, Date.now());
  };

  const recordOf = (id: string): JobRecord => {
    const record = folders.read(id);
    if (record) return record;
    const what =
      isJobId(id) && existsSync(folders.of(id))
        ? `Can't read the record of job ${id}.`
        : `Job ${id} does not exist on this machine.`;
    throw new JobError('JobMissing', what, 'List the jobs: lance-catalog jobs.');
  };

  const view = async (id: string, signal: AbortSignal): Promise<JobView> => viewOfRecord(recordOf(id), signal);

  const list = (signal: AbortSignal): Promise<readonly JobView[]> => {
    const records = folders.ids().map((id) => folders.read(id));
    return Promise.all(records.filter((record) => record !== undefined).map((record) => viewOfRecord(record, signal)));
  };

  const otherJobAt = async (
    wanted: string,
    but: string | undefined,
    signal: AbortSignal,
  ): Promise<OtherJob | undefined> => {
    for (const id of folders.ids()) {
      const record = folders.read(id);
      if (!record || id === but || record.place !== wanted || !isActive(record.progress)) continue;
      const found = await viewOfRecord(record, signal);
      if (isActive(found)) return { record, view: found };
    }
    return undefined;
  };

  /** Records the failure if the process does not start. */
  const launch = async (record: JobRecord, request: BackfillRequest): Promise<void> => {
    try {
      await startProcess({ folders, id: record.id, request, entry, node });
    } catch (error) {
      const fold = createProgressReducer(record.progress.startedAt ?? record.createdAt);
      fold.add({ kind: 'failed', at: Date.now(), ...failureOf(error) });
      folders.write({ ...record, progress: fold.progress(Date.now()) }, { isLasting: true });
      throw error;
    }
  };

  /**
   * Runs a call while no other process starts or removes jobs. The call must not use a catalog, because a slow catalog
   * would block all other processes.
   */
  const alone = <T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> =>
    withRecordErrors(folders.root, () => withFileLock(join(folders.root, '.start.lock'), signal, call));

  const start: Jobs['start'] = async (asked, signal) => {
    const request = withAbsolutePaths(asked);
    const whole = { ...request, function: await functionOf(request, { isToRun: true }, signal) };
    const joined = async (): Promise<{ id: string; joined: true } | undefined> => {
      const otherJob = await otherJobAt(jobKey(whole), undefined, signal);
      if (!otherJob) return undefined;
      if (isSameWork(otherJob.record, whole)) return { id: otherJob.record.id, joined: true };
      throw busy(otherJob);
    };
    // Other jobs are checked before the table is changed, and again under the lock.
    const other = await joined();
    if (other) return other;
    await checkRows(whole, signal);
    if (asked.function) await keepFunction(whole, signal);
    const choice = await chooseRunner(whole, runners, signal);
    return alone(signal, async () => {
      const another = await joined();
      if (another) return another;
      const record = newRecord(whole, choice);
      folders.create(record, whole);
      await launch(record, whole);
      folders.tidy();
      return { id: record.id, joined: false };
    });
  };

  const resume: Jobs['resume'] = async (id, how, signal) => {
    const resting = async (): Promise<JobRecord> => {
      const record = recordOf(id);
      if (isActive(await viewOfRecord(record, signal))) throw running(id, 'resumed');
      return record;
    };
    const request = withAbsolutePaths(requestToResume(await resting(), folders.readRequest(id), how));
    const whole = { ...request, function: await functionOf(request, { isToRun: true }, signal) };
    // The runner is chosen here, because the job process could not report an error to the caller.
    const choice = await chooseRunner(whole, runners, signal);
    if (choice.runner === 'local') await checkColumn(whole, signal);
    return alone(signal, async () => {
      // The state is read again, because another process may have resumed the job meanwhile.
      const record = await resting();
      const otherJob = await otherJobAt(record.place, id, signal);
      if (otherJob) throw busy(otherJob);
      const { createdAt, source } = record;
      const kept = choice.runner === record.runner ? record.kept : {};
      const again = { ...newRecord(whole, choice, id), createdAt, run: record.run + 1, kept, source };
      folders.writeRequest(id, whole);
      folders.write(again, { isLasting: true });
      await launch(again, whole);
      return { id };
    });
  };

  return {
    plan: async (request, signal) => {
      const fn = await functionOf(request, { isToRun: false }, signal);
      // Loaded lazily, because listing jobs does not need the engine.
      const { planBackfill } = await loadLazy(() => import('#jobs/plan/planBackfill.ts'));
      return planBackfill({ ...withAbsolutePaths(request), function: fn }, signal);
    },
    try: async (request, signal, rows) => {
      const fn = await functionOf(request, { isToRun: true }, signal);
      const { tryBackfill } = await loadLazy(() => import('#jobs/plan/tryBackfill.ts'));
      return tryBackfill({ ...withAbsolutePaths(request), function: fn }, signal, rows);
    },
    start,
    resume,
    list,
    view,
    follow: (id, signal) => followJob({ folders, first: () => view(id, signal), id, signal }),
    watch: (onChange, signal) => new JobWatch(folders, onChange, { signal }).run(),
    log: async (id, from) => readLog(folders.of(recordOf(id).id), from),
    cancel: async (id, signal) => cancelJob({ folders, id: recordOf(id).id, signal }),
    remove: (id, signal) =>
      alone(signal, async () => {
        if (isActive(await view(id, signal))) throw running(id, 'removed');
        folders.remove(id);
      }),
  };
}

type OtherJob = { readonly record: JobRecord; readonly view: JobView };

function newRecord(request: ChoosingRequest, { runner, reason }: RunnerChoice, id?: string): JobRecord {
  const now = Date.now();
  const progress = createProgressReducer(now).progress(now);
  return {
    id: id ?? newJobId(now, randomBytes(8)),
    createdAt: now,
    table: toJobTable(request.table),
    place: jobKey(request),
    column: request.column,
    functionName: request.function.name,
    functionHash: request.function.hash,
    options: openOptions(request),
    runner,
    runnerReason: reason,
    run: 1,
    kept: {},
    progress: { ...progress, state: 'queued', sentence: 'Waiting for the job process to start.' },
  };
}

/** Whether the request can join a running job. */
function isSameWork({ functionHash, options }: JobRecord, request: ChoosingRequest): boolean {
  return (
    functionHash === request.function.hash &&
    options.where === request.where &&
    options.numFrags === request.numFrags &&
    options.readVersion === request.readVersion
  );
}

function busy({ record, view }: OtherJob): JobError {
  const far = progressText(view);
  const what = `Job ${record.id} is already computing "${record.column}" of ${jobTableText(record.table)}${far && ` (${far})`}.`;
  return new JobError(
    'Busy',
    what,
    `Wait until it has finished, or cancel it: lance-catalog jobs cancel ${record.id}.`,
  );
}

const running = (id: string, what: string): JobError =>
  new JobError(
    'JobRunning',
    `Job ${id} can't be ${what}: it is running.`,
    'Cancel it first, or wait until it has finished.',
  );
