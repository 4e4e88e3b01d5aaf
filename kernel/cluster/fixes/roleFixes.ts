import { readArn, roleOfSession } from '#cluster/aws/awsNames.ts';
import { launchVerbs, runnerAccess } from '#cluster/kube/resourceAccess.ts';
import { type Binding, bindsAccount, namesAccount, type Role } from '#cluster/kube/roles.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { manifestFix, shellCommand } from './commands.ts';
import type { KubernetesManifest, Fix } from './fix.ts';

// A fix of a role has the whole object: the API server replaces lists of rules or subjects as a whole, so the existing
// entries are applied again.

/**
 * Grants access by an EKS access policy. A binding can't grant it, because each session of a role has a new name.
 * @param user the name as the API server reports it
 * @returns `undefined` if the user is not a session of an AWS role, or if the profile names no EKS cluster
 */
export function grantByAccessEntry(profile: ClusterProfile, user: string): Fix | undefined {
  const session = roleOfSession(user);
  const cluster = profile.auth.configMethod === 'EKS_AUTH' ? profile.auth : profile.aws;
  if (!session || cluster?.clusterName === undefined) return undefined;
  const partition = readArn(user)?.partition ?? 'aws';
  return {
    kind: 'command',
    command: shellCommand(
      ['aws', 'eks', 'associate-access-policy'],
      ['--region', cluster.region, '--cluster-name', cluster.clusterName],
      ['--principal-arn', `arn:${partition}:iam::${session.account}:role/${session.name}`],
      ['--policy-arn', `arn:${partition}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy`],
      ['--access-scope', 'type=cluster'],
    ),
  };
}

const rbac = 'rbac.authorization.k8s.io';

type Rule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
};

/** The minimal rules that the runner needs. */
const runnerRules: readonly Rule[] = [
  ...new Set(runnerAccess.map(({ group, resource }) => `${group}/${resource}`)),
].map((kind) => {
  const [group = '', resource = ''] = kind.split('/');
  const verbs = runnerAccess.filter((one) => one.group === group && one.resource === resource).map(({ verb }) => verb);
  return { apiGroups: [group], resources: [resource], verbs };
});

/** The known roles and bindings, or `undefined` if the user may not list them. */
export type KnownRoles = { readonly roles: readonly Role[]; readonly bindings: readonly Binding[] } | undefined;

/**
 * Grants the service account what the runner needs, in all namespaces. Extends the existing role of the account if no
 * other account has that role, else creates a new role.
 */
export function grantRunner(profile: ClusterProfile, known: KnownRoles): Fix {
  const { namespace, serviceAccount } = profile;
  const own = ownRole(profile, known);
  const name = own?.role.name ?? `lance-runner-${namespace}-${serviceAccount}`;
  const there = own?.role ?? known?.roles.find((role) => role.name === name);
  const role: KubernetesManifest = {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name },
    rules: withRules(there?.rawRules ?? [], runnerRules),
  };
  return manifestFix(profile, [role, ...(own ? [] : [bindingOf(profile, name)])]);
}

/** Finds a role that only this service account has, among the roles of the bindings that name the account. */
function ownRole(profile: ClusterProfile, known: KnownRoles): { readonly role: Role } | undefined {
  for (const binding of known?.bindings ?? []) {
    if (!namesAccount(binding, profile)) continue;
    const role = known?.roles.find(({ name }) => name === binding.role.name);
    if (!role || role.isAggregated || role.name.startsWith('system:')) continue;
    const others = known?.bindings.filter((one) => one.role.name === role.name) ?? [];
    if (
      others.every(({ subjects }) =>
        subjects.every((subject) => bindsAccount({ ...binding, subjects: [subject] }, profile)),
      )
    )
      return { role };
  }
  return undefined;
}

/** Binds the service account to an existing role in all namespaces. */
export const bindRunner = (profile: ClusterProfile, role: string): Fix =>
  manifestFix(profile, [bindingOf(profile, role)]);

const bindingOf = ({ namespace, serviceAccount }: ClusterProfile, role: string): KubernetesManifest => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRoleBinding',
  // The binding is a separate one, because the subjects of an existing binding belong to its owner.
  metadata: { name: `lance-runner-${namespace}-${serviceAccount}` },
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
  subjects: [{ kind: 'ServiceAccount', name: serviceAccount, namespace }],
});

const isSame = (a: readonly string[] | undefined, b: readonly string[]): boolean => a?.join('\n') === b.join('\n');

/**
 * Returns the existing rules with the wanted verbs added. The verbs are added to the first rule for the same resources,
 * or as a new rule if there is none.
 */
export function withRules(there: readonly unknown[], wanted: readonly Rule[]): readonly unknown[] {
  const rules = there.map((rule) => ({ ...(rule as object) })) as Partial<
    Rule & { resourceNames: readonly string[] }
  >[];
  for (const { apiGroups, resources, verbs } of wanted) {
    const about = rules.find(
      (rule) =>
        isSame(rule.apiGroups, apiGroups) && isSame(rule.resources, resources) && !(rule.resourceNames?.length ?? 0),
    );
    if (about) Object.assign(about, { verbs: [...new Set([...(about.verbs ?? []), ...verbs])] });
    else rules.push({ apiGroups, resources, verbs });
  }
  return rules;
}

/** Grants the user the rights in the namespace that are needed to launch a RayCluster. */
export function grantLauncher(profile: ClusterProfile, user: string): Fix {
  const { namespace } = profile;
  const name = `lance-client-${user.replaceAll(/[/%]/g, '-')}`;
  const rules: Rule[] = [
    { apiGroups: ['ray.io'], resources: ['rayclusters'], verbs: launchVerbs },
    { apiGroups: [''], resources: ['pods', 'services'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['pods/portforward'], verbs: ['create', 'get'] },
    // Events say why a RayCluster gets no pods. With some operator versions nothing else says so.
    { apiGroups: [''], resources: ['events'], verbs: ['list'] },
  ];
  return manifestFix(profile, [
    { apiVersion: `${rbac}/v1`, kind: 'Role', metadata: { name, namespace }, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name, namespace },
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects: [subjectOf(user)],
    },
  ]);
}

/** Lets the user list nodes, which are cluster-scoped. */
export function grantNodes(profile: ClusterProfile, user: string): Fix {
  const name = `lance-client-nodes-${user.replaceAll(/[/%]/g, '-')}`;
  return manifestFix(profile, [
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name },
      rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list'] }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
      subjects: [subjectOf(user)],
    },
  ]);
}

/** Returns the user or service account as the subject of a binding. */
function subjectOf(user: string): Readonly<Record<string, string>> {
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user);
  return account
    ? { kind: 'ServiceAccount', namespace: account[1] ?? '', name: account[2] ?? '' }
    : { kind: 'User', apiGroup: rbac, name: user };
}
