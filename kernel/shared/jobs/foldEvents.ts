import { countText } from '#shared/format/numbers.ts';
import { durationText } from '#shared/format/times.ts';
import type { JobEvent, RowError } from './jobEvents.ts';
import { rowsText } from './jobLabels.ts';
import type { JobView } from './jobView.ts';
import { WritePhase } from './writePhase.ts';

/** Totals of a run at a time; seconds are summed over all workers. */
type Sample = {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly rows: number;
  readonly computeSeconds: number;
  readonly readSeconds: number;
  readonly writeSeconds: number;
};

type Workers = { readonly ready: number; readonly wanted: number; readonly waitingFor?: string };

type Pace = {
  /** Samples of the window, oldest first. */
  readonly samples: readonly Sample[];
  readonly workers: Workers | undefined;
  readonly conflicts: readonly { readonly at: number; readonly dropped: number; readonly reason: string }[];
  readonly isPlanned: boolean;
  readonly isWriting: boolean;
  /** Time when the last row was finished, or when the run was planned. */
  readonly lastRowAt: number;
  /** Milliseconds since 1970. */
  readonly now: number;
};

/** If one part of the work takes at least this share of the workers' time, it counts as the bottleneck. */
const mostOfIt = 0.6;
/** With less worker time than this, the shares are not significant. */
const leastSeconds = 1;
/** Time without a finished row after which the job counts as stuck. */
const silenceMs = 15_000;
/** From this number of conflicts in the last minute, conflicts count as a bottleneck. */
const manyConflicts = 2;
const conflictMs = 60_000;

/** Describes the most urgent bottleneck, if any is known. */
function bottleneckOf(pace: Pace): string | undefined {
  return resources(pace) ?? conflicted(pace) ?? silence(pace) ?? slowPart(pace);
}

function resources({ workers }: Pace): string | undefined {
  if (!workers || workers.ready >= workers.wanted) return undefined;
  const { ready, wanted, waitingFor } = workers;
  // Without a reason to wait, the workers are just starting.
  if (waitingFor === undefined) return undefined;
  return `Resources: ${ready} of ${wanted} workers are ready. ${waitingFor}`;
}

function conflicted({ conflicts, now }: Pace): string | undefined {
  const recent = conflicts.filter(({ at }) => at > now - conflictMs);
  const last = recent.at(-1);
  if (!last || recent.length < manyConflicts) return undefined;
  const dropped = recent.reduce((sum, one) => sum + one.dropped, 0);
  const again = dropped === 0 ? '' : `, and ${dropped} ${dropped === 1 ? 'fragment was' : 'fragments were'} discarded`;
  return `Conflicts: another writer changed the table ${recent.length} times in the last minute${again}. ${last.reason}`;
}

function silence({ isPlanned, isWriting, lastRowAt, now }: Pace): string | undefined {
  // No bottleneck before the plan and while rows are written, because no rows are expected then.
  if (!isPlanned || isWriting || now - lastRowAt < silenceMs) return undefined;
  return `No row was finished for ${durationText((now - lastRowAt) / 1000)}.`;
}

function slowPart({ samples }: Pace): string | undefined {
  const first = samples[0];
  const last = samples.at(-1);
  if (!first || !last) return undefined;
  const parts = [
    { seconds: last.computeSeconds - first.computeSeconds, words: 'The function' },
    { seconds: last.readSeconds - first.readSeconds, words: 'Reading from the storage' },
    { seconds: last.writeSeconds - first.writeSeconds, words: 'Writing to the storage' },
  ];
  const all = parts.reduce((sum, { seconds }) => sum + seconds, 0);
  const most = parts.find(({ seconds }) => seconds >= all * mostOfIt);
  if (!most || all < leastSeconds) return undefined;
  return `${most.words} takes ${Math.round((100 * most.seconds) / all)} % of the workers' time.`;
}

