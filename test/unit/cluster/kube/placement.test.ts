import assert from 'node:assert/strict';
import { type KubeNode, readNode, spotLabelOf, taintsAgainst } from '#cluster/kube/nodes.ts';
import { candidateNodes, nodesForGroup, matchingNodes } from '#cluster/kube/placement.ts';
import { type GroupSpec, readRayCluster } from '#cluster/kube/rayGroups.ts';
import type { ClusterProfile } from '#cluster/profile.ts';

// Only the label domain of the profile is used here.
const profile = { labelDomain: 'geneva.lancedb.com' } as ClusterProfile;
const label = 'geneva.lancedb.com/ray-head';

const node = (name: string, labels: Record<string, string>, spec: object = {}): KubeNode =>
  readNode({ metadata: { name, labels }, spec }) ?? assert.fail('no node');

const head = (nodeSelector: Record<string, string>): GroupSpec => {
  const spec = { template: { spec: { nodeSelector, containers: [] } } };
  const cluster = readRayCluster({ apiVersion: 'ray.io/v1', metadata: { name: 'r' }, spec: { headGroupSpec: spec } });
  return cluster?.groups[0] ?? assert.fail('no head');
};

const names = (nodes: readonly KubeNode[]): string[] => nodes.map(({ name }) => name);

suite('The nodes for a group', () => {
  const nodes = [
    node('right', { [label]: 'true', pool: 'blue' }),
    node('wrong-value', { [label]: 'yes', pool: 'red' }),
    node('other', { pool: 'blue' }),
  ];

  test('are those with its label, whatever the value', () => {
    assert.deepEqual(names(nodesForGroup(profile, head({ [label]: 'true' }), nodes)), ['right', 'wrong-value']);
  });

  test('are fewer by what else it selects', () => {
    const group = head({ [label]: 'true', pool: 'blue' });
    assert.deepEqual(names(matchingNodes(profile, group, nodes)), ['right']);
    const green = head({ [label]: 'true', pool: 'green' });
    assert.deepEqual(names(matchingNodes(profile, green, nodes)), []);
    assert.deepEqual(names(candidateNodes(profile, green, nodes)), ['right', 'wrong-value']);
  });

  test('are those of the whole selector where it does not go by the label, and all without one', () => {
    assert.deepEqual(names(nodesForGroup(profile, head({ pool: 'blue' }), nodes)), ['right', 'other']);
    assert.deepEqual(names(nodesForGroup(profile, head({}), nodes)), ['right', 'wrong-value', 'other']);
  });
});

suite('A node', () => {
  test('is nothing ready, and has nothing to give, where it says nothing', () => {
    const { isReady, isCordoned, allocatable, taints } = node('n', {});
    assert.deepEqual([isReady, isCordoned, allocatable, taints], [false, false, { cpu: 0, memory: 0, gpu: 0 }, []]);
  });

  test('is none without a name, whatever else a server says', () => {
    for (const item of [null, 3, 'node', [], {}, { metadata: null }, { metadata: { name: 7 } }])
      assert.equal(readNode(item), undefined);
  });

  test('is a spot node by the label of each cloud, and by no other value of it', () => {
    const spot = [
      { 'cloud.google.com/gke-spot': 'true' },
      { 'cloud.google.com/gke-preemptible': 'true' },
      { 'eks.amazonaws.com/capacityType': 'SPOT' },
      { 'karpenter.sh/capacity-type': 'spot' },
      { 'kubernetes.azure.com/scalesetpriority': 'spot' },
    ];
    for (const labels of spot) assert.ok(spotLabelOf(node('n', labels)), JSON.stringify(labels));
    for (const labels of [
      {},
      { 'eks.amazonaws.com/capacityType': 'ON_DEMAND' },
      { 'karpenter.sh/capacity-type': 'on-demand' },
    ])
      assert.equal(spotLabelOf(node('n', labels)), undefined);
  });

  test('keeps pods off by its taints unless they tolerate these, as the scheduler has it', () => {
    const taints = [
      { key: 'team', value: 'search', effect: 'NoSchedule' },
      { key: 'soft', effect: 'PreferNoSchedule' },
      { key: 'gone', effect: 'NoExecute' },
    ];
    const tainted = node('n', {}, { taints });
    const left = (...tolerations: Parameters<typeof taintsAgainst>[1]): string[] =>
      taintsAgainst(tainted, tolerations).map(({ key }) => key);
    assert.deepEqual(left(), ['team', 'gone']);
    assert.deepEqual(left({ operator: 'Exists' }), []);
    assert.deepEqual(left({ key: 'team', value: 'search' }), ['gone']);
    assert.deepEqual(left({ key: 'team', operator: 'Equal', value: 'ads' }), ['team', 'gone']);
    assert.deepEqual(left({ key: 'team', operator: 'Exists', effect: 'NoExecute' }), ['team', 'gone']);
    assert.deepEqual(left({ key: 'gone', effect: 'NoExecute' }), ['team']);
  });
});

suite('A RayCluster', () => {
  test('asks for what all containers of a pod ask for, by their limits where they say no requests', () => {
    const containers = [
      { name: 'ray-worker', image: 'a:1', resources: { limits: { cpu: '4', memory: '8Gi', 'nvidia.com/gpu': '1' } } },
      { name: 'sidecar', resources: { requests: { cpu: '500m' }, limits: { cpu: '2', memory: '1Gi' } } },
    ];
    const workers = { groupName: 'gpu', minReplicas: 2, numOfHosts: 2, template: { spec: { containers } } };
    const cluster = readRayCluster({
      apiVersion: 'ray.io/v1',
      metadata: { name: 'r' },
      spec: { workerGroupSpecs: [workers] },
    });
    const group = cluster?.groups[1];
    assert.deepEqual(group?.resources, { cpu: 4.5, memory: 9 * 2 ** 30, gpu: 1 });
    assert.deepEqual([group.minReplicas, group.serviceAccount, group.image], [4, 'default', 'a:1']);
  });

  test('is read without a complaint where its fields are something else', () => {
    const cluster = readRayCluster({
      apiVersion: 'ray.io/v1',
      metadata: { name: 'r' },
      spec: { rayVersion: 3, headGroupSpec: 'x', workerGroupSpecs: [null, { template: [] }] },
    });
    assert.equal(cluster?.groups.length, 3);
    assert.equal(cluster.rayVersion, undefined);
  });
});
