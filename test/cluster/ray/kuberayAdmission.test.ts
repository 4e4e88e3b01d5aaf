import assert from 'node:assert/strict';
import { connectKube } from '#cluster/kube/connectKube.ts';
import { fieldAt } from '#shared/fields.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import { rayClusterSpecOf } from '#cluster/kuberay/rayClusterSpec.ts';
import { createOrAdoptRayCluster } from '#cluster/kuberay/rayClusters.ts';
import { readProfile } from '#cluster/profiles/profileReader.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { definitionVersions } from '../../harness/needs/kubeNeeds.ts';
import type { KubeObject } from '../parts/kubeApi.ts';
import { type KubeCluster, startKubeCluster } from '../parts/kubeCluster.ts';
import { until } from '../parts/processes.ts';

// This signal has no time limit, because a limit would start when the file is loaded, long before the tests run.
// Mocha's own limit ends a test.
const { signal } = new AbortController();

suite('RayClusters by the definitions of KubeRay 1.1 to the newest, in a real API server', () => {
  let cluster: KubeCluster;
  let connection: KubeConnection;

  suiteSetup(async function () {
    this.timeout(90_000);
    cluster = await startKubeCluster();
    await cluster.api.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'geneva' } });
    const auth = { configMethod: 'LOCAL', kubeconfig: cluster.kubeconfig('admin') } as const;
    connection = await connectKube(auth, { hidden: new SecretRedactor(), signal });
  });

  suiteTeardown(async () => {
    await connection?.close();
    await cluster?.stop();
  });

  // Use the names in the service's documentation.
  const profile = readProfile('prod', {
    namespace: 'geneva',
    head_group: { service_account: 'runner', num_cpus: 1, memory: 2048, node_selector: { pool: 'head' } },
    worker_groups: [
      { name: 'cpu', min_replicas: 1, max_replicas: 4, service_account: 'runner', num_cpus: 2, memory: 4096 },
      { name: 'gpu', num_gpus: 1, num_cpus: '4', memory: '16Gi' },
    ],
  });
  const spec = rayClusterSpecOf(profile, { name: 'documents' });
  const named: KubeObject = {
    apiVersion: 'ray.io/v1',
    kind: 'RayCluster',
    metadata: { name: 'documents', namespace: 'geneva' },
  };

  for (const version of definitionVersions) {
    test(`${version} admits what the documents' settings become, and it is the same when it is read back`, async function () {
      this.timeout(60_000);
      await cluster.api.defineVersion(version, 'rayclusters');
      assert.deepEqual(await createOrAdoptRayCluster(connection, spec, signal), { adopted: false });
      const made = await cluster.api.get(named);
      assert.ok(made);
      const [cpu, gpu] = made['spec'].workerGroupSpecs;
      const { containers, serviceAccountName, nodeSelector } = made['spec'].headGroupSpec.template.spec;
      assert.deepEqual(containers[0].resources, {
        requests: { cpu: '1', memory: '2048Mi' },
        limits: { cpu: '1', memory: '2048Mi' },
      });
      assert.deepEqual([serviceAccountName, nodeSelector], ['runner', { pool: 'head' }]);
      assert.equal(made['spec'].headGroupSpec.rayStartParams['num-cpus'], '0');
      assert.deepEqual([cpu.minReplicas, cpu.maxReplicas, gpu.minReplicas, gpu.maxReplicas], [1, 4, 0, 100]);
      assert.equal(gpu.template.spec.containers[0].resources.limits['nvidia.com/gpu'], '1');
      assert.deepEqual(gpu.template.spec.nodeSelector, { 'geneva.lancedb.com/ray-worker-gpu': 'true' });
      const [owner] = made.metadata['managedFields'] as { manager: string; operation: string }[];
      assert.deepEqual([owner?.manager, owner?.operation], ['lance-catalog', 'Apply']);

      assert.deepEqual(await createOrAdoptRayCluster(connection, spec, signal), { adopted: true });
      await cluster.api.delete(named);
    });
  }

  test('one that is there and is otherwise is refused with each difference by its path', async () => {
    await createOrAdoptRayCluster(connection, spec, signal);
    const [cpu, ...others] = spec.workers;
    assert.ok(cpu);
    const asked = { ...spec, rayVersion: '2.43.0', workers: [{ ...cpu, memory: '4Gi', maxReplicas: 9 }, ...others] };
    await assert.rejects(createOrAdoptRayCluster(connection, asked, signal), (error: Error) => {
      assert.equal(fieldAt(error, 'kind'), 'Conflict');
      assert.match(error.message, /^RayCluster "geneva\/documents" already exists with other settings:\n/);
      assert.match(error.message, /^spec\.rayVersion: current "2\.60\.0", requested "2\.43\.0"$/m);
      assert.match(
        error.message,
        /^spec\.workerGroupSpecs\[cpu\]\.maxReplicas: current 4, requested 9\. Use its settings/m,
      );
      // 4096Mi equals 4Gi.
      assert.doesNotMatch(error.message, /memory/);
      return true;
    });
  });

  test('a group of workers that was not asked for is a difference, what the autoscaler moves is none', async () => {
    const there = await cluster.api.get(named);
    assert.ok(there);
    there['spec'].workerGroupSpecs[0].replicas = 3;
    await cluster.api.replace(there);
    assert.deepEqual(await createOrAdoptRayCluster(connection, spec, signal), { adopted: true });
    await assert.rejects(createOrAdoptRayCluster(connection, { ...spec, workers: spec.workers.slice(0, 1) }, signal), {
      kind: 'Conflict',
      message: /^spec\.workerGroupSpecs\[gpu\]: current .*, requested none/m,
    });
  });

  test('a cluster without the definition of RayClusters is reported', async function () {
    this.timeout(60_000);
    await cluster.api.delete(named, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'rayclusters.ray.io' },
    });
    // Wait, because the API server serves deleted definitions for another moment.
    await until('An API server without RayClusters', () =>
      cluster.api.ask('GET', '/apis/ray.io/v1/namespaces/geneva/rayclusters').then(
        () => false,
        () => true,
      ),
    );
    await assert.rejects(createOrAdoptRayCluster(connection, spec, signal), {
      kind: 'NotFound',
      message: /^Can't create RayCluster "geneva\/documents": .*KubeRay 1\.1 or newer/,
    });
  });
});
