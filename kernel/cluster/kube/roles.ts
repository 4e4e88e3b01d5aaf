import type { RbacV1Subject, V1PolicyRule } from '@kubernetes/client-node';
import type { ClusterProfile } from '#cluster/profile.ts';
import { definedEntries } from '#shared/records.ts';
import { listAt, stringAt, textsAt } from '#shared/fields.ts';

/** A rule of a role, without the parts that are not about resources. */
export type RoleRule = Readonly<Required<Pick<V1PolicyRule, 'apiGroups' | 'resources' | 'verbs' | 'resourceNames'>>>;

export type Role = {
  readonly name: string;
  readonly rules: readonly RoleRule[];
  /** All rules, unparsed, including the rules for URLs. */
  readonly rawRules: readonly unknown[];
  /** The rules are aggregated from other roles, and the aggregation overwrites changes to them. */
  readonly isAggregated: boolean;
};

type Subject = Readonly<Pick<RbacV1Subject, 'kind' | 'name' | 'namespace'>>;

export type Binding = {
  readonly name: string;
  /** Set only for a RoleBinding. */
  readonly namespace: string | undefined;
  readonly role: { readonly kind: string; readonly name: string };
  readonly subjects: readonly Subject[];
};

export function readRole(item: unknown): Role | undefined {
  const name = stringAt(item, 'metadata', 'name');
  if (name === undefined) return undefined;
  const rawRules = listAt(item, 'rules');
  return {
    name,
    rawRules,
    rules: rawRules.map((rule) => ({
      apiGroups: textsAt(rule, 'apiGroups'),
      resources: textsAt(rule, 'resources'),
      verbs: textsAt(rule, 'verbs'),
      resourceNames: textsAt(rule, 'resourceNames'),
    })),
    isAggregated: listAt(item, 'aggregationRule', 'clusterRoleSelectors').length > 0,
  };
}

export function readBinding(item: unknown): Binding | undefined {
  const name = stringAt(item, 'metadata', 'name');
  const role = stringAt(item, 'roleRef', 'name');
  if (name === undefined || role === undefined) return undefined;
  return {
    name,
    namespace: stringAt(item, 'metadata', 'namespace'),
    role: { kind: stringAt(item, 'roleRef', 'kind') ?? '', name: role },
    subjects: listAt(item, 'subjects').map((subject) => ({
      kind: stringAt(subject, 'kind') ?? '',
      name: stringAt(subject, 'name') ?? '',
      ...definedEntries({ namespace: stringAt(subject, 'namespace') }),
    })),
  };
}

type Account = Pick<ClusterProfile, 'namespace' | 'serviceAccount'>;

/** Returns whether a binding applies to the service account, by name or by group. */
export function bindsAccount({ subjects }: Binding, { namespace, serviceAccount }: Account): boolean {
  return subjects.some(({ kind, name, namespace: of }) => {
    if (kind === 'ServiceAccount') return name === serviceAccount && of === namespace;
    if (kind === 'User') return name === `system:serviceaccount:${namespace}:${serviceAccount}`;
    return (
      kind === 'Group' &&
      ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'].includes(name)
    );
  });
}

/** Returns whether a binding names the service account itself, not only a group. */
export const namesAccount = ({ subjects }: Binding, { namespace, serviceAccount }: Account): boolean =>
  subjects.some((one) => one.kind === 'ServiceAccount' && one.name === serviceAccount && one.namespace === namespace);

/** If a binding names a service account with the same name in another namespace, returns that namespace. */
export const otherNamespaceIn = ({ subjects }: Binding, { namespace, serviceAccount }: Account): string | undefined =>
  subjects.find((one) => one.kind === 'ServiceAccount' && one.name === serviceAccount && one.namespace !== namespace)
    ?.namespace;
