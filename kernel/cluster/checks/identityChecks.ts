import type { Check } from '#cluster/check.ts';
import { isClusterError } from '#cluster/errors.ts';
import { fail, pass } from '#cluster/findings.ts';
import { sawAt } from '#cluster/kube/kubeReads.ts';
import { namespacePath } from '#cluster/kube/objectReads.ts';
import { serviceAccountPath } from '#cluster/kube/serviceAccounts.ts';
import { kubectl, objectsMend } from '#cluster/mends/commands.ts';
import { clientChecks } from './clientChecks.ts';
import { podAccountCheck } from './podAccountCheck.ts';
import { roleChecks } from './roleChecks.ts';

const namespaceThere: Check = {
  id: 'ns-exists',
  category: 'identity',
  title: 'The namespace is there',
  severity: 'error',
  needs: ['k8s-whoami'],
  run: async ({ kube, profile }) => {
    const { namespace } = profile;
    const path = namespacePath(kube);
    try {
      if ((await kube.find(path)) !== undefined)
        return pass(`The namespace ${namespace} is there.`, sawAt(path, 'found'));
    } catch (error) {
      if (!isClusterError(error) || error.kind !== 'Forbidden') throw error;
      // Who has a role in the namespace alone may not read the namespace itself; what is in it proves it as well.
      if ((await kube.serviceAccount()) === undefined) throw error;
      const account = serviceAccountPath(namespace, profile.serviceAccount);
      return pass(`The namespace ${namespace} is there.`, sawAt(path, 'you may not'), sawAt(account, 'found'));
    }
    return fail(`There is no namespace ${namespace}.`, {
      evidence: [sawAt(path, 'not found')],
      mend: objectsMend(
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
  title: 'The service account is there',
  severity: 'error',
  needs: ['ns-exists'],
  run: async ({ kube, profile }) => {
    const { namespace, serviceAccount } = profile;
    const path = serviceAccountPath(namespace, serviceAccount);
    if ((await kube.serviceAccount()) !== undefined)
      return pass(`The service account ${namespace}/${serviceAccount} is there.`, sawAt(path, 'found'));
    return fail(`There is no service account ${namespace}/${serviceAccount}, so that no pod can run as it.`, {
      evidence: [sawAt(path, 'not found')],
      mend: objectsMend(
        profile,
        [{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: serviceAccount, namespace } }],
        kubectl(profile, 'create', 'serviceaccount', serviceAccount, '--namespace', namespace),
      ),
    });
  },
};

/** The service account and what it may do, and the person and what they may. */
export const identityChecks: readonly Check[] = [
  namespaceThere,
  accountThere,
  podAccountCheck,
  ...roleChecks,
  ...clientChecks,
];
