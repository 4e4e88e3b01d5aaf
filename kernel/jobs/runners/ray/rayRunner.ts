import { followRayJob } from '#cluster/ray/followRayJob.ts';
import { isClusterError } from '#cluster/errors.ts';
import { isFinished, type RayJob } from '#cluster/ray/rayReplies.ts';
import type { RayJobs } from '#cluster/ray/rayJobs.ts';
import type { Availability, RunContext, Runner } from '#jobs/runners/runner.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { isAbort, messageOf } from '#shared/errors.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { launchOnRay } from './launchOnRay.ts';
import { jobErrorOf, withRay } from './openRay.ts';
import { failureOf, reportPending } from './rayPending.ts';
import { RayEvents } from './rayEvents.ts';

/**
 * Names of the values that are kept for the next process: the id of the Ray job, the submitted id, the log position and
 * the attempt.
 */
const kept = { submission: 'ray.submission', sent: 'ray.sent', known: 'ray.known', attempt: 'ray.attempt' } as const;

/** Milliseconds to end a job on Ray and read its log. Ray gives a driver three seconds to end. */
const endingMs = 60_000;

/**
 * Runs jobs on Ray. The driver continues if this process ends or loses its connection; the next process finds the
 * driver by the id of the job.
 * @param silence milliseconds without a response after which this job fails; the job on Ray continues
 */
export function createRayRunner(silence = 30 * 60_000): Runner {
  return {
    name: 'ray',
    availability,
    run: async (context) => {
      try {
        await run(context, silence);
      } catch (error) {
        context.signal.throwIfAborted();
        throw jobErrorOf(error);
      }
    },
  };
}

export const rayRunner: Runner = createRayRunner();

async function availability(request: BackfillRequest, signal: AbortSignal): Promise<Availability> {
  if (request.function?.kind === 'server')
    return { isPossible: false, reason: 'Only the catalog server can compute this column.' };
  if (!request.ray) return { isPossible: false, reason: 'No Ray address or profile is set.' };
  try {
    return await withRay(request.ray, AbortSignal.any([signal, AbortSignal.timeout(20_000)]), async (jobs, limit) => {
      const { version } = await jobs.version(limit);
      return { isPossible: true, reason: `${jobs.subject} is version ${version}.` };
    });
  } catch (error) {
    signal.throwIfAborted();
    if (isAbort(error)) throw error;
    return { isPossible: false, reason: messageOf(error) };
  }
}

async function run(context: RunContext, silence: number): Promise<void> {
  const { request, spec, signal } = context;
  if (!request.ray)
    throw new JobError('RequestInvalid', 'No Ray address or profile is set.', 'Set the address as "ray".');
  if (spec.table.uri === '')
    throw new JobError(
      'RunnerUnavailable',
      "The catalog does not report the location of the table, so Ray can't reach it.",
      'Choose the runner "rest", or connect to the folder of the tables.',
    );
  await withRay(request.ray, signal, async (jobs, live) => {
    const version = await jobs.version(live);
    const submissionId = await submissionOf(context, jobs, live);
    try {
      const there = await statusOf(jobs, submissionId, live);
      if (!there) {
        await launchOnRay(jobs, { context, submissionId, version }, live);
        context.kept.set(kept.sent, submissionId);
      } else context.emit({ kind: 'restarted', what: 'connection', reason: `Reconnected to Ray job ${submissionId}.` });
      await follow(context, jobs, submissionId, { silence, signal: live });
    } catch (error) {
      if (signal.aborted) await cancel(context, jobs, submissionId);
      if (isClusterError(error) && error.kind === 'NotFound')
        throw new JobError('RayJobFailed', error.what, `${error.hint} Resume the job: computed rows are kept.`);
      throw error;
    }
  });
}

/**
 * Returns the id of an earlier process's Ray job if it is running, has succeeded or was not submitted yet; otherwise a
 * new id. The id is stored before the job is submitted, so that no job on Ray is lost.
 */
async function submissionOf(context: RunContext, jobs: RayJobs, signal: AbortSignal): Promise<string> {
  const known = context.kept.get(kept.submission);
  if (known) {
    const job = await statusOf(jobs, known, signal);
    // An id that Ray has forgotten is not reused, because leftovers of the old job could end a new one.
    const goesOn = job ? !isFinished(job.state) || job.state === 'SUCCEEDED' : context.kept.get(kept.sent) !== known;
    if (goesOn) return known;
  }
  const attempt = Number(context.kept.get(kept.attempt) ?? '0') + 1;
  const id = attempt === 1 ? context.spec.jobId : `${context.spec.jobId}-${attempt}`;
  context.kept.set(kept.attempt, String(attempt));
  context.kept.set(kept.known, '0');
  context.kept.set(kept.submission, id);
  return id;
}

async function statusOf(jobs: RayJobs, submissionId: string, signal: AbortSignal): Promise<RayJob | undefined> {
  try {
    return await jobs.status(submissionId, signal);
  } catch (error) {
    if (isClusterError(error) && error.kind === 'NotFound') return undefined;
    throw error;
  }
}

async function follow(
  context: RunContext,
  jobs: RayJobs,
  submissionId: string,
  { silence, signal }: { readonly silence: number; readonly signal: AbortSignal },
): Promise<void> {
  const events = new RayEvents(context, (known) => context.kept.set(kept.known, String(known)));
  const goesOn = 'The job continues there.';
  const job = await followRayJob(
    jobs,
    {
      submissionId,
      known: Number(context.kept.get(kept.known) ?? '0'),
      onText: (text, known) => events.take(text, known),
      onJob: reportPending(context, jobs, signal),
      onLost: ({ what }) => context.emit({ kind: 'notice', text: `${what} ${goesOn}` }),
      onReturn: (reason) => context.emit({ kind: 'restarted', what: 'connection', reason }),
      patience: silence,
    },
    signal,
  );
  events.finish();
  // Removes the id, so that the next run starts a new job on Ray.
  context.kept.set(kept.submission, '');
  const failure = failureOf(jobs.subject, job, events.end);
  if (failure) throw failure;
  if (events.end) context.emit(events.end);
}

/** Ends the job on Ray and handles the rest of its log. */
async function cancel(context: RunContext, jobs: RayJobs, submissionId: string): Promise<void> {
  const signal = AbortSignal.timeout(endingMs);
  try {
    const job = await jobs.stop(submissionId, signal);
    if (!isFinished(job.state)) {
      const text = `${submissionId} has not started on Ray. Ray will stop it as soon as it starts.`;
      context.emit({ kind: 'notice', text });
      return;
    }
    const known = Number(context.kept.get(kept.known) ?? '0');
    const events = new RayEvents(context, (now) => context.kept.set(kept.known, String(now)));
    const log = await jobs.log(submissionId, signal);
    events.take(log.slice(known), log.length);
    events.finish();
    context.kept.set(kept.submission, '');
  } catch (error) {
    if (isClusterError(error) && error.kind === 'NotFound') return;
    const text = `Can't check whether ${submissionId} has ended on Ray: ${messageOf(error)}`;
    context.emit({ kind: 'notice', text });
  }
}
