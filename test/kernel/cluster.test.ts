import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { inRoot } from '../../scripts/paths.ts';
import { freePorts } from '../harness/freePorts.ts';
import { python } from '../harness/needs/python.ts';
import { tempFolder } from '../harness/temp.ts';
import { installedKernel } from './jupyter/jupyterHome.ts';
import { command, errorOf, resultOf, run, startKernel, until, valueOf } from './support.ts';

// test/cluster tests reports of a sound cluster with a real API server. In these tests no server responds, and the
// command must print a report, too.

type Shown = Extract<KernelOutput, { type: 'display_data' | 'update_display_data' }>;

const shownOf = (outputs: readonly KernelOutput[]): Shown[] =>
  outputs.filter((output) => output.type === 'display_data' || output.type === 'update_display_data');
const textOf = (shown: Shown | undefined): string => String(shown?.content.data['text/plain']);
const htmlOf = (shown: Shown | undefined): string => String(shown?.content.data['text/html']);

const token = 'a-token-that-nobody-may-see';

/** Creates a folder whose settings have profiles for a server at this port. */
function folderFor(port: number): string {
  const folder = tempFolder();
  const cluster = { name: 'c', cluster: { server: `https://127.0.0.1:${port}` } };
  const user = { name: 'u', user: { token } };
  const context = { name: 'c', context: { cluster: 'c', user: 'u' } };
  const kubeconfig = { clusters: [cluster], users: [user], contexts: [context], 'current-context': 'c' };
  writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(kubeconfig));
  const profile = { kubeconfig: join(folder, 'kubeconfig') };
  mkdirSync(join(folder, '.vscode'));
  const settings = { 'lanceCatalog.cluster.profiles': { prod: profile, test: profile } };
  writeFileSync(join(folder, '.vscode/settings.json'), JSON.stringify(settings));
  return folder;
}

