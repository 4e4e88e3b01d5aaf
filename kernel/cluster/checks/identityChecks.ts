import type { Check } from '#cluster/check.ts';
import { isClusterError } from '#cluster/errors.ts';
import { fail, pass, warn } from '#cluster/checkResults.ts';
import { kubectl, manifestFix } from '#cluster/fixes/commands.ts';
import type { Fix } from '#cluster/fixes/fix.ts';
import { accountOfGroups } from '#cluster/fixes/rayClusterFixes.ts';
import { grantByAccessEntry, grantLauncher, grantNodes } from '#cluster/fixes/roleFixes.ts';
import { type ResourceAccess, launchVerbs, userCan, formatAccess } from '#cluster/kube/resourceAccess.ts';
import { type KubeReads, evidenceFor } from '#cluster/kube/kubeReads.ts';
import { formatNodeNames } from '#cluster/kube/nodes.ts';
import { groupsOf, namespacePath, podsOf, podsPath, rayClusterOf, rayClusterPath } from '#cluster/kube/objectReads.ts';
import { isOfRayCluster, type Pod } from '#cluster/kube/pods.ts';
import { serviceAccountPath } from '#cluster/kube/serviceAccounts.ts';
import type { Evidence } from '#cluster/result.ts';
import { roleChecks } from './roleChecks.ts';

// Checks of the permissions that the user needs to launch a RayCluster.

async function fixFor(kube: KubeReads, grant: typeof grantLauncher): Promise<Fix> {
  const { username } = await kube.whoami();
  return grantByAccessEntry(kube.profile, username) ?? grant(kube.profile, username);
}

function personCheck(
  check: Pick<Check, 'id' | 'severity' | 'skip'>,
  allIn: (namespace: string) => readonly [ResourceAccess, ...ResourceAccess[]],
  grant: typeof grantLauncher,
): Check {
  const [{ verb, resource, subresource }] = allIn('');
  return {
    ...check,
    category: 'identity',
    title: `You may ${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`,
    needs: ['k8s-whoami'],
    run: async ({ kube, profile }) => {
      const all = allIn(profile.namespace);
      const answers = await Promise.all(all.map((access) => userCan(kube, access)));
      const evidence = answers.map((answer) => answer.evidence);
      const refused = all.find((_, index) => answers[index]?.isAllowed !== true);
      if (refused === undefined) return pass(`You may ${formatAccess(all[0])}.`, ...evidence);
      return fail(`You may not ${formatAccess(refused)}.`, { evidence, fix: await fixFor(kube, grant) });
    },
  };
}

const rayClusterChecks = launchVerbs.map((verb) =>
  personCheck(
    { id: `client-rayclusters-${verb}`, severity: 'error' },
    (namespace) => [{ group: 'ray.io', resource: 'rayclusters', verb, namespace }],
    grantLauncher,
  ),
);

const portForward = personCheck(
  {
    id: 'client-portforward',
    severity: 'error',
    skip: ({ profile }) => (profile.usePortForwarding ? undefined : 'The profile does not use port forwarding.'),
  },
  // Port forwarding uses a WebSocket, which starts with a GET: some Kubernetes versions require `create` for this GET,
  // others `get`.
  (namespace) => [
    { group: '', resource: 'pods', subresource: 'portforward', verb: 'create', namespace },
    { group: '', resource: 'pods', subresource: 'portforward', verb: 'get', namespace },
  ],
  grantLauncher,
);

const nodes = personCheck(
  { id: 'client-nodes-list', severity: 'warning' },
  () => [{ group: '', resource: 'nodes', verb: 'list' }],
  grantNodes,
);

const clientChecks: readonly Check[] = [...rayClusterChecks, portForward, nodes];

/** Returns the pods of the profile's RayCluster, or `undefined` if the user may not list pods. */
async function rayPodsOf(kube: KubeReads, name: string): Promise<readonly Pod[] | undefined> {
  try {
    return (await podsOf(kube)).filter((pod) => isOfRayCluster(pod, name));
  } catch (error) {
    if (isClusterError(error) && error.kind === 'Forbidden') return undefined;
    throw error;
  }
}

