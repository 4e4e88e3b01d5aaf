import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from '../harness/temp.ts';
import { errorOf, kernelOfSuite, run, startKernel } from './support.ts';

suite('The settings of a cluster in a cell', function () {
  this.timeout(60_000);
  const folder = tempFolder();
  writeFileSync(join(folder, 'stop.cjs'), "throw new Error('checked and not run');\n");
  const kernel = kernelOfSuite(() => startKernel({ cwd: folder }));

  /** Returns the message of the type check for a cell, which does not run. */
  const checked = async (code: string): Promise<string | undefined> =>
    errorOf((await run(kernel(), `import './stop.cjs';\n${code}`)).outputs)?.evalue;

  const ofService = `{
    name: 'backfills', namespace: 'geneva', cluster_name: 'ml', config_method: 'EKS_AUTH', region: 'us-east-1',
    use_portforwarding: true, role_name: 'geneva-client-role',
    head_group: { service_account: 'runner', num_cpus: 8, memory: 2048, node_selector: { 'geneva.lancedb.com/ray-head': 'true' } },
    worker_groups: [
      { name: 'cpu', min_replicas: 1, service_account: 'runner', num_cpus: 4, memory: 4096, node_selector: { pool: 'cpu' } },
    ],
  }`;

  test("may have the service's names", async () => {
    assert.equal(await checked(`await using made = await ray.cluster(${ofService});`), 'checked and not run');
  });

  test('may have names of both kinds', async () => {
    const mixed = `{ name: 'a', rayVersion: '2.43.0', head_group: { numCpus: 4, node_selector: {} }, on_exit: 'retain', aws: { client_role: 'r' } }`;
    assert.equal(await checked(`await ray.cluster(${mixed});`), 'checked and not run');
    const checks = `{ worker_groups: [{ num_gpus: 1, maxReplicas: 2 }], use_portforwarding: false }`;
    assert.equal(await checked(`await cluster.check(${checks});`), 'checked and not run');
  });

  test("have types under the service's names", async () => {
    for (const [settings, refusal] of [
      ["{ name: 'a', head_group: { num_cpus: true } }", /Type 'boolean' is not assignable to type 'string \| number'/],
      ["{ name: 'a', config_method: 'SSH' }", /Type '"SSH"' is not assignable/],
      ["{ name: 'a', worker_groups: [{ min_replica: 1 }] }", /'min_replica' does not exist/],
      ["{ name: 'a', use_port_forward: true }", /'use_port_forward' does not exist/],
    ] as const)
      assert.match((await checked(`await ray.cluster(${settings});`)) ?? '', refusal, settings);
  });

  test('are refused in a sentence, which is shown once', async () => {
    const { outputs } = await run(kernel(), 'await ray.cluster({});');
    const error = errorOf(outputs);
    assert.equal(
      error?.evalue,
      'ray.cluster({ … }) is missing the option "name". Add a name for the RayCluster, such as \'backfills\'.',
    );
    const { traceback } = error;
    assert.equal(traceback[0], `ClusterError: ${error.evalue}`);
    assert.doesNotMatch(traceback.slice(1).join('\n'), /missing the option|kind:|hint:/);
  });

  test('are taken by a connection in both spellings, and refused by the name of its call', async () => {
    for (const place of ["{ profile: 'prod', rayCluster: 'a' }", "{ profile: 'prod', ray_cluster: 'a' }"])
      assert.equal(await checked(`await ray.connect(${place});`), 'checked and not run');
    for (const [place, refusal] of [
      ["{ profile: 'prod', rayCluster: 'a', ray_cluster: 'b' }", /ray_cluster: … \}\) sets the same as rayCluster\./],
      ["JSON.parse('{}')", /^ray\.connect\(\{ … \}\) is missing the option "profile"/],
      ["{ profile: 'prod', ray_cluster: 'b' }", /^There is no cluster profile "prod"/],
    ] as const) {
      const { outputs } = await run(kernel(), `await ray.connect(${place});`);
      assert.match(errorOf(outputs)?.evalue ?? '', refusal, place);
    }
  });

  test('are refused for a check by the name of its call', async () => {
    const { outputs } = await run(kernel(), "await cluster.check({ head_group: { memory: 'lots' } });");
    assert.match(
      errorOf(outputs)?.evalue ?? '',
      /^cluster\.check\(\{ head_group\.memory: … \}\) must be a number of MiB, .* but is "lots"\. Correct it in the call\.$/,
    );
  });
});
