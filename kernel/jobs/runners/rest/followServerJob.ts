import { setTimeout as sleep } from 'node:timers/promises';
import type { Catalog } from '#catalog/catalog.ts';
import type { JobDescription } from '#catalog/jobs.ts';
import type { RunContext } from '#jobs/runners/runner.ts';
import { isAbort, isCatalogError, messageOf } from '#shared/errors.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import type { ServerProgress } from './serverProgress.ts';

/** Milliseconds between requests for events. The interval is long, because servers send all events each time. */
const pauseMs = 5000;
/** Maximum logged events of a job. The number is limited, because a server may send an event for each row. */
const most = 10_000;

/** Writes new events to the log. With `isLast`, it requests them even if the last request was recent. */
type LogWriter = (signal: AbortSignal, isLast?: boolean) => Promise<void>;

/**
 * Logs new events of the server as JSON lines. If the server does not provide events, they are requested only once, and
 * the job continues.
 */
function serverLog({ log }: Pick<RunContext, 'log'>, { jobs }: Pick<Catalog, 'jobs'>, id: string): LogWriter {
  let told = 0;
  let askedAt = -Infinity;
  let isThere = true;
  return async (signal, isLast = false) => {
    if (!isThere || told >= most || (!isLast && performance.now() - askedAt < pauseMs)) return;
    askedAt = performance.now();
    let seen = 0;
    try {
      for await (const batch of jobs.events(id, { signal }))
        for (const row of batch) {
          if (seen++ < told || told >= most) continue;
          told++;
          log(`${JSON.stringify(row, asText)}\n`);
        }
    } catch (error) {
      if (signal.aborted || !isCatalogError(error)) throw error;
      isThere = error.kind === 'ServiceUnavailable' || error.kind === 'Throttling';
    }
  };
}

/** Bigints become strings, because JSON has no bigints. */
const asText = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

/** What the server did when the job failed, by words in the names of phases. */
const phases: readonly [word: RegExp, said: string][] = [
  [/queue|pending|schedul/i, 'while it was queued'],
  [/plan|prepare|init|valid/i, 'while it planned the job'],
  [/commit/i, 'while it committed the computed rows'],
  [/read|scan|load/i, 'while it read the table'],
  [/write|flush|checkpoint/i, 'while it wrote the computed rows'],
  [/run|exec|appl|comput|udf/i, 'while it ran the function'],
];

function failureOf(id: string, failure: JobDescription['failure']): JobError {
  if (!failure)
    return new JobError('ServerRefused', `The server's job ${id} failed, and the server reports no reason.`, logHint);
  const { phase = '', message, retryable } = failure;
  const said = phases.find(([word]) => word.test(phase))?.[1] ?? (phase === '' ? '' : `in its phase ${phase}`);
  const what = `The server's job ${id} failed${said === '' ? '' : ` ${said}`}: ${message.replace(/[.!?]?\s*$/, '.')}`;
  if (retryable === true)
    return new JobError('ServerRefused', what, 'Resume the job: the server reports that it may succeed.');
  return new JobError('ServerRefused', what, retryable === false ? `Fix this first. ${logHint}` : logHint);
}

const logHint = 'See the log of the job for what the server reported.';

/** Durations in milliseconds. */
export type Patience = {
  readonly firstPause: number;
  readonly longestPause: number;
  /** If there is no response for this long, this job fails; the job on the server continues. */
  readonly silence: number;
};

type Following = {
  readonly context: RunContext;
  readonly catalog: Catalog;
  readonly id: string;
  readonly rows: ServerProgress;
  readonly patience: Patience;
};

/** Milliseconds for the server to end a cancelled job. */
const endingMs = 60_000;

/**
 * Follows a job of the server to its end.
 * @throws JobError ServerRefused if it fails, another client cancels it, or the server no longer responds; an
 * AbortError if it was cancelled here
 */
