import type { Check } from '#cluster/check.ts';
import type { CheckId } from '#cluster/checkIds.ts';
import { isClusterError } from '#cluster/errors.ts';
import { fail, pass, unknown, warn } from '#cluster/checkResults.ts';
import type { Fix } from '#cluster/fixes/fix.ts';
import { bindRunner, grantRunner, type KnownRoles } from '#cluster/fixes/roleFixes.ts';
import {
  chooseReviewMethod,
  formatAccess,
  mayReview,
  type ResourceAccess,
  runnerAccess,
  serviceAccountCan,
  userCan,
} from '#cluster/kube/resourceAccess.ts';
import { type KubeReads, evidenceFor } from '#cluster/kube/kubeReads.ts';
import {
  clusterRoleBindingsOf,
  clusterRoleBindingsPath,
  clusterRolesOf,
  clusterRolesPath,
  roleBindingsOf,
  roleBindingsPath,
} from '#cluster/kube/objectReads.ts';
import { type Binding, bindsAccount, otherNamespaceIn, type RoleRule } from '#cluster/kube/roles.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { Evidence } from '#cluster/result.ts';

const accountOf = ({ namespace, serviceAccount }: ClusterProfile): string =>
  `The service account ${namespace}/${serviceAccount}`;

/** Returns `undefined` if the user lacks the permission. */
async function ifAllowed<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isClusterError(error) && error.kind === 'Forbidden') return undefined;
    throw error;
  }
}

async function knownRolesOf(kube: KubeReads): Promise<KnownRoles> {
  const [roles, bindings] = await Promise.all([
    ifAllowed(clusterRolesOf(kube)),
    ifAllowed(clusterRoleBindingsOf(kube)),
  ]);
  return roles && bindings && { roles, bindings };
}

const wayToAsk: Check = {
  id: 'sar-allowed',
  category: 'identity',
  title: 'Account permissions can be checked',
  severity: 'info',
  needs: ['sa-exists'],
  run: async ({ kube, profile }) => {
    const [way, { evidence }] = await Promise.all([chooseReviewMethod(kube), userCan(kube, mayReview)]);
    const account = `${profile.namespace}/${profile.serviceAccount}`;
    switch (way) {
      case 'review':
        return pass(`You may review what ${account} may do.`, evidence);
      case 'impersonation':
        return pass(`You may not review what others may do, but you may act as ${account}.`, evidence);
      case 'token':
        return pass(`You may not review what others may do, but you may create a token for ${account}.`, evidence);
      case 'none':
        return unknown(
          `You may not review what ${account} may do, act as it, or create a token for it, so its permissions are not known.`,
          evidence,
        );
    }
  },
};

/** Checks one verb in all namespaces: the request names no namespace. */
const verbCheck = (id: CheckId, access: ResourceAccess): Check => ({
  id,
  category: 'identity',
  title: `Service account may ${access.verb} ${access.resource}`,
  severity: 'error',
  needs: ['sar-allowed', 'rbac-binding-cluster'],
  run: async ({ kube, profile }) => {
    const { isAllowed, evidence } = await serviceAccountCan(kube, access);
    if (isAllowed) return pass(`${accountOf(profile)} may ${formatAccess(access)}.`, evidence);
    return fail(`${accountOf(profile)} may not ${formatAccess(access)}.`, {
      evidence: [evidence],
      fix: grantRunner(profile, await knownRolesOf(kube)),
    });
  },
});

const bound: Check = {
  id: 'rbac-binding-cluster',
  category: 'identity',
  title: 'Role is bound in all namespaces',
  severity: 'error',
  needs: ['sar-allowed'],
  run: async ({ kube, profile }) => {
    const answers = await Promise.all(runnerAccess.map((access) => serviceAccountCan(kube, access)));
    const granted = answers.find(({ isAllowed }) => isAllowed);
    // A permission in all namespaces proves that a binding applies to all namespaces, whatever its name and role are.
    if (granted) return pass(`${accountOf(profile)} has grants in all namespaces.`, granted.evidence);
    const bindings = await ifAllowed(clusterRoleBindingsOf(kube));
    const ours = bindings?.filter((binding) => bindsAccount(binding, profile) && !isForEveryone(binding)) ?? [];
    if (ours.length > 0) {
      const roles = ours.map(({ name, role }) => `${name} (role ${role.name})`).join(', ');
      return pass(`${accountOf(profile)} is bound by ${roles}.`, evidenceFor(clusterRoleBindingsPath, roles));
    }
    const { sentence, evidence, fix } = await unboundProblem(kube, bindings);
    return fail(sentence, { evidence: [...answers.slice(0, 1).map((one) => one.evidence), ...evidence], fix });
  },
};

