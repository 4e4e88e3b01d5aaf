import type { ClusterProfile } from '#cluster/profile.ts';
import { gateOnChecks } from '../cluster/gate.ts';
import type { ClusterServices } from '../cluster/register.ts';

/** A cluster of the settings, and the RayCluster in it where it is another than the profile's. */
export type ClusterPlace = { readonly profile: string; readonly rayCluster?: string | undefined };

/** Runs the checks that a job on a cluster needs, and lets the person decide where one fails. @throws ClusterError, AbortError */
export async function mayLaunchOn(
  cluster: ClusterServices,
  place: ClusterPlace,
  signal: AbortSignal,
): Promise<boolean> {
  const { jobCheckIds } = await import('#cluster/kuberay/launchChecks.ts');
  const profile = cluster.profiles.get(place.profile);
  const { rayCluster = profile.rayCluster } = place;
  return gateOnChecks(cluster, { ...profile, rayCluster }, { ids: jobCheckIds, anyway: 'Run Anyway' }, signal);
}

/** The same before a RayCluster is made: what it comes up by, and not what only one that is there can have. */
export async function mayCreateOn(
  cluster: ClusterServices,
  profile: ClusterProfile,
  signal: AbortSignal,
): Promise<boolean> {
  const { launchCheckIds } = await import('#cluster/kuberay/launchChecks.ts');
  return gateOnChecks(cluster, profile, { ids: launchCheckIds, anyway: 'Create Anyway' }, signal);
}
