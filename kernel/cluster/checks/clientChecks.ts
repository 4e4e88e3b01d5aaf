import type { Check } from '#cluster/check.ts';
import { fail, pass } from '#cluster/findings.ts';
import { launchVerbs, mayPerson } from '#cluster/kube/access.ts';
import { wordsOfAccess, type Access } from '#cluster/kube/accessReviews.ts';
import type { KubeReads } from '#cluster/kube/kubeReads.ts';
import type { Mend } from '#cluster/mend.ts';
import { grantLauncher, grantNodes } from '#cluster/mends/roleMends.ts';
import { grantByAccessEntry } from '#cluster/mends/accessEntryMends.ts';

// What whoever launches needs and the service account does not have.

async function mendFor(kube: KubeReads, grant: typeof grantLauncher): Promise<Mend> {
  const { username } = await kube.whoami();
  return grantByAccessEntry(kube.profile, username) ?? grant(kube.profile, username);
}

function personCheck(
  check: Pick<Check, 'id' | 'severity' | 'skip'>,
  allIn: (namespace: string) => readonly [Access, ...Access[]],
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
      const answers = await Promise.all(all.map((access) => mayPerson(kube, access)));
      const evidence = answers.map((answer) => answer.evidence);
      const refused = all.find((_, index) => answers[index]?.isAllowed !== true);
      if (refused === undefined) return pass(`You may ${wordsOfAccess(all[0])}.`, ...evidence);
      return fail(`You may not ${wordsOfAccess(refused)}.`, { evidence, mend: await mendFor(kube, grant) });
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
    skip: ({ profile }) => (profile.usePortForwarding ? undefined : 'The profile forwards no ports.'),
  },
  // By a web socket, which begins with a GET: some versions of Kubernetes want the one verb for it, some the other.
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

export const clientChecks: readonly Check[] = [...rayClusterChecks, portForward, nodes];
