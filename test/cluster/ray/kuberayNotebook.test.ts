import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { readDocExamples, titleOfExample } from '../../harness/docExamples.ts';
import { newestRay } from '../../harness/needs/rayNeeds.ts';
import { tempFolder } from '../../harness/temp.ts';
import { cliEntry, command, errorOf, run, startKernel, valueOf } from '../../kernel/support.ts';
import { startForwardTarget } from '../parts/forwardTarget.ts';
import { startKubeCluster } from '../parts/kubeCluster.ts';
import { type KubeRay, startKubeRay } from '../parts/kubeRay.ts';
import { until } from '../parts/processes.ts';
import { RayHead } from '../parts/rayHead.ts';
import { names } from '../parts/sound/names.ts';

const textsOf = (outputs: readonly KernelOutput[]): string =>
  outputs
    .map(({ content }) =>
      'data' in content ? String(content.data['text/plain']) : 'text' in content ? content.text : '',
    )
    .join('\n');

const portOf = (address: string): number => Number(new URL(address).port);

/** The address of a Ray in the documentation. */
const documented = 'http://127.0.0.1:8265';

suite(`Ray ${newestRay} from a notebook: nodes and pods simulated by kwok, a real Ray behind them`, function () {
  this.timeout(180_000);
  const folder = tempFolder();
  const env = { XDG_DATA_HOME: join(folder, 'state'), KUBECONFIG: '' };
  let ray: KubeRay;
  let head: RayHead;
  let kernel: KernelProcess;

  suiteSetup(async () => {
    ray = await startKubeRay(await startKubeCluster(), '1.3.2');
    head = await RayHead.start(newestRay);
    ray.head.leadTo(portOf(head.address));
    // The service account of the documentation, which is the default of settings.
    const metadata = { name: 'geneva-ray-runner', namespace: names.namespace };
    await ray.cluster.api.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata });
    env.KUBECONFIG = ray.cluster.kubeconfig('alice');
    for (const name of ['state', 'data', '.vscode']) mkdirSync(join(folder, name));
    const prod = {
      namespace: names.namespace,
      service_account: names.serviceAccount,
      worker_groups: [{ name: 'cpu', min_replicas: 1, max_replicas: 2, num_cpus: 1, memory: 2048 }],
    };
    const direct = { ...prod, rayCluster: 'direct', use_portforwarding: false };
    const settings = { 'lanceCatalog.cluster.profiles': { prod, direct } };
    writeFileSync(join(folder, '.vscode/settings.json'), JSON.stringify(settings));
    kernel = await startKernel({ cwd: folder, env, catalog: { implementation: 'dir', root: join(folder, 'data') } });
    await pass(
      `await db.createTable('products', Array.from({ length: 1000 }, (_, id) => ({ id, caption: 'a mug, number ' + id })));
      const products = await db.openTable('products');
      const words = udf({ name: 'words', input: ['caption'], output: 'int32' }, ({ caption }) => caption.split(' ').length);
      await products.backfill('words', { function: words, where: 'id < 10' });`,
    );
  });
  teardown(() => ray.clear());
  suiteTeardown(async () => {
    await kernel?.shutdown();
    await head?.stop();
    await ray?.stop();
    await ray?.cluster.stop();
  });

  /** Runs a cell that must succeed. @returns its output */
  async function pass(code: string): Promise<string> {
    const { reply, outputs } = await run(kernel, code);
    assert.equal(reply.status, 'ok', `${errorOf(outputs)?.traceback.join('\n')}\n${textsOf(outputs)}`);
    return textsOf(outputs);
  }

  /** Appends a row whose words are not counted yet. */
  const append = (caption: string): Promise<string> =>
    pass(`await products.add([{ id: await products.countRows(), caption: '${caption}', words: null }]);`);

  /** Returns the number of rows whose count of words differs from their caption. */
  const wrongRows = (): Promise<unknown> =>
    valueOf(
      kernel,
      "(await products.query().select(['caption', 'words']).toArray()).filter((row) => row.words !== String(row.caption).split(' ').length).length",
    );

  const isThere = async (name: string): Promise<boolean> => {
    const metadata = { name, namespace: names.namespace };
    return (await ray.cluster.api.get({ apiVersion: 'ray.io/v1', kind: 'RayCluster', metadata })) !== undefined;
  };

  const rowsOf = (code: string): Promise<unknown> => valueOf(kernel, `(${code}).rows`);

  test('a column is filled over a connection and on a RayCluster, and after an append the new row alone', async () => {
    await pass(`const connection = await ray.connect('${head.address}');`);
    assert.equal(await rowsOf("await products.backfill('words', { ray: connection })"), '990');
    assert.equal(await wrongRows(), '0');
    await append('two words');
    assert.equal(await rowsOf("await products.backfill('words', { ray: connection })"), '1');
    await append('one');
    const said = await pass(
      `{
        await using made = await ray.cluster({
          name: 'filled', namespace: '${names.namespace}', service_account: '${names.serviceAccount}', use_portforwarding: true,
          head_group: { num_cpus: 1, memory: 4096 },
          worker_groups: [{ name: 'cpu', min_replicas: 1, maxReplicas: 2, num_cpus: 1, memory: 4096 }],
        });
        const done = await products.backfill('words', { ray: made });
        console.log('computed', done.rows);
      }`,
    );
    assert.match(said, /^computed 1$/m);
    assert.equal(await wrongRows(), '0');
    assert.equal(await isThere('filled'), false);
  });

  for (const page of ['docs/backfills.md', 'docs/cluster-setup.md'])
    for (const example of readDocExamples(page).filter(({ words }) => words.includes('ray')))
      test(`${page} (line ${example.line}) does what it says: ${titleOfExample(example)}`, async () => {
        await append('a row of documentation');
        await pass("var table = await db.openTable('products');");
        await pass(example.text.replaceAll(documented, head.address));
        assert.equal(await wrongRows(), '0');
      });

  test('one is created with progress messages, used in its block and removed after it', async () => {
    const said = await pass(
      `{
        await using made = await ray.cluster({ profile: 'prod', name: 'block', onExit: 'delete' });
        console.log(made.namespace, made.name, made.version, made.adopted);
      }`,
    );
    assert.match(said, new RegExp(`geneva/block is ready: Ray ${newestRay}\\.`));
    assert.match(said, new RegExp(`geneva block ${newestRay} false`));
    assert.equal(await isThere('block'), false);
  });

  test('an interrupt ends the wait, and what was made for it is removed', async () => {
    const nowhere = '{ name: "waits", headGroup: { nodeSelector: { pool: "nowhere" } } }';
    const running = run(kernel, `await ray.cluster(${nowhere}, { verify: false })`);
    await until('A RayCluster', () => isThere('waits'));
    await kernel.interrupt();
    const { reply } = await running;
    assert.equal(reply.status, 'error');
    await until('The end of the RayCluster', async () => !(await isThere('waits')));
  });

  test('a setting that there is not is refused in a sentence, before anything is made', async () => {
    const { outputs } = await run(kernel, `await ray.cluster(JSON.parse('{ "name": "wrong", "workers": 3 }'))`);
    assert.match(
      errorOf(outputs)?.evalue ?? '',
      /^ray\.cluster\(\{ workers: … \}\) is not an option of ray\.cluster\./,
    );
    assert.equal(await isThere('wrong'), false);
  });

  test('a check that failed is named as failed', async () => {
    const elsewhere = "{ name: 'unchecked', namespace: 'elsewhere' }";
    const { outputs } = await run(kernel, `await ray.cluster(${elsewhere})`);
    const { evalue = '', traceback = [] } = errorOf(outputs) ?? {};
    assert.match(evalue, /^Can't create RayCluster "elsewhere\/unchecked": check "[-a-z]+" failed: /);
    assert.equal(traceback.join('\n').split("Can't create").length, 2, 'it is shown once');
  });

  test('without port forwarding the head is reached by the name of its service', async () => {
    await pass("const kept = await ray.cluster({ profile: 'prod', name: 'direct', onExit: 'retain' });");
    await append('straight to the head');
    // Pods have a separate network, in which this name leads to Ray. Here, for this command only, the name leads to a
    // port that forwards to Ray.
    const service = `direct-head-svc.${names.namespace}.svc`;
    const hosts = join(folder, 'hosts');
    writeFileSync(hosts, `127.0.0.1 localhost ${service}\n`);
    const door = await startForwardTarget(8265);
    try {
      door.leadTo(portOf(head.address));
      const forwarded = ray.head.connections();
      const backfill = [process.execPath, cliEntry, 'backfill', 'products', 'words', '--profile', 'direct'];
      const inside = `mount --bind '${hosts}' /etc/hosts && exec "$@"`;
      const { code, stderr } = await command('unshare', ['--mount', 'sh', '-c', inside, 'sh', ...backfill], {
        cwd: folder,
        env: { ...env, LANCE_CATALOG: join(folder, 'data') },
        seconds: 150,
      });
      assert.equal(code, 0, stderr);
      assert.ok(door.connections() > 0, 'nobody came by the name of the service');
      assert.equal(ray.head.connections(), forwarded, 'a port was forwarded');
    } finally {
      await door.stop();
    }
    assert.equal(await wrongRows(), '0');
    await pass('await kept[Symbol.asyncDispose]();');
  });

  test('a Ray that is reached by its address is shown without its token', async () => {
    await pass(`const near = await ray.connect('${head.address}', { token: 'very-secret-token' });`);
    const { outputs } = await run(kernel, 'near');
    assert.match(textsOf(outputs), new RegExp(`version ${newestRay.replaceAll('.', '\\.')}`));
    assert.doesNotMatch(JSON.stringify(outputs), /very-secret-token/);
    assert.equal(await valueOf(kernel, 'Object.keys(near).includes("place")'), 'false');
  });
});
