import { readArn, roleOfSession } from '#cluster/aws/awsNames.ts';
import { launchVerbs, runnerAccess } from '#cluster/kube/access.ts';
import { type Binding, bindsAccount, namesAccount, type Role } from '#cluster/kube/roles.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { objectsMend, shellLine } from './commands.ts';
import type { KubernetesManifest, Mend } from './fix.ts';

// Roles as whole objects: the API server replaces a list of rules or subjects as one, so that what is there already is part
// of what is applied.

/**
 * On EKS a session of a role has another name each time, so that no binding can name it: its access entry is given a policy.
 * @param person as the API server calls whoever asks
 * @returns `undefined` where it is nobody of AWS
 */
export function grantByAccessEntry(profile: ClusterProfile, person: string): Mend | undefined {
  const session = roleOfSession(person);
  const cluster = profile.auth.configMethod === 'EKS_AUTH' ? profile.auth : profile.aws;
  if (!session || cluster?.clusterName === undefined) return undefined;
  const partition = readArn(person)?.partition ?? 'aws';
  return {
    kind: 'command',
    command: shellLine(
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

/** The rules that the runner takes, as few as there can be. */
const runnerRules: readonly Rule[] = [
  ...new Set(runnerAccess.map(({ group, resource }) => `${group}/${resource}`)),
].map((kind) => {
  const [group = '', resource = ''] = kind.split('/');
  const verbs = runnerAccess.filter((one) => one.group === group && one.resource === resource).map(({ verb }) => verb);
  return { apiGroups: [group], resources: [resource], verbs };
});

/** What is known of roles and who has them; `undefined` where the person may not look. */
export type KnownRoles = { readonly roles: readonly Role[]; readonly bindings: readonly Binding[] } | undefined;

/**
 * Gives the service account what the runner takes, in all namespaces: in the role that it has, where nobody else has that
 * role too, else in a role of its own.
 */
export function grantRunner(profile: ClusterProfile, known: KnownRoles): Mend {
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
  return objectsMend(profile, [role, ...(own ? [] : [bindingOf(profile, name)])]);
}

/** A role that only this service account has, by a binding that names it. */
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

/** Binds the service account to a role that is there, in all namespaces. */
export const bindRunner = (profile: ClusterProfile, role: string): Mend =>
  objectsMend(profile, [bindingOf(profile, role)]);

const bindingOf = ({ namespace, serviceAccount }: ClusterProfile, role: string): KubernetesManifest => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRoleBinding',
  // A name of its own: subjects of a binding that is there already are somebody else's.
  metadata: { name: `lance-runner-${namespace}-${serviceAccount}` },
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
  subjects: [{ kind: 'ServiceAccount', name: serviceAccount, namespace }],
});

const isSame = (a: readonly string[] | undefined, b: readonly string[]): boolean => a?.join('\n') === b.join('\n');

/** The rules that are there, with the verbs that are missing written into the first that is about the same, or behind them. */
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

/** Gives the person what launching takes in the namespace. */
export function grantLauncher(profile: ClusterProfile, person: string): Mend {
  const { namespace } = profile;
  const name = `lance-client-${person.replaceAll(/[/%]/g, '-')}`;
  const rules: Rule[] = [
    { apiGroups: ['ray.io'], resources: ['rayclusters'], verbs: launchVerbs },
    { apiGroups: [''], resources: ['pods', 'services'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['pods/portforward'], verbs: ['create', 'get'] },
    // Why a RayCluster gets no pods is told there, and by some versions of the operator there alone.
    { apiGroups: [''], resources: ['events'], verbs: ['list'] },
  ];
  return objectsMend(profile, [
    { apiVersion: `${rbac}/v1`, kind: 'Role', metadata: { name, namespace }, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name, namespace },
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects: [subjectOf(person)],
    },
  ]);
}

/** Lets the person list nodes, which are in no namespace. */
export function grantNodes(profile: ClusterProfile, person: string): Mend {
  const name = `lance-client-nodes-${person.replaceAll(/[/%]/g, '-')}`;
  return objectsMend(profile, [
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
      subjects: [subjectOf(person)],
    },
  ]);
}

/** Whoever signs in, as a binding names them. */
function subjectOf(person: string): Readonly<Record<string, string>> {
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(person);
  return account
    ? { kind: 'ServiceAccount', namespace: account[1] ?? '', name: account[2] ?? '' }
    : { kind: 'User', apiGroup: rbac, name: person };
}
