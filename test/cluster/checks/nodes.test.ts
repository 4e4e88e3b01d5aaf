import { type Fault, testFaults } from '../parts/faults.ts';
import type { KubeObject } from '../parts/kubeApi.ts';
import { names } from '../parts/sound/names.ts';
import type { SoundCluster } from '../parts/soundCluster.ts';

const { labelDomain, nodes } = names;
const restore = (cluster: SoundCluster): Promise<void> => cluster.restore();

type Labels = Record<string, string | null>;

const relabel =
  (name: string, labels: Labels): Fault['plant'] =>
  (cluster) =>
    cluster.api.merge(cluster.object('Node', name), { metadata: { labels } });

const respec =
  (name: string, spec: object): Fault['plant'] =>
  (cluster) =>
    cluster.api.merge(cluster.object('Node', name), { spec });

const withStatus =
  (kind: string, name: string, status: object): Fault['plant'] =>
  (cluster) =>
    cluster.api.setStatus({ ...cluster.object(kind, name), status });

/** Applies a function to a copy of the RayCluster's spec and saves it. */
const changeRay =
  (change: (spec: KubeObject['spec']) => void): Fault['plant'] =>
  async (cluster) => {
    const ray = cluster.object('RayCluster', names.rayCluster);
    change(ray['spec']);
    await cluster.api.replace({ ...((await cluster.api.get(ray)) ?? ray), spec: ray['spec'] });
  };

const notReady = { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: 'gone' }] };

/**
 * Returns the taint that Kubernetes adds to a node in this state. The tests must add it, because their API server has
 * no controller for taints.
 */
const taintOf = (state: string, effect: string) => ({ key: `node.kubernetes.io/${state}`, effect });

const blockedByHead = {
  'head-not-spot': 'blocked',
  'head-no-processing': 'blocked',
  'head-size': 'blocked',
} as const;

const placeFaults: readonly Fault[] = [
  {
    name: 'no node has the label for the head',
    plant: relabel(nodes.head, { [`${labelDomain}/ray-head`]: null }),
    expected: { 'nodes-head': 'fail', ...blockedByHead },
    says: /^No node has the label geneva\.lancedb\.com\/ray-head, which is required for the head/,
    mend: 'objects',
  },
  {
    name: 'the node for the head is cordoned',
    plant: respec(nodes.head, { unschedulable: true, taints: [taintOf('unschedulable', 'NoSchedule')] }),
    expected: { 'nodes-head': 'fail', ...blockedByHead },
    says: /^No node for the head accepts pods: n-head is ready, cordoned/,
    mend: 'objects',
  },
  {
    name: 'the node for the head is not ready',
    plant: async (cluster) => {
      await respec(nodes.head, { taints: [taintOf('unreachable', 'NoSchedule'), taintOf('unreachable', 'NoExecute')] })(
        cluster,
      );
      await withStatus('Node', nodes.head, notReady)(cluster);
    },
    expected: { 'nodes-head': 'fail', ...blockedByHead },
    says: /n-head is not ready/,
    mend: 'command',
    tells: /describe nodes n-head$/,
    byHand: restore,
  },
  {
    name: 'no node has the label for workers',
    plant: relabel(nodes.cpu, { [`${labelDomain}/ray-worker-cpu`]: null }),
    expected: { 'nodes-cpu': 'fail' },
    says: /^No node has the label geneva\.lancedb\.com\/ray-worker-cpu, which is required for the workers "cpu"\.$/,
    mend: 'objects',
  },
  {
    name: 'the node for workers is cordoned',
    plant: respec(nodes.cpu, { unschedulable: true, taints: [taintOf('unschedulable', 'NoSchedule')] }),
    expected: { 'nodes-cpu': 'warn' },
    says: /^No node for the workers "cpu" accepts pods: n-cpu is ready, cordoned/,
    mend: 'objects',
  },
  {
    name: 'no node has the label for workers with GPUs',
    plant: relabel(nodes.gpu, { [`${labelDomain}/ray-worker-gpu`]: null }),
    expected: { 'nodes-gpu': 'fail', 'gpu-plugin': 'blocked', 'gpu-allocatable': 'blocked' },
    says: /ray-worker-gpu/,
    mend: 'objects',
  },
  {
    name: 'a label has the value "yes"',
    plant: relabel(nodes.head, { [`${labelDomain}/ray-head`]: 'yes' }),
    expected: { 'nodes-label-value': 'fail', 'nodes-selector-match': 'blocked' },
    says: /^n-head: geneva\.lancedb\.com\/ray-head is "yes", but the head selects "true"/,
    mend: 'objects',
  },
  {
    name: 'a selector asks for a label that no node has',
    plant: changeRay((spec) => (spec.headGroupSpec.template.spec.nodeSelector['pool'] = 'blue')),
    expected: { 'nodes-selector-match': 'fail' },
    says: /^No node for the head also has pool=blue/,
    mend: 'objects',
  },
  {
    name: 'the nodes for workers have a taint that these do not tolerate',
    plant: respec(nodes.cpu, { taints: [{ key: 'team', value: 'search', effect: 'NoSchedule' }] }),
    expected: { 'nodes-selector-match': 'fail' },
    says: /^The workers "cpu": the taint team=search:NoSchedule of n-cpu is not tolerated/,
    mend: 'advice',
    byHand: restore,
  },
];