/** The part of a job's view that its events determine. */
export type JobProgress = Pick<
  JobView,
  | 'state'
  | 'sentence'
  | 'failure'
  | 'startedAt'
  | 'endedAt'
  | 'phase'
  | 'written'
  | 'share'
  | 'rows'
  | 'fragments'
  | 'rowsPerSecond'
  | 'secondsLeft'
  | 'errors'
  | 'skipped'
  | 'conflicts'
  | 'bytesWritten'
  | 'version'
  | 'bottleneck'
>;

/**
 * Returns the progress of a job that has no process and no end event. The result has no rate, estimate or bottleneck.
 */
export const idleProgress = (
  progress: JobProgress,
  end: Pick<JobProgress, 'state' | 'sentence'> & { readonly endedAt?: number },
): JobProgress => ({
  ...progress,
  phase: undefined,
  rowsPerSecond: undefined,
  secondsLeft: undefined,
  bottleneck: undefined,
  ...end,
});

const windowMs = 30_000;
/** A window must cover at least this time. The rate of a shorter window is random. */
const leastWindowMs = 1500;
/** A longer gap between events counts as idle time, because events come every half second. */
const pauseMs = 3000;
const maxSamples = 20;

/** Folds the events of one run, in their order, into the progress of the job. */
type RunFold = {
  add(event: JobEvent): void;
  /** @param now milliseconds since 1970 */
  progress(now: number): JobProgress;
};

