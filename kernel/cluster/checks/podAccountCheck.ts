import type { Check, Evidence } from '#cluster/check.ts';
import { isClusterError } from '#cluster/errors.ts';
import { fail, pass, warn } from '#cluster/findings.ts';
import { sawAt, type KubeReads } from '#cluster/kube/kubeReads.ts';
import { namesOf } from '#cluster/kube/nodes.ts';
import { groupsOf, podsOf, podsPath, rayClusterOf, rayClusterPath } from '#cluster/kube/objectReads.ts';
import { isOfRayCluster, type Pod } from '#cluster/kube/pods.ts';
import { kubectl } from '#cluster/mends/commands.ts';
import { accountOfGroups } from '#cluster/mends/rayClusterMends.ts';

/** The pods of the profile's RayCluster; `undefined` where the person may not list pods. */
async function rayPodsOf(kube: KubeReads, name: string): Promise<readonly Pod[] | undefined> {
  try {
    return (await podsOf(kube)).filter((pod) => isOfRayCluster(pod, name));
  } catch (error) {
    if (isClusterError(error) && error.kind === 'Forbidden') return undefined;
    throw error;
  }
}

export const podAccountCheck: Check = {
  id: 'pods-run-as',
  category: 'identity',
  title: 'Pods run as the service account',
  severity: 'error',
  needs: ['sa-exists', 'crd-rayclusters'],
  run: async ({ kube, profile }) => {
    const { namespace, serviceAccount, rayCluster: name } = profile;
    const cluster = await rayClusterOf(kube);
    if (name !== undefined && !cluster) {
      const sentence = `There is no RayCluster ${namespace}/${name}, which the profile names.`;
      return fail(sentence, {
        evidence: [sawAt(rayClusterPath(kube, name), 'not found')],
        mend: { kind: 'advice', text: 'Name one that is there in the profile, or none: one is made for a job then.' },
      });
    }
    const groups = await groupsOf(kube);
    const shown = groups.map((group) => `${group.title}: ${group.serviceAccount}`).join('; ');
    const asked = cluster ? `GET ${rayClusterPath(kube, cluster.name)}` : 'groups of the profile';
    const evidence: Evidence[] = [{ asked, saw: shown }];
    const other = groups.find((group) => group.serviceAccount !== serviceAccount);
    if (other) {
      const where = cluster ? `RayCluster ${namespace}/${cluster.name}` : 'the profile';
      return fail(
        `In ${where} the service account of ${other.title} is ${other.serviceAccount}, not ${serviceAccount}.`,
        {
          evidence,
          mend: cluster
            ? accountOfGroups(profile, cluster)
            : { kind: 'advice', text: `Give ${other.title} of the profile the service account ${serviceAccount}.` },
        },
      );
    }
    if (!cluster) return pass(`Head and workers are to run as ${serviceAccount}.`, ...evidence);
    const pods = await rayPodsOf(kube, cluster.name);
    if (!pods)
      return warn(`The specs run as ${serviceAccount}; you may not list pods, so that those that run are not known.`, {
        evidence,
      });
    const strangers = pods.filter((pod) => pod.serviceAccount !== serviceAccount);
    evidence.push(sawAt(podsPath(kube), pods.map((pod) => `${pod.name}: ${pod.serviceAccount}`).join('; ') || 'none'));
    if (strangers.length === 0) return pass(`Head and workers run as ${serviceAccount}.`, ...evidence);
    const accounts = [...new Set(strangers.map((pod) => pod.serviceAccount))].join(', ');
    return fail(`Pods of ${cluster.name} run as ${accounts}, not as ${serviceAccount}: ${namesOf(strangers)}.`, {
      evidence,
      // The operator makes them anew by the specs, which are right.
      mend: {
        kind: 'command',
        command: kubectl(profile, 'delete', 'pods', '--namespace', namespace, ...strangers.map((pod) => pod.name)),
      },
    });
  },
};
