import assert from 'node:assert/strict';
import type { KernelProcess } from '#client/kernelProcess.ts';
import type { KernelOutput } from '#shared/kernelMessages.ts';
import { tempFolder } from '../harness/temp.ts';
import { run, startKernel, valueOf } from '../kernel/support.ts';
import { startKubeCluster } from './parts/kubeCluster.ts';
import { startKubeRay, type KubeRay } from './parts/kubeRay.ts';
import { until } from './parts/processes.ts';
import { names } from './parts/sound/names.ts';
import { RayDashboardStandIn } from './standIns/rayDashboardStandIn.ts';

const textsOf = (outputs: readonly KernelOutput[]): string =>
  outputs
    .map(({ content }) =>
      'data' in content ? String(content.data['text/plain']) : 'text' in content ? content.text : '',
    )
    .join('\n');

suite('RayClusters from a notebook: nodes and pods simulated by kwok, Ray by a stand-in', function () {
  this.timeout(120_000);
  let ray: KubeRay;
  let dashboard: RayDashboardStandIn;
  let kernel: KernelProcess;

  suiteSetup(async () => {
    ray = await startKubeRay(await startKubeCluster(), '1.3.2');
    dashboard = await RayDashboardStandIn.start();
    ray.head.leadTo(dashboard.port);
    kernel = await startKernel({ cwd: tempFolder() });
    const settings = {
      kubeconfig: ray.cluster.kubeconfig('alice'),
      namespace: names.namespace,
      service_account: names.serviceAccount,
      ray_version: '2.43.0',
      use_portforwarding: true,
      worker_groups: [{ name: 'cpu', min_replicas: 1, max_replicas: 2, num_cpus: 1, memory: 2048 }],
    };
    await run(kernel, `const settings = ${JSON.stringify(settings)} as any;`);
  });
  teardown(() => ray.clear());
  suiteTeardown(async () => {
    await kernel?.shutdown();
    await ray?.stop();
    await dashboard?.stop();
    await ray?.cluster.stop();
  });

  const isThere = async (name: string): Promise<boolean> => {
    const metadata = { name, namespace: names.namespace };
    return (await ray.cluster.api.get({ apiVersion: 'ray.io/v1', kind: 'RayCluster', metadata })) !== undefined;
  };

  test('one is made, told of while it comes up, used in its block and removed after it', async () => {
    const { reply, outputs } = await run(
      kernel,
      `{
        await using made = await ray.cluster({ ...settings, name: 'block', onExit: 'delete' });
        console.log(made.namespace, made.name, made.version, made.adopted);
      }`,
    );
    const said = textsOf(outputs);
    assert.equal(reply.status, 'ok', said);
    assert.match(said, /geneva\/block is ready: Ray 2\.43\.0\./);
    assert.match(said, /geneva block 2\.43\.0 false/);
    assert.equal(await isThere('block'), false);
  });

  test('an interrupt ends the wait, and what was made for it is removed', async () => {
    const nowhere = '{ ...settings, name: "waits", headGroup: { nodeSelector: { pool: "nowhere" } } }';
    const running = run(kernel, `await ray.cluster(${nowhere}, { verify: false })`);
    await until('A RayCluster', () => isThere('waits'));
    await kernel.interrupt();
    const { reply } = await running;
    assert.equal(reply.status, 'error');
    await until('The end of the RayCluster', async () => !(await isThere('waits')));
  });

  test('a setting that there is not is refused in a sentence, before anything is made', async () => {
    const { reply, outputs } = await run(kernel, `await ray.cluster({ ...settings, name: 'wrong', workers: 3 })`);
    assert.equal(reply.status, 'error', textsOf(outputs));
    assert.match(JSON.stringify(reply), /ClusterError/);
    assert.match(JSON.stringify(reply), /workers/);
  });

  test('a Ray that is reached by its address is shown without its token', async () => {
    await run(
      kernel,
      `const near = await ray.connect('http://127.0.0.1:${dashboard.port}', { token: 'very-secret-token' });`,
    );
    const { outputs } = await run(kernel, 'near');
    assert.match(textsOf(outputs), /version 2\.43\.0/);
    assert.doesNotMatch(JSON.stringify(outputs), /very-secret-token/);
    assert.equal(await valueOf(kernel, 'Object.keys(near).includes("place")'), 'false');
  });
});