/** Whether Kubernetes gives the role to every account. Such a role has nothing to do with the runner. */
const isForEveryone = ({ role }: Binding): boolean => role.name.startsWith('system:');

type Problem = { readonly sentence: string; readonly evidence: readonly Evidence[]; readonly fix: Fix };

/** Explains why the account has no binding; often a similar binding exists that does not apply. */
async function unboundProblem(kube: KubeReads, bindings: readonly Binding[] | undefined): Promise<Problem> {
  const { profile } = kube;
  const inNamespace = (await ifAllowed(roleBindingsOf(kube)))?.find((binding) => bindsAccount(binding, profile));
  const grant = grantRunner(profile, await knownRolesOf(kube));
  const fixFor = ({ role }: Binding): Fix => (role.kind === 'ClusterRole' ? bindRunner(profile, role.name) : grant);
  if (inNamespace) {
    const { name, role } = inNamespace;
    return {
      sentence: `${accountOf(profile)} is bound to ${role.name} only by the RoleBinding ${profile.namespace}/${name}, which applies only to that namespace; a ClusterRoleBinding is required.`,
      evidence: [evidenceFor(roleBindingsPath(kube), `${name}: ${role.kind} ${role.name}`)],
      fix: fixFor(inNamespace),
    };
  }
  const elsewhere = bindings?.find((binding) => otherNamespaceIn(binding, profile) !== undefined);
  if (elsewhere) {
    const other = `${otherNamespaceIn(elsewhere, profile)}/${profile.serviceAccount}`;
    return {
      sentence: `The ClusterRoleBinding ${elsewhere.name} names the service account ${other}, not ${profile.namespace}/${profile.serviceAccount}.`,
      evidence: [evidenceFor(clusterRoleBindingsPath, `${elsewhere.name}: ServiceAccount ${other}`)],
      fix: fixFor(elsewhere),
    };
  }
  return {
    sentence: `${accountOf(profile)} is not bound to a role in all namespaces, so it may do nothing there.`,
    evidence: [evidenceFor(clusterRoleBindingsPath, bindings ? 'none for it' : 'you may not list them')],
    fix: grant,
  };
}

const excess: Check = {
  id: 'rbac-excess',
  category: 'identity',
  title: 'Service account may not do everything',
  severity: 'warning',
  needs: ['sar-allowed'],
  run: async ({ kube, profile }) => {
    const known = await knownRolesOf(kube);
    if (!known) {
      const { isAllowed, evidence } = await serviceAccountCan(kube, { group: '*', resource: '*', verb: '*' });
      if (!isAllowed) return pass(`${accountOf(profile)} may not do everything.`, evidence);
      return warn(`${accountOf(profile)} may do everything on the cluster.`, { evidence: [evidence], fix: narrower });
    }
    const names = known.bindings.filter((one) => bindsAccount(one, profile)).map(({ role }) => role.name);
    const wide = known.roles.filter(({ name, rules }) => names.includes(name) && rules.some(isWide));
    const evidence = evidenceFor(clusterRolesPath, names.length === 0 ? 'no role' : names.join(', '));
    if (wide.length === 0) return pass(`No role of ${accountOf(profile).slice(4)} has a "*" in it.`, evidence);
    const roles = wide.map(({ name }) => name).join(', ');
    return warn(
      `${accountOf(profile)} has ${roles}, with "*" for verbs or resources: every pod of a job may do that.`,
      {
        evidence: [evidence],
        fix: narrower,
      },
    );
  },
};

const isWide = ({ verbs, resources }: RoleRule): boolean => verbs.includes('*') || resources.includes('*');

const narrower: Fix = {
  kind: 'advice',
  text: 'Bind the service account to a role with the verbs of the rbac checks, and remove the other binding.',
};

export const roleChecks: readonly Check[] = [
  wayToAsk,
  ...runnerAccess.map((access) => verbCheck(`rbac-${access.resource}-${access.verb}` as CheckId, access)),
  bound,
  excess,
];
