import { isClusterError } from '#cluster/errors.ts';
import { RayJobs } from '#cluster/ray/rayJobs.ts';
import type { RayLink } from '#cluster/ray/rayRequest.ts';
import { isCatalogError } from '#shared/errors.ts';
import type { RayPlace } from '#shared/jobs/backfill.ts';
import { isJobError, JobError, type JobErrorKind } from '#shared/jobs/jobErrors.ts';
import { loadLazy } from '#shared/loadLazy.ts';

/**
 * Connects to Ray by address, cluster or profile.
 * @throws JobError if the target does not exist, ClusterError if it can't be reached
 */
async function openRay(place: RayPlace, signal: AbortSignal): Promise<RayLink> {
  if ('address' in place) return straight(place.address, place.token);
  // Loaded lazily, because the Kubernetes libraries are large.
  const { findProfiles, openRayLink, readProfile } = await loadLazy(() => import('#cluster/entry.ts'));
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
    // If the connection was lost, its error is thrown, because it explains more than the error of the request.
    if (link.signal.aborted && !signal.aborted) throw link.signal.reason;
    throw error;
  } finally {
    await jobs.close();
  }
}

/** Converts cluster errors to job errors; others stay unchanged. */
export function jobErrorOf(error: unknown): unknown {
  if (isJobError(error) || isCatalogError(error) || !isClusterError(error)) return error;
  const kind: JobErrorKind = error.isTransient
    ? 'RayUnreachable'
    : error.kind === 'TooOld'
      ? 'RayTooOld'
      : 'RayRefused';
  return new JobError(kind, error.what, error.hint, { cause: error });
}
