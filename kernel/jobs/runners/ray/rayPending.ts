import { isClusterError } from '#cluster/errors.ts';
import type { RayJobs } from '#cluster/ray/rayJobs.ts';
import type { RayJob } from '#cluster/ray/rayReplies.ts';
import { pendingReason } from '#cluster/ray/rayRoom.ts';
import type { RunContext } from '#jobs/runners/runner.ts';
import { isJobErrorKind, JobError } from '#shared/jobs/jobErrors.ts';
import type { DriverEnd } from './rayEvents.ts';

const goOn = 'Resume the job: computed rows are kept and not computed again.';

/**
 * Returns why a finished job did not succeed, `undefined` if it did. The driver reports the reason, but the state in
 * Ray decides, because a killed driver reports nothing.
 */
export function failureOf(subject: string, job: RayJob, end: DriverEnd | undefined): JobError | undefined {
  const named = `The job ${job.submissionId} of ${subject}`;
  if (end?.kind === 'failed' && job.state !== 'STOPPED')
    return new JobError(isJobErrorKind(end.code) ? end.code : 'RayJobFailed', end.message, end.hint);
  if (job.state === 'STOPPED') return new JobError('RayJobFailed', `${named} was stopped by another client.`, goOn);
  if (job.state === 'SUCCEEDED') {
    if (end?.kind === 'succeeded') return undefined;
    const what = `${named} ended without an error, but did not report success.`;
    return new JobError('RayJobFailed', what, `Check its log. ${goOn}`);
  }
  if (/runtime_env setup failed|runtime env/i.test(job.message) && job.driverExitCode === undefined) {
    return new JobError(
      'RunnerUnavailable',
      `${subject} can't set up the environment of the job: ${lastLine(job.message)}`,
      'Use an image that has pylance, and Node.js for TypeScript functions, or let the nodes reach a package index.',
    );
  }
  const code = job.driverExitCode;
  if (code === undefined || code < 0 || code > 128) {
    return new JobError(
      'RayJobFailed',
      `${named} was killed${code === undefined ? '' : ` (code ${code})`}: its process or its node is lost.`,
      `The head may be out of memory. ${goOn}`,
    );
  }
  return new JobError('RayJobFailed', `${named} ended with code ${code}: ${lastLine(job.message)}`, goOn);
}

/** Returns the last useful line, because the message of Ray is the end of a log and contains tracebacks. */
function lastLine(message: string): string {
  const lines = message.split('\n').map((line) => line.trim());
  return (lines.findLast((line) => line !== '' && !line.startsWith('@@')) ?? 'no reason was reported').slice(0, 400);
}

/** Milliseconds between two messages about a pending job. */
const patience = 15_000;

/** Reports what a pending job waits for. */
export function reportPending(
  { emit, spec }: RunContext,
  jobs: RayJobs,
  signal: AbortSignal,
): (job: RayJob) => Promise<void> {
  let next = Date.now() + patience;
  let said = '';
  return async (job) => {
    if (job.state !== 'PENDING' || Date.now() < next) return;
    next = Date.now() + patience;
    const waitingFor = (await roomOf(jobs, signal)) ?? reasonOf(job);
    if (waitingFor === said) return;
    said = waitingFor;
    emit({ kind: 'workers', ready: 0, wanted: spec.concurrency, waitingFor });
  };
}

async function roomOf(jobs: RayJobs, signal: AbortSignal): Promise<string | undefined> {
  try {
    const room = await jobs.room(signal);
    return room && pendingReason(room);
  } catch (error) {
    // Errors are ignored here, because other requests show whether Ray responds.
    if (isClusterError(error) && !signal.aborted) return undefined;
    throw error;
  }
}

function reasonOf({ message }: RayJob): string {
  if (/runtime environment/i.test(message)) return 'Ray to set up the environment and install packages';
  if (/resources/i.test(message)) return 'free resources in Ray';
  return message === '' ? 'Ray (no reason was reported)' : message.slice(0, 300);
}
