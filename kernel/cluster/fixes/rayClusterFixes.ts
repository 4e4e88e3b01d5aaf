import { at } from '#cluster/kube/fields.ts';
import type { RayCluster } from '#cluster/kube/rayGroups.ts';
import type { KubernetesManifest, Mend } from './fix.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { isRecord } from '#shared/records.ts';
import { objectsMend } from './commands.ts';

const manifestOf = (profile: ClusterProfile, { apiVersion, name }: RayCluster, spec: object): KubernetesManifest => ({
  apiVersion,
  kind: 'RayCluster',
  metadata: { name, namespace: profile.namespace },
  spec,
});

/** Has head and workers run as the profile's service account. Groups of workers are a list, which is replaced as a whole. */
export function accountOfGroups(profile: ClusterProfile, cluster: RayCluster): Mend {
  const account = { template: { spec: { serviceAccountName: profile.serviceAccount } } };
  const workerGroupSpecs = cluster.workerSpecs.map((spec) => merged(spec, account));
  return objectsMend(profile, [
    manifestOf(profile, cluster, {
      headGroupSpec: account,
      ...(workerGroupSpecs.length === 0 ? {} : { workerGroupSpecs }),
    }),
  ]);
}

/** Tells Ray that the head has no processors, so that it puts no work there. */
export const idleHead = (profile: ClusterProfile, cluster: RayCluster): Mend =>
  objectsMend(profile, [manifestOf(profile, cluster, { headGroupSpec: { rayStartParams: { 'num-cpus': '0' } } })]);

/** An object with another's fields written into it, at every depth. */
function merged(value: unknown, change: unknown): unknown {
  if (!isRecord(change)) return change;
  const base = isRecord(value) ? value : {};
  return {
    ...base,
    ...Object.fromEntries(Object.keys(change).map((key) => [key, merged(at(base, key), change[key])])),
  };
}
