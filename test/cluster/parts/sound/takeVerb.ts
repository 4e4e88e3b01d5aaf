import type { KubeObject } from '../kubeApi.ts';
import type { SoundCluster } from '../soundCluster.ts';

type Rule = { apiGroups: string[]; resources: string[]; verbs: string[] };

/** Returns the rules of a role without one verb on one resource. */
function without(role: KubeObject, resource: string, verb: string): Rule[] {
  const rules = role['rules'] as Rule[];
  return rules
    .flatMap((rule) => rule.resources.map((one) => ({ ...rule, resources: [one] })))
    .map((rule) =>
      rule.resources[0] === resource ? { ...rule, verbs: rule.verbs.filter((one) => one !== verb) } : rule,
    )
    .filter(({ verbs }) => verbs.length > 0);
}

/** Removes one verb on one resource from a cluster role. */
export const takeVerb = async (cluster: SoundCluster, name: string, resource: string, verb: string): Promise<void> => {
  const role = cluster.object('ClusterRole', name);
  await cluster.api.merge(role, { rules: without(role, resource, verb) });
};
