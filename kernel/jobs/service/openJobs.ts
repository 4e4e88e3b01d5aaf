import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { thisNode, type NodeRuntime } from '#client/childProcess.ts';
import { jobsFolder } from '#client/jobsFolder.ts';
import { failureOf } from '#jobs/failureOf.ts';
import { whileLocked } from '#jobs/fileLock.ts';
import { findProcess } from '#jobs/records/control.ts';
import { JobFolders } from '#jobs/records/jobFolder.ts';
import { readLog } from '#jobs/records/jobLog.ts';
import type { JobRecord } from '#jobs/records/jobRecord.ts';
import { writingRecords } from '#jobs/records/recordErrors.ts';
import { viewOf, type Liveness } from '#jobs/records/viewOf.ts';
import { openOptions } from '#jobs/records/withoutSecrets.ts';
import { checkRows } from '#jobs/plan/checkWhere.ts';
import { chooseRunner, type ChoosingRequest, type RunnerChoice, type Runners } from '#jobs/plan/chooseRunner.ts';
import { knownRunners, loadRunner } from '#jobs/runners/all.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { foldRun } from '#shared/jobs/foldEvents.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { isJobId, newJobId } from '#shared/jobs/jobId.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { isActive, jobTableText, progressText } from '#shared/jobs/jobWords.ts';
import { loadPart } from '#shared/loadPart.ts';
import { cancelJob } from './cancelJob.ts';
import { keepFunction } from './keepFunction.ts';
import { checkColumn, functionOf } from './functionOf.ts';
import { followJob } from './followJob.ts';
import type { Jobs } from './jobs.ts';
import { JobWatch } from './jobWatch.ts';
import { jobTableOf, placeOf, withAbsolutePaths } from './place.ts';
import { requestToResume } from './resumeRequest.ts';
import { startProcess, wordsOf } from './startProcess.ts';

export type JobsPlace = {
  /** Where records are kept; the person's own folder when not given. */
  readonly folder?: string | undefined;
  /** The bundle of a job's process; the one beside this bundle when not given. */
  readonly entry?: string | undefined;
  /** What runs it; the Node of this process when not given. */
  readonly node?: NodeRuntime | undefined;
  /** What jobs can be run by; all that there are when not given. */
  readonly runners?: Runners | undefined;
};