suite('Checks of a cluster in a notebook', function () {
  this.timeout(120_000);
  let kernel: KernelProcess;
  /** A server that accepts connections but never responds. */
  let silent: Server;
  let silentFolder: string;
  const late: KernelOutput[] = [];

  suiteSetup(async () => {
    silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    silentFolder = folderFor((silent.address() as AddressInfo).port);
    const [port = 0] = await freePorts(1);
    kernel = await startKernel({ cwd: folderFor(port) });
    kernel.onOrphanOutput((output) => late.push(output));
  });
  suiteTeardown(async () => {
    await kernel.shutdown();
    silent.close();
  });

  test('show one report that fills in, and not again as the value of the cell', async () => {
    const { reply, outputs } = await run(kernel, "await cluster.check('prod')");
    assert.equal(reply.status, 'ok', errorOf(outputs)?.evalue);
    const shown = shownOf(outputs);
    assert.equal(new Set(shown.map(({ content }) => content.displayId)).size, 1);
    assert.equal(resultOf(outputs), undefined);
    assert.match(textOf(shown.at(-1)), /^× failed {3}k8s-\w+ /m);
    assert.match(textOf(shown.at(-1)), /\nprod: \d+ checks? passed/);
    assert.match(htmlOf(shown.at(-1)), /<strong>Cluster prod<\/strong>/);
  });

  test('give what was found as data', async () => {
    const { outputs, reply } = await run(kernel, "const report = await cluster.check('prod');");
    assert.equal(reply.status, 'ok', errorOf(outputs)?.evalue);
    assert.equal(await valueOf(kernel, 'report.ok'), 'false');
    assert.equal(
      await valueOf(kernel, 'report.failed.every(({ status, sentence }) => status === "fail" && !!sentence)'),
      'true',
    );
    assert.equal(
      await valueOf(kernel, 'report.failed.length > 0 && report.failed.length === report.counts.fail'),
      'true',
    );
    assert.equal(await valueOf(kernel, 'JSON.parse(JSON.stringify(report)).success'), 'false');
    assert.equal(await valueOf(kernel, "report.toMarkdown().startsWith('# Cluster prod')"), 'true');
  });

  test('are shown as the report again by a later cell', async () => {
    const { outputs } = await run(kernel, 'report');
    assert.match(String(resultOf(outputs)?.['text/html']), /<strong>Cluster prod<\/strong>/);
    assert.match(String(resultOf(outputs)?.['text/plain']), /failed/);
  });

  test('know the profiles of the settings above the notebook', async () => {
    assert.equal(await valueOf(kernel, '(await cluster.profiles()).join()'), "'prod,test'");
  });

  test('take a cluster that is described in the cell', async () => {
    const { outputs, reply } = await run(
      kernel,
      "await cluster.check({ kubeconfig: './kubeconfig', namespace: 'other' }, { only: ['ns-exists'] });",
    );
    assert.equal(reply.status, 'ok', errorOf(outputs)?.evalue);
    assert.match(textOf(shownOf(outputs).at(-1)), /⊘ blocked {2}ns-exists/);
  });

  const wrong: readonly [why: string, code: string, says: RegExp][] = [
    [
      'there are several',
      'await cluster.check()',
      /There are 2 cluster profiles.*cluster\.check\('prod'\), cluster\.check\('test'\)/,
    ],
    ['one is not there', "await cluster.check('stage')", /"stage".*prod.*test/],
    ['what is described is wrong', 'await cluster.check({ namespace: "No Name" })', /namespace/],
    ['a check is not known', "await cluster.check('prod', { only: ['rbac-pods' as 'sa-exists'] })", /rbac-pods/],
  ];
  for (const [why, code, says] of wrong)
    test(`fail with one sentence when ${why}`, async () => {
      const { reply, outputs } = await run(kernel, code);
      assert.equal(reply.status, 'error');
      assert.match(errorOf(outputs)?.evalue ?? '', says);
      assert.deepEqual(shownOf(outputs), []);
    });

  test('are known to the compiler, with the ids of checks', async () => {
    const { outputs } = await run(kernel, "await cluster.check('prod', { only: ['rbac-pod-get'] })");
    assert.match(errorOf(outputs)?.traceback.join('\n') ?? '', /Type '"rbac-pod-get"' is not assignable/);
    const { matches } = await kernel.complete('cluster.', 8);
    assert.deepEqual(
      matches.map((match) => match.text),
      ['check', 'profiles'],
    );
  });

  test('show no token of a kubeconfig, in the report or in its data', async () => {
    const { outputs } = await run(
      kernel,
      "console.log(JSON.stringify(await cluster.check('prod')), report.toMarkdown())",
    );
    const said = JSON.stringify([outputs, shownOf(outputs).map(htmlOf)]);
    assert.ok(said.length > 5000 && said.includes('k8s-whoami') && !said.includes(token));
  });

  test('end when the cell is interrupted, and say so in the report', async () => {
    const asked = once(silent, 'connection');
    const outputs: KernelOutput[] = [];
    const code = `process.chdir(${JSON.stringify(silentFolder)}); await cluster.check('prod'); console.log('gone on')`;
    const running = kernel.execute(code, (output) => outputs.push(output));
    await asked;
    await kernel.interrupt();
    const reply = await running;
    assert.equal(reply.status, 'error');
    await until('the last state of the report', () =>
      /stopped before it finished/.test(textOf(shownOf([...outputs, ...late]).at(-1))),
    );
    assert.equal(await valueOf(kernel, '1 + 1'), '2');
    assert.ok(![...outputs, ...late].some((output) => output.type === 'stream'), 'the code behind it ran');
  });

  test('load the bundle of the clouds only when they are asked for', async () => {
    const fresh = await startKernel({ cwd: tempFolder() });
    try {
      const loaded = "Object.keys(require('node:module')._cache).some((file) => file.endsWith('cluster.cjs'))";
      assert.equal(await valueOf(fresh, loaded), 'false');
      await run(fresh, 'await cluster.profiles()');
      assert.equal(await valueOf(fresh, loaded), 'true');
    } finally {
      await fresh.shutdown();
    }
  });

  test('show the same to a client of Jupyter', async () => {
    const { env } = await installedKernel();
    const [port = 0] = await freePorts(1);
    const folder = folderFor(port);
    const script = inRoot('test/kernel/python/one_cell.py');
    const ran = await command(python(), [script, "await cluster.check('test')", folder], { env });
    assert.equal(ran.code, 0, ran.stderr);
    const { shown, errors } = JSON.parse(ran.stdout) as { shown: Record<string, string>[]; errors: string[] };
    assert.deepEqual([shown.length, errors], [1, []]);
    assert.match(shown[0]?.['text/html'] ?? '', /<strong>Cluster test<\/strong>/);
    assert.match(shown[0]?.['text/plain'] ?? '', /failed/);
  });
});
