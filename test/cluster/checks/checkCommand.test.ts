import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { loadYaml } from '@kubernetes/client-node';
import { checkIds } from '#cluster/checkIds.ts';
import type { StoredReport } from '#cluster/report/reportJson.ts';
import { tempFolder } from '../../harness/temp.ts';
import { cliEntry, command, type Ran } from '../../kernel/support.ts';
import { names } from '../parts/sound/names.ts';
import { soundCluster, type SoundCluster } from '../parts/soundCluster.ts';

/** Creates a folder with these profiles in its settings. */
function folderWith(profiles: unknown): string {
  const folder = tempFolder();
  mkdirSync(join(folder, '.vscode'));
  const settings = { 'lanceCatalog.cluster.profiles': profiles };
  writeFileSync(join(folder, '.vscode/settings.json'), `// ours\n${JSON.stringify(settings, null, 2)}`);
  return folder;
}

const reportOf = ({ stdout }: Ran): StoredReport => JSON.parse(stdout) as StoredReport;

suite('lance-catalog check', function () {
  this.timeout(120_000);
  let cluster: SoundCluster;

  suiteSetup(async () => {
    cluster = await soundCluster();
  });

  teardown(() => cluster.restore());

  /** Returns what a user writes in the settings for the sound cluster. */
  const profile = (person: 'alice' | 'admin' = 'alice') => ({
    kubeconfig: cluster.kubeconfig(person),
    namespace: names.namespace,
    serviceAccount: names.serviceAccount,
    labelDomain: names.labelDomain,
    rayCluster: names.rayCluster,
    rayVersion: names.rayVersion,
  });

  const check = (args: readonly string[], profiles: unknown = { prod: profile() }, env: Record<string, string> = {}) =>
    command(process.execPath, [cliEntry, 'check', ...args], { cwd: folderWith(profiles), env, seconds: 100 });

  /** Removes one verb from the role of the service account. */
  async function forbid(verb: string): Promise<void> {
    const role = cluster.object('ClusterRole', names.role);
    const rules = role['rules'] as { resources: string[]; verbs: string[] }[];
    for (const rule of rules)
      if (rule.resources.includes('pods')) rule.verbs = rule.verbs.filter((one) => one !== verb);
    await cluster.api.replace(role);
  }

  test('ends with 0 for a sound cluster, by the only profile of the settings', async () => {
    const ran = await check([]);
    assert.equal(ran.code, 0, ran.stdout + ran.stderr);
    assert.match(ran.stdout, /^√ passed {3}rbac-pods-get /m);
    assert.match(ran.stdout, /\nprod: \d+ checks? passed/);
    assert.equal(ran.stderr, '');
  });

  test('ends with 1 when a grant is missing, and says in JSON which and what mends it', async () => {
    await forbid('watch');
    const ran = await check(['--json', '--profile', 'prod']);
    assert.equal(ran.code, 1, ran.stdout + ran.stderr);
    const report = reportOf(ran);
    assert.equal(report.success, false);
    const failed = report.results.filter(({ status }) => status === 'fail');
    assert.deepEqual(
      failed.map(({ id, docs }) => [id, docs]),
      [['rbac-pods-watch', 'docs/cluster-checks.md#rbac-pods-watch']],
    );
    assert.ok(failed.every((result) => result.status === 'fail' && result.mend?.kind === 'objects'));
  });

  test('asks only what is named, and what that needs', async () => {
    const ran = await check(['--json', '--only', 'sa-exists']);
    assert.equal(ran.code, 0, ran.stdout);
    const ids = reportOf(ran).results.map(({ id }) => id);
    assert.ok(ids.includes('sa-exists') && ids.includes('ns-exists') && !ids.includes('rbac-pods-get'), String(ids));
  });

  test('checks a cluster without a profile, by options', async () => {
    const { kubeconfig, namespace, serviceAccount } = profile();
    const args = ['--kubeconfig', kubeconfig, '-n', namespace, '--service-account', serviceAccount];
    const ran = await check([...args, '--only', 'identity', '--short'], {});
    assert.equal(ran.code, 0, ran.stdout + ran.stderr);
  });

  test('prints the manifest that mends a check, whole, for kubectl', async () => {
    await forbid('list');
    const ran = await check(['--profile', 'prod', '--mend', 'rbac-pods-list']);
    assert.equal(ran.code, 0, ran.stderr);
    const role = loadYaml<{ kind: string; metadata: { name: string }; rules: unknown[] }>(ran.stdout);
    assert.equal(role.kind, 'ClusterRole');
    assert.match(JSON.stringify(role.rules), /"list"/);
    assert.match(ran.stderr, /^rbac-pods-list: .*list pods/);
    assert.match(ran.stderr, /lance-catalog check --profile prod --mend rbac-pods-list --apply/);
  });

  test('applies a mend after it was shown, and asks the check again', async () => {
    await forbid('watch');
    const refused = await check(['--mend', 'rbac-pods-watch', '--apply', '--yes'], { prod: profile('admin') });
    assert.equal(refused.code, 1, refused.stderr);
    assert.match(refused.stdout, /^\+ .*- watch$/m);
    assert.match(refused.stderr, /conflict[^]*Nothing was applied/);
    const args = ['--mend', 'rbac-pods-watch', '--apply', '--yes', '--force'];
    const applied = await check(args, { prod: profile('admin') });
    assert.equal(applied.code, 0, applied.stdout + applied.stderr);
    assert.match(applied.stderr, /Applied: ClusterRole/);
    assert.equal((await check(['--only', 'rbac-pods-watch,rbac-pods-list'])).code, 0);
  });

  test('applies nothing if it can not prompt the user', async () => {
    await cluster.api.delete(cluster.object('ServiceAccount', names.serviceAccount));
    const ran = await check(['--mend', 'sa-exists', '--apply'], { prod: profile('admin') });
    assert.equal(ran.code, 2, ran.stdout + ran.stderr);
    assert.match(ran.stderr, /Add --yes/);
    assert.equal(await cluster.api.get(cluster.object('ServiceAccount', names.serviceAccount)), undefined);
  });

  test('says of a check that is fine that there is nothing to mend', async () => {
    const ran = await check(['--mend', 'sa-exists']);
    assert.deepEqual([ran.code, ran.stdout], [0, '']);
    assert.match(ran.stderr, /^sa-exists: /);
  });

  test('names the cluster in the command that mends what the check needs', async () => {
    await cluster.api.delete(cluster.object('ServiceAccount', names.serviceAccount));
    const ran = await check(['--profile', 'prod', '--mend', 'rbac-pods-get']);
    assert.equal(ran.code, 1, ran.stdout + ran.stderr);
    assert.match(ran.stderr, /lance-catalog check --profile prod --mend sa-exists$/m);
    assert.match(ran.stderr, /^There is no fix for rbac-pods-get\. Not run, because it needs /m);
  });

  test('shows no secret of a kubeconfig in any form', async () => {
    const { token } = { token: await cluster.api.token(names.namespace, names.serviceAccount) };
    const own = { ...profile(), kubeconfig: cluster.kubeconfig({ token }) };
    for (const form of [[], ['--short'], ['--json']]) {
      const ran = await check(form, { prod: own });
      const said = ran.stdout + ran.stderr;
      assert.ok(said.length > 0 && !said.includes(token) && !said.includes(token.split('.')[2] ?? ''), said);
    }
  });
});

