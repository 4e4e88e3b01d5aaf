import assert from 'node:assert/strict';
import { definitionOf } from '../parts/kubeApi.ts';
import { names } from '../parts/sound/names.ts';
import { soundCluster, type SoundCluster } from '../parts/soundCluster.ts';

suite('A sound cluster', function () {
  this.timeout(120_000);
  let cluster: SoundCluster;
  suiteSetup(async () => (cluster = await soundCluster()));
  teardown(() => cluster.restore());

  const pods = async (): Promise<string[]> =>
    (await cluster.api.list('v1', 'Pod')).map(({ metadata, ['status']: status }) => `${metadata.name} ${status.phase}`);

  test('writes nothing when nothing was changed', async () => {
    await cluster.restore();
    const mark = cluster.audit.mark();
    await cluster.restore();
    assert.deepEqual([...new Set(cluster.audit.since(mark).map(({ verb }) => verb))].toSorted(), ['get', 'list']);
  });

  test('puts back what was changed, in the status too', async () => {
    const node = cluster.object('Node', names.nodes.gpu);
    const before = await cluster.api.get(node);
    await cluster.api.merge(node, {
      metadata: { labels: { spot: 'true', [`${names.labelDomain}/ray-worker-gpu`]: null } },
    });
    await cluster.api.setStatus({ ...node, status: { allocatable: { 'nvidia.com/gpu': '0' } } });
    await cluster.restore();
    const after = await cluster.api.get(node);
    assert.deepEqual([after?.metadata.labels, after?.['status']], [before?.metadata.labels, before?.['status']]);
  });

  test('puts back what was removed: the namespace, its pods, the role of a binding', async () => {
    const before = await pods();
    const binding = cluster.object('ClusterRoleBinding', names.binding);
    await cluster.api.delete(
      cluster.object('Namespace', names.namespace),
      cluster.object('Pod', `${names.rayCluster}-head`),
      binding,
    );
    await cluster.api.apply({ ...binding, roleRef: { ...binding['roleRef'], name: names.personRole } });
    await cluster.restore();
    assert.deepEqual(await pods(), before);
    assert.equal((await cluster.api.get(cluster.object('Namespace', names.namespace)))?.['status'].phase, 'Active');
    assert.deepEqual((await cluster.api.get(binding))?.['roleRef'], binding['roleRef']);
  });

  test('removes what was added', async () => {
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'more', namespace: 'geneva' },
    };
    await cluster.api.apply({ ...role, rules: [] });
    await cluster.restore();
    assert.equal(await cluster.api.get(role), undefined);
  });

  test('puts back the definition of a resource with what was there of it', async () => {
    await cluster.api.delete(definitionOf('rayclusters'));
    await cluster.restore();
    const [ray] = await cluster.api.list('ray.io/v1', 'RayCluster');
    assert.equal(ray?.['status'].state, 'ready');
  });
});
