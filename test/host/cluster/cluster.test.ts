import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { ClusterChecks } from '../../../extension/cluster/clusterChecks.ts';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { createLog } from '../../../extension/host/log.ts';
import { PersonStandIn } from '../person.ts';
import { eventually, extensionApi, failuresOf, makeCatalog, run, temporaryFolder } from '../support.ts';
import { profileFor, rowOf, rowsOf, setProfiles, takeVerb, verify } from './clusterSupport.ts';
import { KubeApiStandIn, token } from './kubeApiStandIn.ts';

suite('verifying a cluster', function () {
  this.timeout(120_000);
  const folder = temporaryFolder();
  let api: ExtensionApi;
  let kube: KubeApiStandIn;

  suiteSetup(async () => {
    api = await extensionApi();
    kube = await KubeApiStandIn.start(folder.path);
    await setProfiles(api, { local: profileFor(kube) });
  });

  suiteTeardown(async () => {
    await setProfiles(api, undefined);
    await kube.stop();
    folder.remove();
  });

  teardown(() => {
    kube.objects.reset();
    kube.hold();
    api.cluster.checksView.onlyProblems = false;
  });

  test('lists every check by its category, with what became of it in words', async () => {
    const { counts } = await verify();
    assert.equal(counts.fail, 0);
    assert.ok(counts.pass >= 40, `${counts.pass} passed`);
    const categories = rowsOf(api).filter(({ node }) => node.kind === 'category');
    assert.ok(categories.length >= 7);
    assert.match(rowOf(api, 'ns-exists').spoken, /: passed\. .*geneva/);
    assert.match(rowOf(api, 'aws-identity').description, /^skipped · /);
  });

  test('fills the view in while it runs, and stops when the person stops it', async () => {
    kube.hold((asked) => asked.includes('/subjectaccessreviews'));
    const running = verify();
    await eventually('checks that wait for an answer', () =>
      rowsOf(api).some(({ description }) => description === 'running'),
    );
    await eventually('checks that are answered', () => rowOf(api, 'k8s-whoami').spoken.includes(': passed'));
    assert.match(api.cluster.checksView.message ?? '', /^Checking the cluster: \d+ of \d+ checks finished\.$/);
    assert.match(api.cluster.checksStatus.text, /^\$\(loading~spin\) Lance: \d+ of \d+$/);
    await run('lanceCatalog.cluster.stop');
    const report = await running;
    assert.equal(report.stopped, true);
    assert.equal(report.results.find(({ id }) => id === 'rbac-pods-get')?.status, 'skipped');
    assert.match(rowOf(api, 'rbac-pods-get').spoken, /: passed/, 'what the run before found is still known');
  });

  test('ends a run that goes on when another begins', async () => {
    kube.hold((asked) => asked.includes('/subjectaccessreviews'));
    const first = verify();
    await eventually('a run', () => api.cluster.checks.isRunning && kube.asked.length > 0);
    const second = verify();
    assert.equal((await first).stopped, true);
    kube.hold();
    assert.equal((await second).stopped, false);
  });

  test('shows what failed with a count on the view and in the status bar', async () => {
    takeVerb(kube, 'pods', 'watch');
    await verify();
    assert.match(rowOf(api, 'rbac-pods-watch').description, /^failed · .*watch pods/);
    assert.equal(api.cluster.checksView.badge?.value, 1);
    assert.match(api.cluster.checksStatus.text, /^Lance: \$\(pass\) \d+ .*\$\(error\) 1 · now$/);
  });

  test('lists problems alone when the person wants that', async () => {
    takeVerb(kube, 'pods', 'watch');
    await verify();
    await run('lanceCatalog.cluster.showProblems');
    const listed = rowsOf(api).flatMap(({ node }) => (node.kind === 'check' ? [node.id] : []));
    assert.deepEqual(listed, ['rbac-pods-watch']);
    assert.match(api.cluster.checksView.message ?? '', /^Only problems are listed; \d+ more checks passed\.$/);
    await run('lanceCatalog.cluster.showAll');
    assert.ok(rowsOf(api).length > 40);
  });

  test('asks one check again with what it needs, and leaves the others as they were', async () => {
    takeVerb(kube, 'pods', 'watch');
    await verify();
    kube.objects.reset();
    kube.asked.length = 0;
    await run('lanceCatalog.cluster.rerun', rowOf(api, 'rbac-pods-watch').node);
    assert.match(rowOf(api, 'rbac-pods-watch').spoken, /: passed/);
    assert.match(rowOf(api, 'nodes-head').spoken, /: passed/);
    assert.ok(!kube.asked.some((asked) => asked.includes('/nodes')), 'nodes are not asked about');
  });

  test('asks again what failed, and says so where nothing did', async () => {
    takeVerb(kube, 'pods', 'watch');
    takeVerb(kube, 'rayclusters', 'patch');
    await verify();
    kube.objects.reset();
    await run('lanceCatalog.cluster.rerunFailed');
    assert.equal(api.cluster.checksView.badge, undefined);
    assert.equal(await run('lanceCatalog.cluster.rerunFailed'), undefined);
  });

  test('says in the rows what is wrong with a cluster that can not be reached', async () => {
    const broken = join(folder.path, 'broken.json');
    writeFileSync(
      broken,
      readFileSync(kube.kubeconfig, 'utf8').replace(/https:\/\/127\.0\.0\.1:\d+/, 'https://127.0.0.1:1'),
    );
    await setProfiles(api, { broken: { ...profileFor(kube), kubeconfig: broken } });
    try {
      const { counts } = await verify('broken');
      assert.ok(counts.fail > 0 && counts.blocked > 10, JSON.stringify(counts));
      assert.match(rowOf(api, 'ns-exists').description, /^blocked · /);
    } finally {
      await setProfiles(api, { local: profileFor(kube) });
    }
  });

  test('writes nothing unless the person says yes to exactly that', async () => {
    const person = new PersonStandIn({ chooses: [undefined] });
    await person.during(() => run('lanceCatalog.cluster.verifyWithProbe'));
    const [question] = person.questions;
    assert.match(question?.message ?? '', /Verify "local" and write probes\?/);
    assert.match(question?.detail ?? '', /Checks that apply to this profile would: .*removed/s);
    assert.equal(api.cluster.checks.isRunning, false);
  });

  test('is there after a reload, with its age', async () => {
    takeVerb(kube, 'pods', 'watch');
    const report = await verify();
    const later = new ClusterChecks({ log: createLog(), state: api.state, resolveCatalog: undefined });
    try {
      assert.equal(later.board?.profile, 'local');
      assert.equal(later.board.report?.startedAt, report.startedAt);
      assert.equal(later.board.results.get('rbac-pods-watch')?.status, 'fail');
    } finally {
      later.dispose();
    }
  });

  test('shows its report as a document that can not be written', async () => {
    takeVerb(kube, 'pods', 'watch');
    await verify();
    const uri = api.cluster.documents.uri({ kind: 'report', profile: 'local' });
    const document = await vscode.workspace.openTextDocument(uri);
    assert.match(document.getText(), /^# Cluster local\n[^]*rbac-pods-watch/);
    assert.equal(vscode.workspace.fs.isWritableFileSystem(uri.scheme), undefined);
    await run('lanceCatalog.cluster.showReport');
    await eventually('the preview of it', () =>
      vscode.window.tabGroups.all.some(({ tabs }) => tabs.some(({ label }) => label.includes('Checks of local'))),
    );
  });

  test('shows all that a check has asked and seen', async () => {
    takeVerb(kube, 'pods', 'watch');
    await verify();
    const uri = api.cluster.documents.uri({ kind: 'evidence', profile: 'local', id: 'rbac-pods-watch' });
    const text = (await vscode.workspace.openTextDocument(uri)).getText();
    assert.match(text, /SubjectAccessReview watch pods.*\n→ not allowed/);
    assert.match(text, /## Fix\n[^]*kind: ClusterRole/);
  });

  test('saves its report as JSON', async () => {
    const report = await verify();
    const target = vscode.Uri.file(join(folder.path, 'report.json'));
    await run('lanceCatalog.cluster.saveReport', target);
    const saved = JSON.parse(readFileSync(target.fsPath, 'utf8')) as { success: boolean; counts: unknown };
    assert.equal(saved.success, true);
    assert.deepEqual(saved.counts, report.counts);
  });

  test('says which file can not be written', async () => {
    await verify();
    const target = vscode.Uri.file(join(folder.path, 'kubeconfig.json', 'report.json'));
    const told = await failuresOf(() => run('lanceCatalog.cluster.saveReport', target));
    assert.match(told.join(), /^Can't save the report as ".*report\.json"\. Choose a folder/);
  });

  test('shows no secret of the kubeconfig in anything that it keeps or shows', async () => {
    takeVerb(kube, 'pods', 'watch');
    const report = await verify();
    const texts = rowsOf(api).map(({ item }) => JSON.stringify([item.label, item.description, item.tooltip]));
    const kept = JSON.stringify([report, api.state.clusterReports(), ...texts]);
    assert.ok(!kept.includes(token));
  });

  test('opens what is written about a check', async () => {
    const { documents } = api.cluster;
    const uri = documents.docs('rbac-pods-watch');
    assert.equal(uri.fragment, 'rbac-pods-watch');
    const text = (await vscode.workspace.openTextDocument(uri.with({ fragment: '' }))).getText();
    assert.ok(text.includes('\n## rbac-pods-watch\n'));
    await run('lanceCatalog.cluster.openDocs', rowOf(api, 'rbac-pods-watch').node);
  });

  test('asks the catalog that a profile names by its connection, through the engine of the window', async () => {
    const tables = temporaryFolder();
    await makeCatalog(api, tables.path);
    await api.connections.add('tables', tables.path);
    await setProfiles(api, { local: { ...profileFor(kube), catalog: 'tables' } });
    try {
      await verify();
      assert.match(rowOf(api, 'catalog-reach').spoken, /: passed/);
      assert.deepEqual(await (await api.catalogs.get('tables')).listTables(['shop', 'eu']), { tables: ['orders'] });
    } finally {
      await api.connections.remove('tables');
      tables.remove();
    }
    await verify();
    assert.match(rowOf(api, 'catalog-reach').description, /^failed · .*no catalog connection "tables"/);
    await setProfiles(api, { local: profileFor(kube) });
  });

  test('says which profiles there are when another is asked for', async () => {
    const told = await failuresOf(() => run('lanceCatalog.cluster.verify', { profile: 'elsewhere' }));
    assert.match(told.join(), /The cluster profile "elsewhere" does not exist\. Existing profiles: "local"\./);
  });
});