/** The jobs of this person on this machine. Nothing is opened or made before something is asked. */
export function openJobs(place: JobsPlace = {}): Jobs {
  const folders = new JobFolders(place.folder ?? jobsFolder());
  const entry = place.entry ?? join(import.meta.dirname, 'job.cjs');
  const node = place.node ?? thisNode();
  const runners = place.runners ?? { known: knownRunners, load: loadRunner };

  const livenessOf = async (id: string, signal: AbortSignal): Promise<Liveness> => {
    const found = await findProcess(folders.of(id), signal);
    if (found.kind === 'gone') return { ...found, words: wordsOf(folders, id) };
    if (found.kind === 'elsewhere') return found;
    try {
      return { kind: 'here', pid: found.control.pid, answers: await found.control.answers(signal) };
    } finally {
      found.control.close();
    }
  };

  const viewOfRecord = async (record: JobRecord, signal: AbortSignal): Promise<JobView> => {
    if (!isActive(record.progress)) return viewOf(record, { kind: 'gone', words: '' }, Date.now());
    const liveness = await livenessOf(record.id, signal);
    // It may have come to its end while it was asked.
    return viewOf(folders.read(record.id) ?? record, liveness, Date.now());
  };

  const recordOf = (id: string): JobRecord => {
    const record = folders.read(id);
    if (record) return record;
    const what =
      isJobId(id) && existsSync(folders.of(id))
        ? `The record of job ${id} can't be read.`
        : `There is no job ${id} here.`;
    throw new JobError('JobMissing', what, 'List the jobs there are: lance-catalog jobs.');
  };

  const view = async (id: string, signal: AbortSignal): Promise<JobView> => viewOfRecord(recordOf(id), signal);

  const list = (signal: AbortSignal): Promise<readonly JobView[]> => {
    const records = folders.ids().map((id) => folders.read(id));
    return Promise.all(records.filter((record) => record !== undefined).map((record) => viewOfRecord(record, signal)));
  };

  /** The job that is at the same column of the same table now, if any. */
  const rivalOf = async (wanted: string, but: string | undefined, signal: AbortSignal): Promise<Rival | undefined> => {
    for (const id of folders.ids()) {
      const record = folders.read(id);
      if (!record || id === but || record.place !== wanted || !isActive(record.progress)) continue;
      const found = await viewOfRecord(record, signal);
      if (isActive(found)) return { record, view: found };
    }
    return undefined;
  };

  /** Puts a run into the record and starts its process; what keeps it from starting is in the record too. */
  const begin = async (record: JobRecord, request: BackfillRequest): Promise<void> => {
    try {
      await startProcess({ folders, id: record.id, request, entry, node });
    } catch (error) {
      const fold = foldRun(record.progress.startedAt ?? record.createdAt);
      fold.add({ kind: 'failed', at: Date.now(), ...failureOf(error) });
      folders.write({ ...record, progress: fold.progress(Date.now()) }, { isLasting: true });
      throw error;
    }
  };

  /**
   * What takes a column, or begins or removes a job, is done by one process at a time. Nothing is asked of a catalog meanwhile:
   * one that is slow to answer would keep all others waiting.
   */
  const alone = <T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> =>
    writingRecords(folders.root, () => whileLocked(join(folders.root, '.start.lock'), signal, call));

  const start: Jobs['start'] = async (asked, signal) => {
    const request = withAbsolutePaths(asked);
    const whole = { ...request, function: await functionOf(request, { isToRun: true }, signal) };
    const joined = async (): Promise<{ id: string; joined: true } | undefined> => {
      const rival = await rivalOf(placeOf(whole), undefined, signal);
      if (!rival) return undefined;
      if (isSameWork(rival.record, whole)) return { id: rival.record.id, joined: true };
      throw busy(rival);
    };
    // Before the table is touched; and once more when nobody else can start one.
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
      await begin(record, whole);
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
    // Before there is a process, which could only decide it too late to tell it to whoever asked.
    const choice = await chooseRunner(whole, runners, signal);
    if (choice.runner === 'local') await checkColumn(whole, signal);
    return alone(signal, async () => {
      // Somebody else may have been quicker.
      const record = await resting();
      const rival = await rivalOf(record.place, id, signal);
      if (rival) throw busy(rival);
      const { createdAt, source } = record;
      const kept = choice.runner === record.runner ? record.kept : {};
      const again = { ...newRecord(whole, choice, id), createdAt, run: record.run + 1, kept, source };
      folders.writeRequest(id, whole);
      folders.write(again, { isLasting: true });
      await begin(again, whole);
      return { id };
    });
  };

  return {
    plan: async (request, signal) => {
      const fn = await functionOf(request, { isToRun: false }, signal);
      // With the engine, which nobody needs to look at jobs.
      const { planBackfill } = await loadPart(() => import('#jobs/plan/planBackfill.ts'));
      return planBackfill({ ...withAbsolutePaths(request), function: fn }, signal);
    },
    try: async (request, signal) => {
      const fn = await functionOf(request, { isToRun: true }, signal);
      const { tryBackfill } = await loadPart(() => import('#jobs/plan/tryBackfill.ts'));
      return tryBackfill({ ...withAbsolutePaths(request), function: fn }, signal);
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

type Rival = { readonly record: JobRecord; readonly view: JobView };

function newRecord(request: ChoosingRequest, { runner, reason }: RunnerChoice, id?: string): JobRecord {
  const now = Date.now();
  const progress = foldRun(now).progress(now);
  return {
    id: id ?? newJobId(now, randomBytes(8)),
    createdAt: now,
    table: jobTableOf(request.table),
    place: placeOf(request),
    column: request.column,
    functionName: request.function.name,
    functionHash: request.function.hash,
    options: openOptions(request),
    runner,
    runnerReason: reason,
    run: 1,
    kept: {},
    progress: { ...progress, state: 'queued', sentence: 'It waits for its process to come up.' },
  };
}

/** Whether a job does what is asked for: then there is nothing to do but to watch it. */
function isSameWork({ functionHash, options }: JobRecord, request: ChoosingRequest): boolean {
  return (
    functionHash === request.function.hash &&
    options.where === request.where &&
    options.numFrags === request.numFrags &&
    options.readVersion === request.readVersion
  );
}

function busy({ record, view }: Rival): JobError {
  const far = progressText(view);
  const what = `Job ${record.id} is at "${record.column}" of ${jobTableText(record.table)} already${far && ` (${far})`}.`;
  return new JobError('Busy', what, `Wait for it, or end it: lance-catalog jobs cancel ${record.id}.`);
}

const running = (id: string, what: string): JobError =>
  new JobError('JobRunning', `Job ${id} runs, so it can't be ${what}.`, 'Cancel it first, or wait for its end.');
