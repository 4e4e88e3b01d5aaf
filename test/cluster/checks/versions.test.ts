import type { CheckStatus } from '#cluster/result.ts';
import { type Fault, type Statuses, testFaults } from '../parts/faults.ts';
import { definitionOf } from '../parts/kubeApi.ts';
import { names } from '../parts/sound/names.ts';
import type { SoundCluster } from '../parts/soundCluster.ts';

const restore = (cluster: SoundCluster): Promise<void> => cluster.restore();

const ofOperator = (status: CheckStatus): Statuses => ({
  'operator-watches': status,
  'operator-version': status,
  'operator-pairing': status,
});

/** The checks that can't run without this resource. */
const withoutRayClusters: Statuses = {
  'crd-rayclusters': 'fail',
  'operator-running': 'blocked',
  ...ofOperator('blocked'),
  'ray-version-head': 'blocked',
  'pods-run-as': 'blocked',
};

/** Changes the only container of the operator. */
async function changeOperator(cluster: SoundCluster, change: object, labels: object = {}): Promise<void> {
  const operator = cluster.object('Deployment', names.operator);
  const [container] = operator['spec'].template.spec.containers;
  await cluster.api.merge(operator, {
    metadata: { labels },
    spec: { template: { spec: { containers: [{ ...container, ...change }] } } },
  });
}

const definitionFaults: readonly Fault[] = [
  {
    name: 'KubeRay is not installed',
    plant: ({ api }) => api.delete(definitionOf('rayclusters'), definitionOf('rayjobs')),
    expected: { ...withoutRayClusters, 'crd-rayjobs': 'warn' },
    says: /^The resource rayclusters\.ray\.io is not defined on this cluster: KubeRay is not installed\.$/,
    mend: 'command',
    tells: /helm --kubeconfig \S+ upgrade --install kuberay-operator kuberay\/kuberay-operator .*--namespace geneva/,
    byHand: restore,
  },
  {
    name: 'the resource is served in an old version only',
    plant: async ({ api }) => {
      const definition = await api.get(definitionOf('rayclusters'));
      const versions = definition?.['spec'].versions as { name: string }[];
      const old = versions.map((one) => (one.name === 'v1' ? { ...one, served: false } : one));
      await api.merge(definitionOf('rayclusters'), { spec: { versions: old } });
    },
    expected: withoutRayClusters,
    says: /^The resource rayclusters\.ray\.io is served as v1alpha1, not as v1\.$/,
    mend: 'command',
    tells: /kubectl .*apply --server-side .*config\/crd\?ref=/,
    byHand: restore,
  },
];

const operatorFaults: readonly Fault[] = [
  {
    name: 'no operator is there',
    plant: ({ api, object }) => api.delete(object('Deployment', names.operator)),
    expected: { 'operator-running': 'fail', ...ofOperator('blocked') },
    says: /^No KubeRay operator is installed/,
    mend: 'command',
    tells: /helm .*upgrade --install kuberay-operator/,
    byHand: restore,
  },
  {
    name: 'the operator has no pod that is ready',
    plant: ({ api, object }) =>
      api.setStatus({
        ...object('Deployment', names.operator),
        status: { readyReplicas: 0, availableReplicas: 0, conditions: null },
      }),
    expected: { 'operator-running': 'fail', ...ofOperator('blocked') },
    says: /^The operator geneva\/kuberay-operator has no ready pod/,
    mend: 'command',
    tells: /describe deployment kuberay-operator --namespace geneva$/,
    byHand: restore,
  },
  {
    name: 'the operator watches another namespace, by an argument',
    plant: (cluster) => changeOperator(cluster, { args: ['--watch-namespace', 'jobs,other'] }),
    expected: { 'operator-watches': 'fail' },
    says: /^The operator geneva\/kuberay-operator watches only jobs, other, not geneva/,
    mend: 'objects',
  },
  {
    name: 'the operator watches another namespace, by a variable',
    plant: (cluster) => changeOperator(cluster, { env: [{ name: 'WATCH_NAMESPACE', value: 'jobs' }] }),
    expected: { 'operator-watches': 'fail' },
    says: /watches only jobs, not geneva/,
    mend: 'objects',
  },
  {
    name: 'the operator of a chart watches another namespace',
    plant: (cluster) =>
      changeOperator(cluster, { args: ['--watch-namespace=jobs'] }, { 'app.kubernetes.io/managed-by': 'Helm' }),
    expected: { 'operator-watches': 'fail' },
    says: /watches only jobs, not geneva/,
    mend: 'command',
    tells: /helm .*--reuse-values --set 'watchNamespace=\{jobs,geneva\}'$/,
    byHand: restore,
  },
  {
    name: 'the operator is too old',
    plant: (cluster) => changeOperator(cluster, { image: 'quay.io/kuberay/operator:v1.0.0' }),
    expected: { 'operator-version': 'fail', 'operator-pairing': 'blocked' },
    says: /is KubeRay 1\.0\.0; 1\.1 or later is required/,
    mend: 'command',
    tells: /helm .*upgrade kuberay-operator kuberay\/kuberay-operator --version \S+ --namespace geneva/,
    byHand: restore,
  },
  {
    name: 'the operator of the managed add-on is newer than what is documented',
    plant: (cluster) => changeOperator(cluster, {}, { 'addonmanager.kubernetes.io/mode': 'Reconcile' }),
    expected: { 'operator-pairing': 'warn' },
    says: /^Kubernetes 1\.30 with the managed operator 1\.3 is not a documented pair/,
    mend: 'advice',
    byHand: restore,
  },
];

const rayFaults: readonly Fault[] = [
  {
    name: 'the images of head and workers have different versions of Ray',
    plant: async ({ api, object }) => {
      const ray = object('RayCluster', names.rayCluster);
      const { workerGroupSpecs } = ray['spec'];
      workerGroupSpecs[0].template.spec.containers[0].image = 'rayproject/ray:2.44.1-py311';
      await api.merge(ray, { spec: { workerGroupSpecs } });
    },
    expected: { 'ray-version-image': 'fail' },
    says: /has Ray 2\.43\.0, but the image of the workers "cpu" 2\.44\.1; they must be equal/,
    mend: 'advice',
    byHand: restore,
  },
  {
    name: 'the RayCluster says another version than its images have',
    plant: ({ api, object }) => api.merge(object('RayCluster', names.rayCluster), { spec: { rayVersion: '2.46.0' } }),
    expected: { 'ray-version-image': 'fail' },
    says: /^The profile has Ray 2\.43\.0, but RayCluster geneva-cluster 2\.46\.0/,
    mend: 'advice',
    byHand: restore,
  },
];

/** A custom image that contains Ray. */
const ownImage: Fault = {
  name: "the tag of somebody's own image may be another version than that of Ray",
  plant: async ({ api, object }) => {
    const ray = object('RayCluster', names.rayCluster);
    const { workerGroupSpecs } = ray['spec'];
    workerGroupSpecs[0].template.spec.containers[0].image = 'example.com/team/ray-worker:1.4.2';
    await api.merge(ray, { spec: { workerGroupSpecs } });
  },
  expected: { 'ray-version-image': 'warn' },
  says: /the image of the workers "cpu" has Ray 1\.4\.2.*Ignore this if the tag is the image's own version/i,
  mend: 'advice',
  byHand: restore,
};

suite('The checks of versions', function () {
  this.timeout(120_000);
  testFaults([...definitionFaults, ...operatorFaults, ...rayFaults, ownImage]);
});
