import { fieldAt } from '#shared/fields.ts';
import type { RayCluster } from '#cluster/kube/rayGroups.ts';
import type { KubernetesManifest, Fix } from './fix.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { isRecord } from '#shared/records.ts';
import { manifestFix } from './commands.ts';

const manifestOf = (profile: ClusterProfile, { apiVersion, name }: RayCluster, spec: object): KubernetesManifest => ({
  apiVersion,
  kind: 'RayCluster',
  metadata: { name, namespace: profile.namespace },
  spec,
});

/**
 * Sets the profile's service account on head and workers. Apply replaces the list of worker groups as a whole, so the
 * fix contains all of them.
 */
export function accountOfGroups(profile: ClusterProfile, cluster: RayCluster): Fix {
  const account = { template: { spec: { serviceAccountName: profile.serviceAccount } } };
  const workerGroupSpecs = cluster.workerSpecs.map((spec) => merged(spec, account));
  return manifestFix(profile, [
    manifestOf(profile, cluster, {
      headGroupSpec: account,
      ...(workerGroupSpecs.length === 0 ? {} : { workerGroupSpecs }),
    }),
  ]);
}

/** Declares 0 CPUs for the head, so that Ray runs no tasks on it. */
export const idleHead = (profile: ClusterProfile, cluster: RayCluster): Fix =>
  manifestFix(profile, [manifestOf(profile, cluster, { headGroupSpec: { rayStartParams: { 'num-cpus': '0' } } })]);

/** Merges `change` into an object at every depth. */
function merged(value: unknown, change: unknown): unknown {
  if (!isRecord(change)) return change;
  const base = isRecord(value) ? value : {};
  return {
    ...base,
    ...Object.fromEntries(Object.keys(change).map((key) => [key, merged(fieldAt(base, key), change[key])])),
  };
}
