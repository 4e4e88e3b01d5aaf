import { checkIdsByCategory } from '#cluster/checkIds.ts';
import { launchVerbs } from '#cluster/kube/resourceAccess.ts';
import { type Fault, type Statuses, testFaults } from '../parts/faults.ts';
import type { KubeObject } from '../parts/kubeApi.ts';
import { names } from '../parts/sound/names.ts';
import { takeVerb } from '../parts/sound/takeVerb.ts';

const rbac = 'rbac.authorization.k8s.io';
const account = { kind: 'ServiceAccount', name: names.serviceAccount, namespace: names.namespace };

const runnerVerbs = [
  ['pods', 'get'],
  ['pods', 'list'],
  ['pods', 'watch'],
  ['rayclusters', 'get'],
  ['rayclusters', 'patch'],
  ['rayclusters', 'delete'],
] as const;

const allVerbs = (status: 'blocked' | 'skipped'): Statuses =>
  Object.fromEntries(runnerVerbs.map(([resource, verb]) => [`rbac-${resource}-${verb}`, status]));

const rest = (status: 'blocked' | 'skipped'): Statuses => ({
  'pods-run-as': status,
  'sar-allowed': status,
  ...allVerbs(status),
  'rbac-binding-cluster': status,
  'rbac-excess': status,
});

const verbFaults = runnerVerbs.map(([resource, verb]): Fault => ({
  name: `the service account may not ${verb} ${resource}`,
  plant: (cluster) => takeVerb(cluster, names.role, resource, verb),
  expected: { [`rbac-${resource}-${verb}`]: 'fail' },
  says: new RegExp(`^The service account geneva/geneva-sa may not ${verb} (?:ray\\.io/)?${resource} in all namespaces`),
  mend: 'objects',
}));

/** The checks that can't run without the verb, because they read the RayCluster by its name. */
const afterVerb: Partial<Record<(typeof launchVerbs)[number], Statuses>> = {
  get: { 'pods-run-as': 'skipped', 'ray-version-image': 'skipped', 'quota-room': 'skipped' },
};

const launchFaults = launchVerbs.map((verb): Fault => ({
  name: `the person may not ${verb} rayclusters`,
  plant: (cluster) => takeVerb(cluster, names.personRole, 'rayclusters', verb),
  expected: { [`client-rayclusters-${verb}`]: 'fail', ...afterVerb[verb] },
  says: new RegExp(`^You may not ${verb} ray\\.io/rayclusters in geneva\\.`),
  mend: 'objects',
}));

const binding = (subject: object): KubeObject => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name: names.binding },
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: names.role },
  subjects: [subject],
});

const roleBinding: KubeObject = {
  ...binding(account),
  kind: 'RoleBinding',
  metadata: { name: names.binding, namespace: names.namespace },
};

const unbound: Statuses = { 'rbac-binding-cluster': 'fail', ...allVerbs('blocked') };

const bindingFaults: readonly Fault[] = [
  {
    name: 'a RoleBinding gives the role in one namespace only',
    plant: async ({ api }) => {
      await api.delete(binding(account));
      await api.apply(roleBinding);
    },
    expected: unbound,
    says: /bound to geneva-role only by the RoleBinding geneva\/geneva-binding, which applies only to that namespace/,
    mend: 'objects',
  },
  {
    name: 'the binding names the service account of another namespace',
    plant: ({ api }) => api.merge(binding(account), { subjects: [{ ...account, namespace: 'default' }] }),
    expected: unbound,
    says: /^The ClusterRoleBinding geneva-binding names the service account default\/geneva-sa, not geneva\/geneva-sa/,
    mend: 'objects',
  },
  {
    name: 'nothing binds the service account',
    plant: ({ api }) => api.delete(binding(account)),
    expected: unbound,
    says: /is not bound to a role in all namespaces/,
    mend: 'objects',
  },
  {
    name: 'the service account is bound to a role without any of the verbs',
    plant: (cluster) => cluster.api.merge(cluster.object('ClusterRole', names.role), { rules: [] }),
    expected: Object.fromEntries(runnerVerbs.map(([resource, verb]) => [`rbac-${resource}-${verb}`, 'fail'])),
    says: /may not get pods/,
    mend: 'objects',
  },
  {
    name: 'the service account may do everything',
    plant: ({ api }) =>
      api.merge(
        { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: names.role } },
        { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] },
      ),
    expected: { 'rbac-excess': 'warn' },
    says: /has geneva-role, with "\*" for verbs or resources/,
    mend: 'advice',
    byHand: (cluster) => cluster.restore(),
  },
];