const podAccountCheck: Check = {
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
        evidence: [evidenceFor(rayClusterPath(kube, name), 'not found')],
        fix: {
          kind: 'advice',
          text: 'Set rayCluster of the profile to an existing RayCluster, or remove it: a job then creates one.',
        },
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
          fix: cluster
            ? accountOfGroups(profile, cluster)
            : { kind: 'advice', text: `Give ${other.title} of the profile the service account ${serviceAccount}.` },
        },
      );
    }
    if (!cluster) return pass(`Head and workers are configured to run as ${serviceAccount}.`, ...evidence);
    const pods = await rayPodsOf(kube, cluster.name);
    if (!pods)
      return warn(`The specs use ${serviceAccount}; you may not list pods, so running pods are not checked.`, {
        evidence,
      });
    const strangers = pods.filter((pod) => pod.serviceAccount !== serviceAccount);
    evidence.push(
      evidenceFor(podsPath(kube), pods.map((pod) => `${pod.name}: ${pod.serviceAccount}`).join('; ') || 'none'),
    );
    if (strangers.length === 0) return pass(`Head and workers run as ${serviceAccount}.`, ...evidence);
    const accounts = [...new Set(strangers.map((pod) => pod.serviceAccount))].join(', ');
    return fail(
      `Pods of ${cluster.name} run as ${accounts}, not as ${serviceAccount}: ${formatNodeNames(strangers)}.`,
      {
        evidence,
        // Deleting the pods is enough, because the operator recreates them from the specs, and the specs are correct.
        fix: {
          kind: 'command',
          command: kubectl(profile, 'delete', 'pods', '--namespace', namespace, ...strangers.map((pod) => pod.name)),
        },
      },
    );
  },
};

const namespaceThere: Check = {
  id: 'ns-exists',
  category: 'identity',
  title: 'Namespace exists',
  severity: 'error',
  needs: ['k8s-whoami'],
  run: async ({ kube, profile }) => {
    const { namespace } = profile;
    const path = namespacePath(kube);
    try {
      if ((await kube.find(path)) !== undefined)
        return pass(`The namespace ${namespace} exists.`, evidenceFor(path, 'found'));
    } catch (error) {
      if (!isClusterError(error) || error.kind !== 'Forbidden') throw error;
      // A user whose role is only in this namespace may not read the namespace itself. But an object in the namespace
      // also proves that the namespace exists.
      if ((await kube.serviceAccount()) === undefined) throw error;
      const account = serviceAccountPath(namespace, profile.serviceAccount);
      return pass(
        `The namespace ${namespace} exists.`,
        evidenceFor(path, 'you may not'),
        evidenceFor(account, 'found'),
      );
    }
    return fail(`There is no namespace ${namespace}.`, {
      evidence: [evidenceFor(path, 'not found')],
      fix: manifestFix(
        profile,
        [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }],
        kubectl(profile, 'create', 'namespace', namespace),
      ),
    });
  },
};

const accountThere: Check = {
  id: 'sa-exists',
  category: 'identity',
  title: 'Service account exists',
  severity: 'error',
  needs: ['ns-exists'],
  run: async ({ kube, profile }) => {
    const { namespace, serviceAccount } = profile;
    const path = serviceAccountPath(namespace, serviceAccount);
    if ((await kube.serviceAccount()) !== undefined)
      return pass(`The service account ${namespace}/${serviceAccount} exists.`, evidenceFor(path, 'found'));
    return fail(`There is no service account ${namespace}/${serviceAccount}, so no pod can run as it.`, {
      evidence: [evidenceFor(path, 'not found')],
      fix: manifestFix(
        profile,
        [{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: serviceAccount, namespace } }],
        kubectl(profile, 'create', 'serviceaccount', serviceAccount, '--namespace', namespace),
      ),
    });
  },
};

export const identityChecks: readonly Check[] = [
  namespaceThere,
  accountThere,
  podAccountCheck,
  ...roleChecks,
  ...clientChecks,
];