export async function followServerJob(following: Following): Promise<void> {
  const { context, id } = following;
  const { signal } = context;
  const tellLog = serverLog(context, following.catalog, id);
  let last: JobDescription;
  try {
    last = await untilEnded(following, tellLog, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    last = await cancelled(following);
    if (last.state !== 'finished') throw signal.reason instanceof Error ? signal.reason : error;
  }
  await tellLog(AbortSignal.timeout(endingMs), true);
  if (last.state === 'failed') throw failureOf(id, last.failure);
  if (last.state === 'cancelled')
    throw new JobError(
      'ServerRefused',
      `The server's job ${id} was cancelled by another client.`,
      'Resume it to continue.',
    );
  await tellSuccess(following);
}

const isOver = ({ state }: JobDescription): boolean => state !== 'queued' && state !== 'running';

async function untilEnded(following: Following, tellLog: LogWriter, signal: AbortSignal): Promise<JobDescription> {
  const { context, rows, patience } = following;
  let pause = patience.firstPause;
  let isRunning = false;
  let told: number | undefined;
  let silentSince: number | undefined;
  for (;;) {
    try {
      const job = await following.catalog.jobs.describe(following.id, { signal });
      if (silentSince !== undefined)
        context.emit({ kind: 'restarted', what: 'connection', reason: 'The server responds again.' });
      silentSince = undefined;
      if (isOver(job)) return job;
      if (job.state === 'running' && !isRunning) {
        isRunning = true;
        pause = patience.firstPause;
        context.emit({ kind: 'workers', ready: 1, wanted: 1 });
      } else if (job.state === 'queued' && !isRunning && pause === patience.firstPause)
        context.emit({ kind: 'workers', ready: 0, wanted: 1, waitingFor: 'The job is queued on the server.' });
      const done = isRunning ? await rows.done(signal) : undefined;
      if (done !== undefined && done !== told) {
        told = done;
        context.emit({ kind: 'progress', rows: done, errors: 0, computeSeconds: 0, readSeconds: 0, writeSeconds: 0 });
      }
      await tellLog(signal);
    } catch (error) {
      if (signal.aborted || isAbort(error) || !isPassing(error)) throw error;
      if (silentSince === undefined)
        context.emit({ kind: 'notice', text: `The server does not respond: ${messageOf(error)}` });
      silentSince ??= performance.now();
      if (performance.now() - silentSince > patience.silence) throw gone(following.id, error);
    }
    await sleep(pause, undefined, { signal });
    pause = Math.min(pause * 1.5, patience.longestPause);
  }
}

/** Whether an error is temporary, so that the job continues. */
const isPassing = (error: unknown): boolean =>
  isCatalogError(error) && (error.kind === 'ServiceUnavailable' || error.kind === 'Throttling' || error.status >= 500);

const gone = (id: string, cause: unknown): JobError =>
  new JobError(
    'ServerRefused',
    `The server has not responded for a long time: ${messageOf(cause)}`,
    `The server may still be running its job ${id}. When the server responds again, resume this job to continue following it.`,
    { cause },
  );

async function cancelled({ catalog, id, patience }: Following): Promise<JobDescription> {
  const signal = AbortSignal.timeout(endingMs);
  await catalog.jobs.cancel(id, { signal });
  for (;;) {
    const job = await catalog.jobs.describe(id, { signal });
    if (isOver(job)) return job;
    await sleep(patience.firstPause, undefined, { signal });
  }
}

async function tellSuccess({ context, catalog, rows }: Following): Promise<void> {
  const { name, namespacePath } = context.request.table;
  const signal = AbortSignal.timeout(endingMs);
  const table = await catalog.openTable(name, [...namespacePath], { signal });
  const [version, done] = await Promise.all([table.version({ signal }), rows.done(signal)]);
  const left = done === undefined ? 0 : rows.plan.rows - done;
  if (left > 0)
    context.emit({
      kind: 'notice',
      text: `${left} ${left === 1 ? 'row has' : 'rows have'} no value: the function returned none, the server skipped the row, or the row is new.`,
    });
  const computed = done ?? rows.plan.rows;
  context.emit({ kind: 'progress', rows: computed, errors: 0, computeSeconds: 0, readSeconds: 0, writeSeconds: 0 });
  // Servers report neither bytes nor failed rows.
  context.emit({ kind: 'succeeded', rows: computed, errors: 0, skipped: 0, bytesWritten: 0, version });
}