/** Runs the command in a folder without settings, with these profiles in the environment. */
const checkAlone = (args: readonly string[], clusters?: unknown) =>
  command(process.execPath, [cliEntry, 'check', ...args], {
    cwd: tempFolder(),
    ...(clusters !== undefined && { env: { LANCE_CATALOG_CLUSTERS: JSON.stringify(clusters) } }),
  });

suite('lance-catalog check without a cluster', function () {
  this.timeout(60_000);

  const sentences: readonly [why: string, args: string[], clusters: unknown, says: RegExp][] = [
    ['there is no profile', [], undefined, /No cluster profile was found\..*settings\.json.*--context/],
    ['there are several', [], { a: {}, b: {} }, /There are 2 cluster profiles.*--profile a, --profile b/],
    ['one is not there', ['--profile', 'c'], { a: {}, b: {} }, /"c".*a.*b/],
    [
      'one is wrong',
      ['--profile', 'a'],
      { a: { namespace: 5 }, b: {} },
      /clusters?\.profiles\.a\.namespace|a\.namespace/,
    ],
    ['a check is not known', ['--only', 'rbac-pods'], { a: {} }, /got "rbac-pods".*--list/],
    ['options do not go together', ['--profile', 'a', '--context', 'b'], { a: {} }, /--context.*without a profile/],
    ['--apply is alone', ['--apply'], { a: {} }, /--apply requires --mend ID/],
    ['the settings file is not there', ['--settings', 'none.json'], undefined, /none\.json/],
  ];
  for (const [why, args, clusters, says] of sentences)
    test(`ends with 2 and one sentence when ${why}`, async () => {
      const ran = await checkAlone(args, clusters);
      assert.equal(ran.code, 2, ran.stdout + ran.stderr);
      assert.match(ran.stderr, says);
      assert.equal(ran.stderr.trim().split('\n').length, 1, ran.stderr);
      assert.equal(ran.stdout, '');
    });

  test('stops at Ctrl-C with what it has found, and ends with 2', async () => {
    // A server that accepts connections but never responds, as behind a broken network.
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const kubeconfig = join(tempFolder(), 'config');
    const context = { name: 'c', context: { cluster: 'c', user: 'u' } };
    const cluster = { name: 'c', cluster: { server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } };
    const user = { name: 'u', user: { token: 'not-asked-for' } };
    const config = { clusters: [cluster], users: [user], contexts: [context], 'current-context': 'c' };
    writeFileSync(kubeconfig, JSON.stringify(config));
    const asked = once(silent, 'connection');
    const child = spawn(process.execPath, [cliEntry, 'check', '--json', '--kubeconfig', kubeconfig], {
      cwd: tempFolder(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const said = text(child.stdout);
      const ended = once(child, 'close');
      await asked;
      child.kill('SIGINT');
      assert.deepEqual((await ended)[0], 2);
      const report = JSON.parse(await said) as StoredReport;
      assert.ok(report.stopped && !report.success, JSON.stringify(report));
    } finally {
      child.kill('SIGKILL');
      silent.close();
    }
  });

  test('says in JSON why it could not run, where JSON was asked for', async () => {
    const ran = await checkAlone(['--json']);
    assert.equal(ran.code, 2);
    const { success, error } = JSON.parse(ran.stdout) as { success: boolean; error: string };
    assert.equal(success, false);
    assert.match(error, /No cluster profile/);
  });

  test('lists every check once, by categories', async () => {
    const { code, stdout } = await checkAlone(['--list']);
    assert.equal(code, 0);
    const listed = stdout.split('\n').flatMap((line) => /^ {2}(\S+)/.exec(line)?.[1] ?? []);
    assert.deepEqual(
      listed,
      checkIds.filter((id) => listed.includes(id)),
    );
    assert.ok(listed.includes('rbac-pods-get'));
  });

  test('explains a check by its section of the documentation', async () => {
    const { code, stdout } = await checkAlone(['--explain', 'sa-exists']);
    assert.equal(code, 0);
    assert.match(stdout, /^sa-exists\n\nChecks that the service account of head and workers exists\./);
    assert.doesNotMatch(stdout, /pods-run-as/);
  });
});
