import type { KubeObject } from '../kubeApi.ts';
import { names } from './names.ts';

const { namespace, labelDomain, rayCluster, image } = names;

type Container = Record<string, unknown>;

const ready = [{ type: 'Ready', status: 'True' }];

/** Returns a running pod, as its kubelet would report it. */
function podOf(name: string, labels: Record<string, string>, spec: Record<string, unknown>): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels },
    spec,
    status: { phase: 'Running', podIP: '10.1.0.1', conditions: ready },
  };
}

const operatorLabels = {
  'app.kubernetes.io/name': 'kuberay-operator',
  'app.kubernetes.io/instance': names.operator,
  'app.kubernetes.io/component': 'kuberay-operator',
};

const operatorContainer: Container = {
  name: 'kuberay-operator',
  image: 'quay.io/kuberay/operator:v1.3.2',
  command: ['/manager'],
  args: ['--feature-gates=RayClusterStatusConditions=true', '--enable-leader-election=true'],
  resources: { requests: { cpu: '100m', memory: '512Mi' }, limits: { cpu: '100m', memory: '512Mi' } },
};

/** KubeRay's operator as its chart installs it. */
const operator: readonly KubeObject[] = [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: names.operator,
      namespace,
      labels: { ...operatorLabels, 'helm.sh/chart': 'kuberay-operator-1.3.2' },
    },
    spec: {
      replicas: 1,
      selector: { matchLabels: operatorLabels },
      template: { metadata: { labels: operatorLabels }, spec: { containers: [operatorContainer] } },
    },
    status: {
      observedGeneration: 1,
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
      conditions: [{ type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: 'ready' }],
    },
  },
  podOf(`${names.operator}-7d9f8`, operatorLabels, { nodeName: names.nodes.cpu, containers: [operatorContainer] }),
];

const rayContainer = (name: string, requests: Record<string, string>): Container => ({
  name,
  image,
  resources: { requests, limits: requests },
});

const headSpec = {
  serviceAccountName: names.serviceAccount,
  nodeSelector: { [`${labelDomain}/ray-head`]: 'true' },
  tolerations: [{ key: `${labelDomain}/ray-head`, operator: 'Exists' }],
  containers: [rayContainer('ray-head', { cpu: '4', memory: '8Gi' })],
};
const workerSpecs = {
  cpu: {
    serviceAccountName: names.serviceAccount,
    nodeSelector: { [`${labelDomain}/ray-worker-cpu`]: 'true' },
    containers: [rayContainer('ray-worker', { cpu: '4', memory: '8Gi' })],
  },
  gpu: {
    serviceAccountName: names.serviceAccount,
    nodeSelector: { [`${labelDomain}/ray-worker-gpu`]: 'true' },
    tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists' }],
    containers: [rayContainer('ray-worker', { cpu: '8', memory: '16Gi', 'nvidia.com/gpu': '1' })],
  },
} as const;
type Group = keyof typeof workerSpecs;

const groupOf = (groupName: Group): Record<string, unknown> => ({
  groupName,
  replicas: 1,
  minReplicas: 0,
  maxReplicas: 4,
  rayStartParams: {},
  template: { spec: workerSpecs[groupName] },
});

const rayPod = (suffix: string, type: 'head' | 'worker', group: string, spec: object, node: string): KubeObject =>
  podOf(
    `${rayCluster}-${suffix}`,
    {
      'ray.io/cluster': rayCluster,
      'ray.io/node-type': type,
      'ray.io/group': group,
      'app.kubernetes.io/created-by': 'kuberay-operator',
    },
    { ...spec, nodeName: node },
  );

/** A running RayCluster, with the pods that the operator creates for it. */
const ray: readonly KubeObject[] = [
  {
    apiVersion: 'ray.io/v1',
    kind: 'RayCluster',
    metadata: { name: rayCluster, namespace },
    spec: {
      rayVersion: names.rayVersion,
      headGroupSpec: {
        rayStartParams: { 'dashboard-host': '0.0.0.0', 'num-cpus': '0' },
        template: { spec: headSpec },
      },
      workerGroupSpecs: [groupOf('cpu'), groupOf('gpu')],
    },
    status: {
      state: 'ready',
      observedGeneration: 1,
      desiredWorkerReplicas: 2,
      readyWorkerReplicas: 2,
      availableWorkerReplicas: 2,
      head: { podName: `${rayCluster}-head`, podIP: '10.1.0.1', serviceName: `${rayCluster}-head-svc` },
    },
  },
  rayPod('head', 'head', 'headgroup', headSpec, names.nodes.head),
  rayPod('cpu-worker-x7k2p', 'worker', 'cpu', workerSpecs.cpu, names.nodes.cpu),
  rayPod('gpu-worker-m4d9s', 'worker', 'gpu', workerSpecs.gpu, names.nodes.gpu),
];

const pluginLabels = { name: 'nvidia-device-plugin-ds' };

/** The device plugin that reports the GPUs of nodes to Kubernetes. */
const gpuPlugin: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: names.gpuPlugin, namespace: 'kube-system', labels: pluginLabels },
  spec: {
    selector: { matchLabels: pluginLabels },
    template: {
      metadata: { labels: pluginLabels },
      spec: {
        tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
        containers: [{ name: 'nvidia-device-plugin-ctr', image: 'nvcr.io/nvidia/k8s-device-plugin:v0.17.1' }],
      },
    },
  },
  status: {
    observedGeneration: 1,
    currentNumberScheduled: 1,
    desiredNumberScheduled: 1,
    numberMisscheduled: 0,
    numberReady: 1,
    numberAvailable: 1,
    updatedNumberScheduled: 1,
  },
};

const hard = { 'requests.cpu': '200', 'requests.memory': '800Gi', 'requests.nvidia.com/gpu': '8', pods: '100' };
const used = { 'requests.cpu': '16100m', 'requests.memory': '33280Mi', 'requests.nvidia.com/gpu': '1', pods: '4' };

/**
 * A quota and limits that leave enough space for a launch. The quota counts the pods above, so the pods are created
 * first.
 */
const limits: readonly KubeObject[] = [
  {
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name: 'geneva-limits', namespace },
    spec: { limits: [{ type: 'Container', max: { cpu: '16', memory: '64Gi' } }] },
  },
  {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'geneva-quota', namespace },
    spec: { hard },
    status: { hard, used },
  },
];

export const kuberay: readonly KubeObject[] = [...operator, ...ray, gpuPlugin, ...limits];
