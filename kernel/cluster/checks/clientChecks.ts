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
  accessIn: (namespace: string) => Access,
  grant: typeof grantLauncher,
): Check {
  const { verb, resource, subresource } = accessIn('');
  return {
    ...check,
    category: 'identity',
    title: `You may ${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`,
    needs: ['k8s-whoami'],
    run: async ({ kube, profile }) => {
      const access = accessIn(profile.namespace);
      const { isAllowed, evidence } = await mayPerson(kube, access);
      if (isAllowed) return pass(`You may ${wordsOfAccess(access)}.`, evidence);
      return fail(`You may not ${wordsOfAccess(access)}.`, { evidence: [evidence], mend: await mendFor(kube, grant) });
    },
  };
}

const rayClusterChecks = launchVerbs.map((verb) =>
  personCheck(
    { id: `client-rayclusters-${verb}`, severity: 'error' },
    (namespace) => ({ group: 'ray.io', resource: 'rayclusters', verb, namespace }),
    grantLauncher,
  ),
);

const portForward = personCheck(
  {
    id: 'client-portforward',
    severity: 'error',
    skip: ({ profile }) => (profile.usePortForwarding ? undefined : 'The profile forwards no ports.'),
  },
  (namespace) => ({ group: '', resource: 'pods', subresource: 'portforward', verb: 'create', namespace }),
  grantLauncher,
);

const nodes = personCheck(
  { id: 'client-nodes-list', severity: 'warning' },
  () => ({ group: '', resource: 'nodes', verb: 'list' }),
  grantNodes,
);

export const clientChecks: readonly Check[] = [...rayClusterChecks, portForward, nodes];