const namespaceFaults: readonly Fault[] = [
  {
    name: 'the namespace is missing',
    plant: ({ api, object }) => api.delete(object('Namespace', names.namespace)),
    expected: {
      'ns-exists': 'fail',
      'sa-exists': 'blocked',
      ...rest('blocked'),
      'quota-room': 'blocked',
      'limits-room': 'blocked',
    },
    says: /^There is no namespace geneva\.$/,
    mend: 'objects',
  },
  {
    name: 'the service account is missing',
    plant: ({ api, object }) => api.delete(object('ServiceAccount', names.serviceAccount)),
    expected: { 'sa-exists': 'fail', ...rest('blocked') },
    says: /^There is no service account geneva\/geneva-sa/,
    mend: 'objects',
  },
];

const podFaults: readonly Fault[] = [
  {
    name: 'the head runs under the default account',
    plant: async ({ api, object }) => {
      const head = object('Pod', `${names.rayCluster}-head`);
      await api.delete(head);
      await api.apply({ ...head, spec: { ...head['spec'], serviceAccountName: 'default' } });
    },
    expected: { 'pods-run-as': 'fail' },
    says: /^Pods of geneva-cluster run as default, not as geneva-sa: geneva-cluster-head\.$/,
    mend: 'command',
    tells: /delete pods --namespace geneva geneva-cluster-head$/,
    // Delete the pod immediately with the test's client: this cluster has no kubelet that would end the pod.
    byHand: ({ api, object }) => api.delete(object('Pod', `${names.rayCluster}-head`)),
  },
  {
    name: 'the specs of workers name no account',
    plant: async ({ api, object }) => {
      const workerGroupSpecs = structuredClone(object('RayCluster', names.rayCluster)['spec'].workerGroupSpecs);
      delete workerGroupSpecs[1].template.spec.serviceAccountName;
      await api.merge(object('RayCluster', names.rayCluster), { spec: { workerGroupSpecs } });
    },
    expected: { 'pods-run-as': 'fail' },
    says: /^In RayCluster geneva\/geneva-cluster the service account of the workers "gpu" is default, not geneva-sa\.$/,
    mend: 'objects',
  },
  {
    name: 'the RayCluster of the profile is gone',
    plant: ({ api, object }) => api.delete(object('RayCluster', names.rayCluster)),
    expected: { 'pods-run-as': 'fail' },
    says: /^There is no RayCluster geneva\/geneva-cluster/,
    mend: 'advice',
    byHand: (cluster) => cluster.restore(),
  },
];

const personFaults: readonly Fault[] = [
  {
    name: 'the person may not forward ports',
    plant: (cluster) => takeVerb(cluster, names.personRole, 'pods/portforward', 'create'),
    expected: { 'client-portforward': 'fail' },
    says: /^You may not create pods\/portforward in geneva/,
    mend: 'objects',
  },
  {
    name: 'the person may not open the web socket by which ports are forwarded',
    plant: (cluster) => takeVerb(cluster, names.personRole, 'pods/portforward', 'get'),
    expected: { 'client-portforward': 'fail' },
    says: /^You may not get pods\/portforward in geneva/,
    mend: 'objects',
  },
  {
    name: 'the person may not list nodes',
    plant: (cluster) => takeVerb(cluster, names.personRole, 'nodes', 'list'),
    expected: {
      'client-nodes-list': 'warn',
      ...(Object.fromEntries(
        checkIdsByCategory.nodes.filter((id) => !id.endsWith('-room')).map((id) => [id, 'skipped']),
      ) as Statuses),
    },
    says: /^You may not list nodes in all namespaces/,
    mend: 'objects',
  },
];

suite('The checks of identity and roles', function () {
  this.timeout(120_000);
  testFaults([...namespaceFaults, ...verbFaults, ...bindingFaults, ...podFaults, ...launchFaults, ...personFaults]);
});
