import { ClusterError } from '#cluster/errors.ts';
import { jobCheckIds } from '#cluster/kuberay/launchChecks.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckReport } from '#cluster/result.ts';
import type { BackfillRequest, RayPlace } from '#shared/jobs/backfill.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { loadLazy } from '#shared/loadLazy.ts';

/** Number of failures to show, one sentence each. */
const mostShown = 5;

/**
 * Checks a cluster before a job is sent there, so that problems show before the job fails. A job without a cluster
 * profile is not checked: it runs elsewhere, or on a cluster that was verified when it was created.
 * @returns the problems; `undefined` if there are none or the job is not checked
 * @throws ClusterError if the profile is missing or invalid; AbortError
 */
export async function launchProblem({ ray }: BackfillRequest, signal: AbortSignal): Promise<JobError | undefined> {
  const profile = await rayProfile(ray);
  if (!profile) return undefined;
  const { verifyCluster } = await loadLazy(() => import('#cluster/entry.ts'));
  const rayCluster = (ray && 'rayCluster' in ray ? ray.rayCluster : undefined) ?? profile.rayCluster;
  const report = await verifyCluster({ ...profile, rayCluster }, { signal, only: jobCheckIds });
  signal.throwIfAborted();
  if (report.stopped)
    throw new ClusterError(
      'Aborted',
      `The check of the cluster profile "${profile.name}" was stopped.`,
      'Start the job again.',
    );
  return problemOf(report);
}

/**
 * Returns the cluster profile by which a job finds Ray; `undefined` if it names none.
 * @throws ClusterError ProfileInvalid if the profile is missing or invalid
 */
export async function rayProfile(ray: RayPlace | undefined): Promise<ClusterProfile | undefined> {
  if (!ray || !('profile' in ray)) return undefined;
  const { findProfiles } = await loadLazy(() => import('#cluster/entry.ts'));
  const found = await findProfiles({ folder: ray.folder ?? process.cwd(), environment: process.env });
  return found.profile(ray.profile);
}

function problemOf({ profile, results }: CheckReport): JobError | undefined {
  const failed = results.filter(({ status }) => status === 'fail');
  if (failed.length === 0) return undefined;
  const shown = failed.slice(0, mostShown).map(({ sentence }) => `\n  ${sentence}`);
  const omitted = failed.length - shown.length;
  return new JobError(
    'ClusterNotReady',
    `"${profile}" is not ready for backfills:${shown.join('')}${omitted > 0 ? `\n  … and ${omitted} more.` : ''}\n`,
    `Show all problems and their fixes: lance-catalog check --profile ${profile}`,
  );
}
