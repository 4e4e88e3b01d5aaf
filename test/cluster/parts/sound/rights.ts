import type { KubeObject } from '../kubeApi.ts';
import { names } from './names.ts';

const { namespace, serviceAccount } = names;
const rbac = 'rbac.authorization.k8s.io';

const roleOf = (name: string, rules: Record<string, string[]>[]): KubeObject => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRole',
  metadata: { name },
  rules,
});

const bindingOf = (name: string, role: string, subject: Record<string, string>): KubeObject => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
  subjects: [subject],
});

const rule = (group: string, resources: string[], ...verbs: string[]): Record<string, string[]> => ({
  apiGroups: [group],
  resources,
  verbs,
});

/** The permissions that Alice needs to launch a backfill and to run all checks. */
const ofThePerson = [
  rule('ray.io', ['rayclusters'], 'create', 'get', 'list', 'watch', 'patch', 'delete'),
  rule('', ['pods/portforward'], 'create', 'get'),
  rule('', ['services/proxy'], 'get'),
  rule('', ['nodes', 'pods'], 'get', 'list', 'watch'),
  rule('', ['events'], 'list'),
  rule('', ['namespaces', 'serviceaccounts', 'resourcequotas', 'limitranges'], 'get', 'list'),
  rule('', ['serviceaccounts/token'], 'create'),
  rule('apps', ['deployments', 'daemonsets'], 'get', 'list'),
  rule('apiextensions.k8s.io', ['customresourcedefinitions'], 'get', 'list'),
  rule(rbac, ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'], 'get', 'list'),
  rule('authorization.k8s.io', ['subjectaccessreviews'], 'create'),
];

/** The namespace, the service account of the runner with its role, and the role of the user. */
export const rights: readonly KubeObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: {
      name: serviceAccount,
      namespace,
      annotations: {
        'eks.amazonaws.com/role-arn': 'arn:aws:iam::123456789012:role/geneva-service-role',
        'iam.gke.io/gcp-service-account': 'geneva@test-project.iam.gserviceaccount.com',
      },
    },
  },
  roleOf(names.role, [
    rule('', ['pods'], 'get', 'list', 'watch'),
    rule('ray.io', ['rayclusters'], 'get', 'patch', 'delete'),
  ]),
  bindingOf(names.binding, names.role, { kind: 'ServiceAccount', name: serviceAccount, namespace }),
  roleOf(names.personRole, ofThePerson),
  bindingOf(names.personRole, names.personRole, { apiGroup: rbac, kind: 'User', name: 'alice' }),
];
