import { gateOnChecks } from '../cluster/gate.ts';
import type { ClusterServices } from '../cluster/register.ts';

/** Runs the checks that a job on a cluster needs, and lets the person decide where one fails. @throws ClusterError, AbortError */
export async function mayLaunchOn(cluster: ClusterServices, profile: string, signal: AbortSignal): Promise<boolean> {
  const { jobCheckIds } = await import('#cluster/kuberay/launchChecks.ts');
  return gateOnChecks(cluster, cluster.profiles.get(profile), jobCheckIds, signal);
}
