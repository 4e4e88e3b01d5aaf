import { isClusterError } from '#cluster/errors.ts';
import { RayJobs } from '#cluster/ray/rayJobs.ts';
import type { RayLink } from '#cluster/ray/rayRequest.ts';
import { isCatalogError } from '#shared/errors.ts';
import type { RayPlace } from '#shared/jobs/backfill.ts';
import { isJobError, JobError, type JobErrorKind } from '#shared/jobs/jobErrors.ts';
import { loadPart } from '#shared/loadPart.ts';

/**
 * Opens a way to a Ray, as somebody named it.
 * @throws JobError where it is not there, ClusterError where it cannot be reached
 */
async function openRay(place: RayPlace, signal: AbortSignal): Promise<RayLink> {
  if ('address' in place) return straight(place.address, place.token);
  // The libraries of Kubernetes are larger than all else here.
  const { findProfiles, openRayLink, readProfile } = await loadPart(() => import('#cluster/entry.ts'));
  if ('cluster' in place)
    return await openRayLink(readProfile({ call: 'ray.cluster' }, place.cluster), {
      rayCluster: place.rayCluster,
      signal,
    });
  const profiles = await findProfiles({ folder: place.folder ?? process.cwd(), environment: process.env });
  const profile = profiles.profile(place.profile);
  return await openRayLink(profile, { rayCluster: place.rayCluster, signal });
}

const straight = (address: string, token: string | undefined): RayLink => ({
  target: { address, token },
  signal: new AbortController().signal,
  [Symbol.asyncDispose]: async () => {},
});

/** Opens a way to a Ray for as long as something takes. */
export async function withRay<T>(
  place: RayPlace,
  signal: AbortSignal,
  use: (jobs: RayJobs, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  await using link = await openRay(place, signal);
  const jobs = new RayJobs(link.target);
  try {
    return await use(jobs, AbortSignal.any([signal, link.signal]));
  } catch (error) {
    // A way that cannot be mended says better what is wrong than what was asked on it.
    if (link.signal.aborted && !signal.aborted) throw link.signal.reason;
    throw error;
  } finally {
    await jobs.close();
  }
}

/** An error of the way to Ray, or of what Ray answers, as one of the job. What else it is stays what it is. */
export function jobErrorOf(error: unknown): unknown {
  if (isJobError(error) || isCatalogError(error) || !isClusterError(error)) return error;
  const kind: JobErrorKind = error.isTransient
    ? 'RayUnreachable'
    : error.kind === 'TooOld'
      ? 'RayTooOld'
      : 'RayRefused';
  return new JobError(kind, error.what, error.hint, { cause: error });
}
