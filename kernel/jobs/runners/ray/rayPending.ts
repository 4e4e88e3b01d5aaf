import { isClusterError } from '#cluster/errors.ts';
import type { RayJobs } from '#cluster/ray/rayJobs.ts';
import type { RayJob } from '#cluster/ray/rayReplies.ts';
import { waitingForRoom } from '#cluster/ray/rayRoom.ts';
import type { RunContext } from '#jobs/runners/runner.ts';

/** Milliseconds after which somebody wonders, and after which what is said may have changed. */
const patience = 15_000;

/** Says, while a job waits on Ray, what it waits for. */
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
    // It is no more than a reason; whether Ray answers is asked elsewhere.
    if (isClusterError(error) && !signal.aborted) return undefined;
    throw error;
  }
}

/** Ray's sentence, of which it has one for resources and one for the environment. */
function reasonOf({ message }: RayJob): string {
  if (/runtime environment/i.test(message))
    return 'the environment that Ray sets up, with the packages that it installs';
  if (/resources/i.test(message)) return 'room in Ray';
  return message === '' ? 'Ray, which does not say why' : message.slice(0, 300);
}
