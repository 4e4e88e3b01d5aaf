import assert from 'node:assert/strict';
import { differences, resultOf, verify } from '../parts/faults.ts';
import { problemsOf } from '../parts/outcome.ts';
import { names } from '../parts/sound/names.ts';
import { soundCluster, type SoundCluster } from '../parts/soundCluster.ts';

/** Clusters that work but are set up in an unusual way: no check may fail. */
suite('Nothing fails on a sound cluster', function () {
  this.timeout(120_000);
  let cluster: SoundCluster;
  suiteSetup(async () => (cluster = await soundCluster()));
  teardown(() => cluster.restore());

  const headLabel = `${names.labelDomain}/ray-head`;

  /**
   * Deletes the node of the head, as if it was not created for a pod yet. Gives the other nodes the labels of their
   * provisioner.
   */
  async function makesNodes(change: { readonly prefix?: string; readonly labels?: Record<string, string> }) {
    const { api, object } = cluster;
    await api.delete(object('Node', names.nodes.head));
    for (const name of [names.nodes.cpu, names.nodes.gpu]) {
      const { metadata, ...node } = object('Node', name);
      if (change.prefix) await api.delete(object('Node', name));
      const labels = { ...metadata.labels, ...change.labels };
      await api.apply({ ...node, metadata: { name: `${change.prefix ?? ''}${name}`, labels } });
    }
  }

  test('whose operator was installed by the manifests of KubeRay, in a namespace of its own', async () => {
    const before = await verify(cluster.profile);
    const operator = cluster.object('Deployment', names.operator);
    const labels = { 'app.kubernetes.io/name': 'kuberay', 'app.kubernetes.io/component': 'kuberay-operator' };
    await cluster.api.delete(operator);
    await cluster.api.apply({ ...operator, metadata: { name: 'ray', namespace: 'kube-system', labels } });
    const after = await verify(cluster.profile);
    assert.deepEqual(differences(before, after), {});
    assert.match(resultOf(after, 'operator-running').sentence, /^The operator kube-system\/ray is ready\.$/);
  });

  for (const [maker, change] of [
    ['GKE Autopilot', { prefix: 'gk3-' }],
    ['Karpenter', { labels: { 'karpenter.sh/nodepool': 'default' } }],
    ['EKS Auto Mode', { labels: { 'eks.amazonaws.com/compute-type': 'auto', 'karpenter.sh/nodepool': 'general' } }],
  ] as const)
    test(`whose nodes ${maker} makes for pods, while there is none for the head`, async () => {
      await makesNodes(change);
      // Without `rayCluster` the profile creates a new head. The pod of the existing head keeps its node.
      const report = await verify({ ...cluster.profile, rayCluster: undefined });
      assert.deepEqual(problemsOf(report), { 'nodes-head': 'warn' });
      assert.match(
        resultOf(report, 'nodes-head').sentence,
        new RegExp(
          `^No node has the label ${headLabel} yet; ${maker} is expected to create one when the head is launched\\.$`,
        ),
      );
      assert.match(resultOf(report, 'head-not-spot').sentence, /^There is currently no node for the head/);
      // This check is about the head of the RayCluster that the profile creates.
      assert.equal(resultOf(report, 'head-no-processing').status, 'pass');
    });

  test('whose GPU nodes come from none, with an image that has the device plugin built in', async () => {
    const { api, object, profile } = cluster;
    await api.delete(object('DaemonSet', names.gpuPlugin), object('Node', names.nodes.gpu));
    assert.deepEqual(problemsOf(await verify(profile)), { 'nodes-gpu': 'warn', 'gpu-plugin': 'warn' });
  });
});
