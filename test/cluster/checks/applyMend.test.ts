import assert from 'node:assert/strict';
import { applyFix, previewFix } from '#cluster/fixes/applyFix.ts';
import type { KubernetesManifest } from '#cluster/fixes/fix.ts';
import { connectKube } from '#cluster/kube/connectKube.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { type KubeCluster, sharedCluster } from '../parts/kubeCluster.ts';

const signal = AbortSignal.timeout(120_000);

const namespace: KubernetesManifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'mended' } };
const account: KubernetesManifest = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'runner', namespace: 'mended' },
};
const role = (...verbs: readonly string[]): KubernetesManifest => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'mended-role' },
  rules: [{ apiGroups: [''], resources: ['pods'], verbs }],
});
const node = (labels: Readonly<Record<string, string>>): KubernetesManifest => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'mended-node', labels },
});

suite('A mend of Kubernetes objects', function () {
  this.timeout(90_000);
  let cluster: KubeCluster;
  let admin: KubeConnection;

  suiteSetup(async () => {
    cluster = await sharedCluster();
    admin = await connectAs('admin');
  });

  suiteTeardown(() => admin?.close());

  teardown(() => cluster.api.delete(namespace, role(), node({})));

  const connectAs = (person: 'admin' | 'alice'): Promise<KubeConnection> =>
    connectKube(
      { configMethod: 'LOCAL', kubeconfig: cluster.kubeconfig(person) },
      { hidden: new SecretRedactor(), signal },
    );

  /** Returns the current object. */
  const find = async (object: KubernetesManifest) => cluster.api.get(object);

  const mend = async (...objects: readonly KubernetesManifest[]) =>
    applyFix(admin, await previewFix(admin, objects, signal), { signal });

  test('is shown before and after without any change', async () => {
    await cluster.api.apply(role('get'));
    const { objects } = await previewFix(admin, [role('get', 'list')], signal);
    const [shown] = objects;
    assert.equal(shown?.name, 'ClusterRole mended-role');
    assert.match(shown.before, /- verbs:\n {2}- get\n {2}apiGroups/);
    assert.match(shown.after, /- verbs:\n {2}- get\n {2}- list\n {2}apiGroups/);
    assert.doesNotMatch(shown.before + shown.after, /managedFields|resourceVersion|uid/);
    assert.deepEqual((await find(role()))?.['rules'], role('get')['rules']);
  });

  test('makes what is not there, and changes nothing the second time', async () => {
    assert.deepEqual(await mend(role('get')), ['ClusterRole mended-role']);
    assert.deepEqual((await find(role()))?.['rules'], role('get')['rules']);
    const again = await previewFix(admin, [role('get')], signal);
    assert.deepEqual(
      again.objects.map(({ changed }) => changed),
      [false],
    );
    assert.deepEqual(await applyFix(admin, again, { signal }), []);
  });

  test('makes a namespace and what belongs into it, which cannot be asked about before', async () => {
    const preview = await previewFix(admin, [namespace, account], signal);
    assert.match(preview.objects[1]?.unchecked ?? '', /before the namespace mended exists/);
    assert.equal(await find(namespace), undefined);
    assert.deepEqual(await applyFix(admin, preview, { signal }), ['Namespace mended', 'ServiceAccount mended/runner']);
    assert.ok(await find(account));
  });

  test('keeps what an earlier fix added to the same object', async () => {
    await cluster.api.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'mended-node' } });
    await mend(node({ 'example.com/ray-head': 'true' }));
    await mend(node({ 'example.com/ray-worker-cpu': 'true' }));
    const labels = (await find(node({})))?.metadata.labels;
    assert.equal(labels?.['example.com/ray-head'], 'true');
    assert.equal(labels['example.com/ray-worker-cpu'], 'true');
  });

  test('names who has set the fields that it would change, and takes them over only when told to', async () => {
    await cluster.api.apply(role('get'));
    const preview = await previewFix(admin, [role('get', 'watch')], signal);
    assert.match(preview.objects[0]?.conflict ?? '', /^ClusterRole mended-role: conflict with "tests".*: \.rules/);
    await assert.rejects(applyFix(admin, preview, { signal }), { kind: 'Conflict', message: /take over the fields/ });
    assert.deepEqual((await find(role()))?.['rules'], role('get')['rules']);
    await applyFix(admin, preview, { signal, force: true });
    assert.deepEqual((await find(role()))?.['rules'], role('get', 'watch')['rules']);
  });

  test('does not become anything else than what was shown', async () => {
    await cluster.api.apply(role('get'));
    const preview = await previewFix(admin, [role('get', 'watch')], signal);
    await cluster.api.merge(role(), { metadata: { labels: { team: 'other' } } });
    await assert.rejects(applyFix(admin, preview, { signal, force: true }), /has changed since the preview/);
    assert.deepEqual((await find(role()))?.['rules'], role('get')['rules']);
  });

  test('by a user without permission is refused with the message of the server', async () => {
    const alice = await connectAs('alice');
    try {
      await assert.rejects(previewFix(alice, [role('get')], signal), { kind: 'Forbidden', message: /alice/ });
    } finally {
      await alice.close();
    }
  });

  test('of a kind that the server does not know says so', async () => {
    const unknown = { apiVersion: 'v1', kind: 'Wombat', metadata: { name: 'x' } };
    await assert.rejects(previewFix(admin, [unknown], signal), { message: /does not serve Wombat of v1/ });
  });

  test('that the server finds wrong is refused before anything is applied', async () => {
    const wrong = { ...role('get'), rules: 'all' };
    await assert.rejects(previewFix(admin, [wrong], signal), { message: /rules/ });
  });
});