const headFaults: readonly Fault[] = [
  {
    name: 'the only node for the head is a spot node',
    plant: relabel(nodes.head, { 'eks.amazonaws.com/capacityType': 'SPOT' }),
    expected: { 'head-not-spot': 'fail' },
    says: /^n-head can be removed at any time \(eks\.amazonaws\.com\/capacityType=SPOT\)/,
    mend: 'advice',
    byHand: restore,
  },
  {
    name: 'the head selects spot nodes, which are made for it',
    plant: async (cluster) => {
      await relabel(nodes.cpu, { 'karpenter.sh/nodepool': 'default' })(cluster);
      await changeRay((spec) => {
        spec.headGroupSpec.template.spec.nodeSelector = { 'karpenter.sh/capacity-type': 'spot' };
      })(cluster);
    },
    expected: { 'head-not-spot': 'fail', 'nodes-head': 'warn', 'head-size': 'skipped' },
    says: /^The head selects a spot node \(karpenter\.sh\/capacity-type=spot\)/,
    mend: 'advice',
    byHand: restore,
  },
  {
    name: 'one of the nodes for the head is a spot node',
    plant: async (cluster) => {
      const head = cluster.object('Node', nodes.head);
      const spot = { ...head.metadata.labels, 'karpenter.sh/capacity-type': 'spot' };
      await cluster.api.apply({ ...head, metadata: { name: 'n-spot', labels: spot } });
    },
    expected: { 'head-not-spot': 'fail' },
    says: /^n-spot can be removed at any time \(karpenter\.sh\/capacity-type=spot\)/,
    mend: 'command',
    tells: /label nodes n-spot geneva\.lancedb\.com\/ray-head-$/,
  },
  {
    name: 'a node is marked for the head and for workers',
    plant: relabel(nodes.head, { [`${labelDomain}/ray-worker-cpu`]: 'true' }),
    expected: { 'head-no-processing': 'fail' },
    says: /^Nodes are labeled for both the head and workers.*: n-head\.$/,
    mend: 'command',
    tells: /label nodes n-head geneva\.lancedb\.com\/ray-worker-cpu-$/,
  },
  {
    name: 'work may land on the head',
    plant: async (cluster) => {
      await changeRay((spec) => delete spec.headGroupSpec.rayStartParams['num-cpus'])(cluster);
      await respec(nodes.head, { taints: null })(cluster);
    },
    expected: { 'head-no-processing': 'fail' },
    says: /^Tasks may run on the head/,
    mend: 'objects',
  },
];

const sizeFaults: readonly Fault[] = [
  {
    name: 'the head does not fit on its node',
    plant: withStatus('Node', nodes.head, { allocatable: { cpu: '1930m', memory: '32Gi' } }),
    expected: { 'head-size': 'fail' },
    says: /^The head fits on no node: short of CPU \(needs 4, has 1\.93\) on n-head/,
    mend: 'advice',
    byHand: restore,
  },
  {
    name: 'the head is smaller than it should be',
    plant: changeRay((spec) => {
      const small = { cpu: '2', memory: '4Gi' };
      spec.headGroupSpec.template.spec.containers[0].resources = { requests: small, limits: small };
    }),
    expected: { 'head-size': 'warn' },
    says: /^The head requests 2 CPU and 4 GiB; with less than 4 CPU and 8 GiB it runs out of memory/,
    mend: 'advice',
    byHand: restore,
  },
  {
    name: 'a group of workers is too large for its nodes',
    plant: withStatus('Node', nodes.cpu, { allocatable: { memory: '7400000Ki' } }),
    expected: { 'worker-fit': 'fail' },
    says: /^A pod of the workers "cpu" fits on no node: short of memory \(needs 8 GiB, has 7\.06 GiB\) on n-cpu/,
    mend: 'advice',
    byHand: restore,
  },
  {
    name: 'the nodes have another architecture than the image',
    plant: withStatus('Node', nodes.cpu, { nodeInfo: { architecture: 'arm64' } }),
    expected: { 'arch-match': 'warn' },
    says: /rayproject\/ray:2\.43\.0 is built for linux\/amd64, but the nodes for the workers "cpu" are linux\/arm64/,
    mend: 'advice',
    byHand: restore,
  },
];

