import type { ClusterProfile } from '#cluster/profile.ts';
import { runPreflightChecks } from '../cluster/gate.ts';
import type { ClusterServices } from '../cluster/register.ts';

/** A cluster profile, and the RayCluster of the job if it differs from the RayCluster of the profile. */
export type LaunchTarget = { readonly profile: string; readonly rayCluster?: string | undefined };

/**
 * Runs the checks for a job on a cluster. If a check fails, the user decides whether to launch.
 * @throws ClusterError, AbortError
 */
export async function confirmLaunch(
  cluster: ClusterServices,
  place: LaunchTarget,
  signal: AbortSignal,
): Promise<boolean> {
  const { jobCheckIds } = await import('#cluster/kuberay/launchChecks.ts');
  const profile = cluster.profiles.get(place.profile);
  const { rayCluster = profile.rayCluster } = place;
  return runPreflightChecks(cluster, { ...profile, rayCluster }, { ids: jobCheckIds, anyway: 'Run Anyway' }, signal);
}

/** Runs the checks for the creation of a RayCluster, without the checks that require an existing RayCluster. */
export async function mayCreateOn(
  cluster: ClusterServices,
  profile: ClusterProfile,
  signal: AbortSignal,
): Promise<boolean> {
  const { launchCheckIds } = await import('#cluster/kuberay/launchChecks.ts');
  return runPreflightChecks(cluster, profile, { ids: launchCheckIds, anyway: 'Create Anyway' }, signal);
}