/** Starts the fold of a run. The fold reads no clock, so the same events always give the same result. */
export function createProgressReducer(startedAt: number): RunFold {
  let planned: Extract<JobEvent, { kind: 'planned' }> | undefined;
  let latest: Sample = { at: startedAt, rows: 0, computeSeconds: 0, readSeconds: 0, writeSeconds: 0 };
  let samples: Sample[] = [];
  let workers: Workers | undefined;
  let end: Extract<JobEvent, { kind: 'succeeded' | 'failed' | 'cancelled' }> | undefined;
  const counted = { errorEvents: 0, errors: 0, bytesWritten: 0, fragmentRows: 0 };
  const errorSamples: RowError[] = [];
  const committed = new Set<number>();
  const conflicts: { at: number; dropped: number; reason: string }[] = [];
  let version: number | undefined;
  let lastRowAt = startedAt;
  let restarted: { at: number; text: string } | undefined;
  let notice: string | undefined;
  let plannedAt = startedAt;
  const writing = new WritePhase();
  /** Returns a time without the time spent on writing rows, so that the rate is the rate of computing. */
  const computingTime = (at: number): number => at - writing.millisecondsUntil(at);

  const updateShare = (at: number): void => {
    if (!planned || !writing.isSeparate) return;
    const { rows: total, reusedRows: reused } = planned;
    const computeSeconds = Math.max(0, computingTime(at) - plannedAt) / 1000;
    writing.update({ computed: latest.rows, reused, total, computeSeconds });
  };

  const add = (event: JobEvent): void => {
    // A notice stays until the next event; events of waiting workers do not count.
    if (event.kind !== 'workers') notice = undefined;
    switch (event.kind) {
      case 'planned':
        // The time before the first plan was preparation and not computing, so the samples start here.
        if (!planned) {
          samples = [{ ...latest, at: event.at }];
          plannedAt = event.at;
        }
        writing.plan(event.writesBack ?? false);
        lastRowAt = event.at;
        // The runner sends this event again if rows were added, with the totals of all work since the start.
        planned = event;
        break;
      case 'workers':
        workers = event;
        break;
      case 'progress':
        if (event.rows > latest.rows) lastRowAt = event.at;
        latest = event;
        counted.errors = Math.max(counted.errors, event.errors);
        samples = kept(samples.concat({ ...event, at: computingTime(event.at) }), computingTime(event.at));
        updateShare(event.at);
        break;
      case 'fragment':
        counted.bytesWritten += event.bytesWritten;
        counted.fragmentRows += event.computedRows;
        break;
      case 'errors':
        counted.errorEvents += event.count;
        errorSamples.push(...event.samples.slice(0, maxSamples - errorSamples.length));
        break;
      case 'committed':
        for (const fragment of event.fragments) committed.add(fragment);
        version = event.version;
        if (writing.isWriting) lastRowAt = event.at;
        writing.finish(event.at, event.rows ?? 0);
        updateShare(event.at);
        break;
      case 'writing':
        writing.start(event.at, event.rows);
        break;
      case 'conflict':
        conflicts.push({ at: event.at, dropped: event.dropped.length, reason: event.reason });
        break;
      case 'restarted':
        restarted = { at: event.at, text: `The ${event.what} was started again: ${event.reason}` };
        break;
      case 'notice':
        notice = event.text;
        break;
      case 'succeeded':
      case 'failed':
      case 'cancelled':
        end = event;
        break;
    }
  };

  const rowsOf = (): JobView['rows'] => {
    const reused = planned?.reusedRows ?? 0;
    const computed = Math.max(latest.rows, counted.fragmentRows);
    const total = planned?.rows;
    // The sum is limited to the total, because rows that a conflict drops are computed and counted again.
    const done = total === undefined ? reused + computed : Math.min(total, reused + computed);
    if (end?.kind !== 'succeeded') return { done, total, reused };
    // The runner may reuse fewer rows than planned.
    return { done: end.rows, total: end.rows, reused: Math.min(end.rows, end.reusedRows ?? reused) };
  };

  const fragmentsOf = (): JobView['fragments'] => {
    const before = planned?.committedFragments ?? 0;
    const total = planned && before + planned.fragments;
    const done = before + committed.size;
    return { done: total === undefined ? done : Math.min(total, done), total };
  };

  const progress = (now: number): JobProgress => {
    const rows = rowsOf();
    const fragments = fragmentsOf();
    const errors = Math.max(counted.errors, counted.errorEvents);
    const state = end?.kind ?? (planned ? 'running' : 'starting');
    const isWriting = state === 'running' && writing.isWriting;
    const inWindow = kept(samples, computingTime(now));
    const silent = isWriting ? 0 : now - lastRowAt;
    const rate = state === 'running' && silent < silenceMs ? rateOf(inWindow, computingTime(now)) : undefined;
    const secondsLeft = state === 'running' ? estimate(rows, rate, writing, now) : undefined;
    return {
      state,
      sentence: sentenceOf({ end, planned, workers, writing, rows, fragments, startedAt, restarted, notice, now }),
      failure: end?.kind === 'failed' ? { code: end.code, message: end.message, hint: end.hint } : undefined,
      startedAt,
      endedAt: end?.at,
      phase: state !== 'running' ? undefined : isWriting ? 'writing' : 'computing',
      written: writing.isSeparate ? writing.written : undefined,
      share: writing.isSeparate ? writing.share : undefined,
      rows,
      fragments,
      // No row is computed while rows are written.
      rowsPerSecond: isWriting ? undefined : rate,
      // After a silence that is longer than the estimate, the estimate is not shown.
      secondsLeft: silent > pauseMs && silent / 1000 > (secondsLeft ?? 0) ? undefined : secondsLeft,
      errors: { count: end?.kind === 'succeeded' ? end.errors : errors, samples: errorSamples.slice() },
      skipped: end?.kind === 'succeeded' ? end.skipped : 0,
      conflicts: conflicts.length,
      bytesWritten: end?.kind === 'succeeded' ? end.bytesWritten : counted.bytesWritten,
      version: end?.kind === 'succeeded' ? end.version : version,
      bottleneck: end
        ? undefined
        : bottleneckOf({ samples: inWindow, workers, conflicts, lastRowAt, now, isPlanned: !!planned, isWriting }),
    };
  };

  return { add, progress };
}

/**
 * Returns the samples of the window, and the last sample before the window. With the sample before it, even a window
 * with one sample has a rate.
 */
function kept(samples: readonly Sample[], now: number): Sample[] {
  const first = samples.findIndex(({ at }) => at > now - windowMs);
  return first < 0 ? samples.slice(-1) : samples.slice(Math.max(0, first - 1));
}