const gpuFaults: readonly Fault[] = [
  {
    name: 'the GPU plugin is missing and no GPU is offered',
    plant: async (cluster) => {
      await cluster.api.delete(cluster.object('DaemonSet', names.gpuPlugin));
      await withStatus('Node', nodes.gpu, { allocatable: { 'nvidia.com/gpu': null } })(cluster);
    },
    expected: { 'gpu-plugin': 'fail', 'gpu-allocatable': 'blocked' },
    says: /^No GPU device plugin is installed/,
    mend: 'command',
    tells: /kubectl .*apply -f https:\S+nvidia-device-plugin\.yml$/,
    byHand: restore,
  },
  {
    name: 'the GPU plugin is missing while GPUs are still offered',
    plant: (cluster) => cluster.api.delete(cluster.object('DaemonSet', names.gpuPlugin)),
    expected: { 'gpu-plugin': 'warn' },
    says: /^There is no DaemonSet of a GPU device plugin; nodes offer GPUs/,
    mend: 'command',
    byHand: restore,
  },
  {
    name: 'the GPU plugin is not ready',
    plant: withStatus('DaemonSet', names.gpuPlugin, { numberReady: 0, numberAvailable: 0 }),
    expected: { 'gpu-plugin': 'fail', 'gpu-allocatable': 'blocked' },
    says: /is ready on 0 of 1 nodes/,
    mend: 'command',
    tells: /describe daemonset nvidia-device-plugin-daemonset --namespace kube-system$/,
    byHand: restore,
  },
  {
    name: 'the nodes for GPU workers offer none',
    plant: withStatus('Node', nodes.gpu, { allocatable: { 'nvidia.com/gpu': '0' } }),
    expected: { 'gpu-allocatable': 'fail' },
    says: /^No GPU is offered by n-gpu/,
    mend: 'command',
    tells: /describe nodes n-gpu$/,
    byHand: restore,
  },
];

const quotaOf =
  (hard: object): Fault['plant'] =>
  (cluster) =>
    cluster.api.merge(cluster.object('ResourceQuota', 'geneva-quota'), { spec: { hard } });

const roomFaults: readonly Fault[] = [
  {
    name: 'the quota is full before the cluster is launched',
    profile: (profile) => ({ ...profile, rayCluster: undefined }),
    plant: quotaOf({ 'requests.cpu': '18', 'requests.memory': '34Gi' }),
    expected: { 'quota-room': 'fail' },
    says: /geneva-quota has no room for head and workers: requests\.cpu: needs 4 CPU, has 1\.9 CPU left; requests\.memory: needs 8 GiB, has 1\.5 GiB left/,
    mend: 'objects',
  },
  {
    name: 'the quota leaves no room for more workers',
    plant: quotaOf({ pods: '4' }),
    expected: { 'quota-room': 'warn' },
    says: /geneva-quota leaves no room for one more of the workers "cpu": pods: needs 1, has 0 left/,
    mend: 'objects',
  },
  {
    name: 'the limit range is too small',
    plant: (cluster) =>
      cluster.api.merge(cluster.object('LimitRange', 'geneva-limits'), {
        spec: { limits: [{ type: 'Container', max: { cpu: '3500m', memory: '64Gi' } }] },
      }),
    expected: { 'limits-room': 'fail' },
    says: /^The limit range geneva-limits allows a container at most 3\.5 CPU of cpu, but the head requests 4 CPU/,
    mend: 'objects',
  },
  {
    name: 'the limit range asks for more than the head does',
    plant: (cluster) =>
      cluster.api.merge(cluster.object('LimitRange', 'geneva-limits'), {
        spec: { limits: [{ type: 'Pod', min: { memory: '12Gi' }, max: { memory: '64Gi' } }] },
      }),
    expected: { 'limits-room': 'fail' },
    says: /allows a pod at least 12 GiB of memory, but the head requests 8 GiB/,
    mend: 'objects',
  },
];

suite('The checks of nodes', function () {
  this.timeout(120_000);
  testFaults([...placeFaults, ...headFaults, ...sizeFaults, ...gpuFaults, ...roomFaults]);
});
