import { isClusterError } from '#cluster/errors.ts';
import type { RayJobs } from '#cluster/ray/rayJobs.ts';
import type { RayJob } from '#cluster/ray/rayReplies.ts';
import { waitingForRoom } from '#cluster/ray/rayRoom.ts';
import type { RunContext } from '#jobs/runners/runner.ts';
import { isJobErrorKind, JobError } from '#shared/jobs/jobErrors.ts';
import type { DriverEnd } from './rayEvents.ts';

const goOn = 'Resume the job: what was computed is kept, and is not computed again.';

/**
 * Returns why a finished job did not succeed, `undefined` if it did. The driver reports the reason, but the state in
 * Ray decides: a killed driver reports nothing.
 */
export function failureOf(subject: string, job: RayJob, end: DriverEnd | undefined): JobError | undefined {
  const named = `The job ${job.submissionId} of ${subject}`;
  if (end?.kind === 'failed' && job.state !== 'STOPPED')
    return new JobError(isJobErrorKind(end.code) ? end.code : 'RayJobFailed', end.message, end.hint);
  if (job.state === 'STOPPED')
    return new JobError('RayJobFailed', `${named} was stopped there, by somebody else.`, goOn);
  if (job.state === 'SUCCEEDED') {
    if (end?.kind === 'succeeded') return undefined;
    const what = `${named} has ended in order, and has not said that it finished.`;
    return new JobError('RayJobFailed', what, `Look into its log. ${goOn}`);
  }
  if (/runtime_env setup failed|runtime env/i.test(job.message) && job.driverExitCode === undefined) {
    return new JobError(
      'RunnerUnavailable',
      `${subject} could not prepare what the job runs on: ${lastLine(job.message)}`,
      'Use an image that has pylance, and Node.js for TypeScript functions, or let the nodes reach a package index.',
    );
  }
  const code = job.driverExitCode;
  if (code === undefined || code < 0 || code > 128) {
    return new JobError(
      'RayJobFailed',
      `${named} was ended from outside${code === undefined ? '' : ` (code ${code})`}: its process or its node is gone.`,
      `The head may be out of memory. ${goOn}`,
    );
  }
  return new JobError('RayJobFailed', `${named} ended with code ${code}: ${lastLine(job.message)}`, goOn);
}

/** Returns the last useful line: Ray's message is the end of a log with tracebacks. */
function lastLine(message: string): string {
  const lines = message.split('\n').map((line) => line.trim());
  return (lines.findLast((line) => line !== '' && !line.startsWith('@@')) ?? 'it has not said why').slice(0, 400);
}

/** Milliseconds between two messages about a pending job. */
const patience = 15_000;

/** Reports what a pending job waits for. */
export function tellPending(
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
    return room && waitingForRoom(room);
  } catch (error) {
    // Other requests show whether Ray responds.
    if (isClusterError(error) && !signal.aborted) return undefined;
    throw error;
  }
}

function reasonOf({ message }: RayJob): string {
  if (/runtime environment/i.test(message))
    return 'the environment that Ray sets up, with the packages that it installs';
  if (/resources/i.test(message)) return 'room in Ray';
  return message === '' ? 'Ray, which does not say why' : message.slice(0, 300);
}