function rateOf(samples: readonly Sample[], now: number): number | undefined {
  const first = samples[0];
  const last = samples.at(-1);
  if (!first || !last) return undefined;
  const until = now - last.at > pauseMs ? now : last.at;
  if (until - first.at < leastWindowMs) return undefined;
  return Math.max(0, last.rows - first.rows) / ((until - first.at) / 1000);
}

/** Estimates the seconds until all rows are computed and, if the runner writes them in a separate step, written. */
function estimate(
  { done, total }: JobView['rows'],
  rate: number | undefined,
  writing: WritePhase,
  now: number,
): number | undefined {
  if (total === undefined) return undefined;
  const left = total - done;
  const computing = rate !== undefined && rate > 0 ? left / rate : undefined;
  if (!writing.isSeparate) return computing;
  const toWrite = writing.secondsLeft(total, now);
  // After the last row is written, the runner only finishes the column. The time for this is unknown.
  if (writing.written >= total || toWrite === undefined) return undefined;
  return left === 0 ? toWrite : computing && computing + toWrite;
}

type Told = {
  readonly end: Extract<JobEvent, { kind: 'succeeded' | 'failed' | 'cancelled' }> | undefined;
  readonly planned: Extract<JobEvent, { kind: 'planned' }> | undefined;
  readonly workers: Workers | undefined;
  readonly writing: WritePhase;
  readonly rows: JobView['rows'];
  readonly fragments: JobView['fragments'];
  readonly startedAt: number;
  readonly restarted: { at: number; text: string } | undefined;
  /** The last notice, until the job continues. */
  readonly notice: string | undefined;
  readonly now: number;
};

function sentenceOf({ end, planned, workers, writing, rows, fragments, startedAt, ...told }: Told): string {
  switch (end?.kind) {
    case 'succeeded':
      return doneSentence(end, rows.reused, startedAt);
    case 'failed':
      return end.message;
    case 'cancelled':
      return 'The job was cancelled. Computed rows are kept: resume the job to continue.';
    case undefined:
      break;
  }
  const { notice, restarted, now } = told;
  if (notice !== undefined) return notice;
  if (writing.isWriting) return writingSentence(writing, planned?.rows ?? 0);
  if (restarted && now - restarted.at < windowMs) return restarted.text;
  if (!planned) return 'Checking what to compute.';
  if (workers && workers.ready === 0)
    return workers.wanted === 1 ? 'Waiting for the worker.' : `Waiting for the first of ${workers.wanted} workers.`;
  const { done, total } = fragments;
  if (planned.rows === 0 && planned.fragments === 0) return 'There is nothing left to compute.';
  if (writing.isSeparate && writing.written >= planned.rows) return 'All rows are in the table. Finishing the column.';
  // A single fragment is in the table only when the job ends, so a count of fragments would say nothing.
  if (total === undefined || total === 1) return 'Computing.';
  return `Computing: ${countText(done)} of ${countText(total)} fragments are in the table.`;
}

function writingSentence({ written, rowsNow }: WritePhase, total: number): string {
  if (rowsNow >= total) return `Writing ${rowsText(rowsNow)} to the table…`;
  return `Writing ${rowsText(rowsNow)} to the table: ${countText(written)} of ${rowsText(total)} are written.`;
}

/** @param reused rows that an earlier run had computed */
function doneSentence(
  { at, rows, errors, skipped }: Extract<JobEvent, { kind: 'succeeded' }>,
  reused: number,
  startedAt: number,
): string {
  if (rows === 0 && errors === 0 && skipped === 0) return 'There was nothing to compute.';
  const took = durationText((at - startedAt) / 1000);
  if (reused > 0 && reused === rows) return `${rowsText(reused)} kept from an earlier run, written in ${took}.`;
  const fromBefore = reused > 0 ? `${countText(reused)} kept from an earlier run` : '';
  const failed = errors > skipped ? `${countText(errors - skipped)} of them failed and stayed null` : '';
  const left = skipped > 0 ? `${countText(skipped)} of them failed, left for the next run` : '';
  const computed = `${rowsText(rows - reused)} computed in ${took}`;
  return `${[computed, failed, left, fromBefore].filter((part) => part !== '').join('; ')}.`;
}
