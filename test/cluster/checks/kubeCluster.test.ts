import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { AuthenticationV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { inRoot } from '../../../scripts/paths.ts';
import { isRunning } from '../../harness/running.ts';
import { definitionOf, KubeRefusal } from '../parts/kubeApi.ts';
import { type KubeCluster, startKubeCluster } from '../parts/kubeCluster.ts';
import { until } from '../parts/processes.ts';

const connect = (file: string): KubeConfig => {
  const config = new KubeConfig();
  config.loadFromFile(file);
  return config;
};

suite("The cluster tests' own Kubernetes API", function () {
  this.timeout(90_000);
  let cluster: KubeCluster;
  // A separate cluster, because the shared one contains objects of other tests.
  suiteSetup(async () => (cluster = await startKubeCluster()));
  suiteTeardown(() => cluster.stop());

  test('knows people by their certificates, with their groups', async () => {
    const api = connect(cluster.kubeconfig('alice')).makeApiClient(AuthenticationV1Api);
    const { status } = await api.createSelfSubjectReview({ body: {} });
    assert.equal(status?.userInfo?.username, 'alice');
    assert.ok(status.userInfo.groups?.includes('devs'));
  });

  test('refuses a person without a role', async () => {
    const core = connect(cluster.kubeconfig('alice')).makeApiClient(CoreV1Api);
    await assert.rejects(core.listNode(), { code: 403 });
  });

  test('knows service accounts by the tokens it gives and by those of its key', async () => {
    await cluster.api.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tokens' } });
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'reader', namespace: 'tokens' } };
    await cluster.api.apply(account);
    const sub = 'system:serviceaccount:tokens:reader';
    const uid = (await cluster.api.get(account))?.metadata['uid'];
    const about = { namespace: 'tokens', serviceaccount: { name: 'reader', uid } };
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: cluster.address, aud: [cluster.address], sub, iat: now, nbf: now, exp: now + 600 };
    const tokens = [
      await cluster.api.token('tokens', 'reader'),
      cluster.tokenKey.sign({ ...claims, 'kubernetes.io': about }),
    ];
    for (const token of tokens) {
      const api = connect(cluster.kubeconfig({ token })).makeApiClient(AuthenticationV1Api);
      assert.equal((await api.createSelfSubjectReview({ body: {} })).status?.userInfo?.username, sub);
    }
  });

  test("serves KubeRay's resources once they are defined, and not when that is removed", async () => {
    await cluster.api.define('rayclusters');
    assert.deepEqual(await cluster.api.list('ray.io/v1', 'RayCluster'), []);
    await cluster.api.delete(definitionOf('rayclusters'));
    // Wait, because the API server stops serving the resource a moment later.
    await until('A resource that is not served any more', () =>
      cluster.api.ask('GET', '/apis/ray.io/v1/rayclusters').then(
        () => false,
        (error: unknown) => error instanceof KubeRefusal && error.status === 404,
      ),
    );
  });

  test('counts what it is asked, by whom and with what answer', async () => {
    const core = connect(cluster.kubeconfig('alice')).makeApiClient(CoreV1Api);
    const mark = cluster.audit.mark();
    await assert.rejects(core.readNode({ name: 'none' }));
    assert.deepEqual(cluster.audit.since(mark), [
      { user: 'alice', as: undefined, verb: 'get', uri: '/api/v1/nodes/none', status: 403, body: undefined },
    ]);
  });

  test('is gone with the process that started it, however that ends', async () => {
    const script = `
      const { startServer } = await import(${JSON.stringify(inRoot('test/cluster/parts/processes.ts'))});
      console.log(startServer('sleep', ['600'], '/dev/null').child.pid);
      setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    assert.ok(isRunning(pid));
    parent.kill('SIGKILL');
    await until('The end of the server', async () => !isRunning(pid));
  });
});
