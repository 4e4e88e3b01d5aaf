import type { RayPlace } from '#shared/jobs/backfill.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import type { BackfillPlan } from '#shared/jobs/jobPlan.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { inspectRay } from './rayFitness.ts';
import { jobErrorOf, withRay } from './openRay.ts';

/** Time limit of the check in milliseconds. If Ray first has to start nodes, the check takes too long for a plan. */
const patience = 60_000;

/** Returns notes for a plan: what Ray lacks, and whether Ray reaches the table. */
export async function notesOfRay(
  place: RayPlace,
  spec: JobSpec,
  signal: AbortSignal,
): Promise<BackfillPlan['notes'][number][]> {
  const limit = AbortSignal.timeout(patience);
  try {
    const { notices } = await withRay(place, AbortSignal.any([signal, limit]), async (jobs, live) =>
      inspectRay(jobs, { spec, version: await jobs.version(live), onLook: () => {} }, live),
    );
    return notices.map((text) => ({ level: 'info', text }));
  } catch (cause) {
    signal.throwIfAborted();
    if (limit.aborted)
      return [{ level: 'info', text: 'Ray did not report its packages in time; the job checks them when it starts.' }];
    const error = jobErrorOf(cause);
    if (!isJobError(error)) throw error;
    return [{ level: 'warning', text: `This run would fail: ${error.message}` }];
  }
}
