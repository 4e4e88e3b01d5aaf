import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { names } from '../../cluster/parts/sound/names.ts';
import { RayDashboardStandIn } from '../../cluster/standIns/rayDashboardStandIn.ts';
import { profileFor, setProfiles } from '../cluster/clusterSupport.ts';
import { KubeApiStandIn } from '../cluster/kubeApiStandIn.ts';
import { PersonStandIn } from '../person.ts';
import { extensionApi, failuresOf, run, temporaryFolder } from '../support.ts';

suite('Rays in the editor', function () {
  this.timeout(120_000);
  const folder = temporaryFolder();
  let api: ExtensionApi;
  let kube: KubeApiStandIn;
  let dashboard: RayDashboardStandIn;
  let address: string;

  suiteSetup(async () => {
    api = await extensionApi();
    kube = await KubeApiStandIn.start(folder.path);
    dashboard = await RayDashboardStandIn.start();
    address = `http://127.0.0.1:${dashboard.port}`;
    await setProfiles(api, { local: profileFor(kube) });
  });

  suiteTeardown(async () => {
    await setProfiles(api, undefined);
    await Promise.all([kube.stop(), dashboard.stop()]);
    folder.remove();
  });

  setup(() => {
    kube.objects.reset();
    kube.asked.length = 0;
  });

  const changes = (): string[] => kube.asked.filter((asked) => asked.startsWith('PATCH'));

  test('are connected to by the address alone, where everybody is let in', async () => {
    const person = new PersonStandIn({ types: [`${address}/`] });
    await person.during(() => run('lanceCatalog.ray.connect'));
    assert.equal(person.boxes.length, 1);
    assert.equal(api.jobs.rays.list()[0], address);
  });

  test('that do not respond are reported in the box for the address', async () => {
    const before = api.jobs.rays.list();
    const person = new PersonStandIn({ types: ['ray://127.0.0.1:10001', 'http://127.0.0.1:1', null] });
    await person.during(() => run('lanceCatalog.ray.connect'));
    assert.equal(person.boxes.length, 1);
    const said = person.boxes[0]?.said.join('\n') ?? '';
    assert.match(said, /Expected the address of a dashboard/);
    assert.match(said, /no server listens there/);
    assert.deepEqual(api.jobs.rays.list(), before);
  });

  test('ask for a token only where they want one, and have it kept as a secret', async () => {
    dashboard.token = 'a-token-of-this-test';
    try {
      const person = new PersonStandIn({ types: [address, 'another-token', 'a-token-of-this-test'] });
      await person.during(() => run('lanceCatalog.ray.connect'));
      const [first, second] = person.boxes;
      assert.deepEqual([first?.isSecret, second?.isSecret, person.boxes.length], [false, true, 2]);
      assert.match(second?.said.join('\n') ?? '', /rejected this token/);
      assert.equal((await api.jobs.rays.withToken({ address })).token, dashboard.token);
      const again = new PersonStandIn({ types: [address] });
      await again.during(() => run('lanceCatalog.ray.connect'));
      assert.equal(again.boxes.length, 1, 'what is known is not asked for again');
    } finally {
      dashboard.token = undefined;
    }
  });

  test('are offered to show their dashboards, and leave nothing open when the person leaves', async () => {
    const person = new PersonStandIn({ picks: [undefined] });
    await person.during(() => run('lanceCatalog.ray.openDashboard'));
    assert.deepEqual(
      person.lists[0]?.labels.map((label) => label.replace(/^\$\([\w-]+\) /, '')),
      [`Ray at ${address}`, 'Ray in the cluster "local"', 'Connect to Ray…'],
    );
  });

  test('are forgotten with their token', async () => {
    await api.jobs.rays.add('http://127.0.0.1:1234', 'a-token-of-this-test');
    const person = new PersonStandIn({ picks: ['1234'] });
    await person.during(() => run('lanceCatalog.ray.forget'));
    assert.deepEqual(api.jobs.rays.list(), [address]);
    assert.equal((await api.jobs.rays.withToken({ address: 'http://127.0.0.1:1234' })).token, undefined);
  });

  test('are not made in a cluster where a check fails, unless the person wants it', async () => {
    kube.objects.remove('ServiceAccount', names.serviceAccount);
    const person = new PersonStandIn({ chooses: [undefined] });
    await person.during(() => run('lanceCatalog.ray.createCluster'));
    const [question] = person.questions;
    assert.match(question?.message ?? '', /^"local" is not ready: a check failed\.$/);
    assert.match(question?.detail ?? '', /^There is no service account geneva\/geneva-sa/);
    assert.deepEqual(question?.choices, ['Show Problems', 'Create Anyway']);
    assert.deepEqual(changes(), []);
  });

  test('are made by what they come up with, and not by what only one that is there has', async () => {
    // Neither a head with an old Ray nor pods of another account prevent the creation of a cluster.
    kube.objects.find('RayCluster', names.rayCluster)['spec'].rayVersion = '2.9.0';
    const person = new PersonStandIn({});
    const told = await failuresOf(() => person.during(() => run('lanceCatalog.ray.createCluster')));
    assert.deepEqual(person.questions, []);
    assert.equal(told.length, 1);
    assert.match(told[0] ?? '', /already exists with other settings: spec\.rayVersion: current "2\.9\.0"/);
    assert.match(told[0] ?? '', /\(see the log\)\. Use its settings, choose another name, or delete it first\.$/);
    assert.deepEqual(changes(), []);
  });

  test('have a plan only in a cluster that is fit, or when the person wants it', async () => {
    kube.objects.remove('ServiceAccount', names.serviceAccount);
    const person = new PersonStandIn({ chooses: [undefined] });
    const table = { catalog: { implementation: 'dir', root: folder.path }, namespacePath: [], name: 't' } as const;
    const request = { table, column: 'c', ray: { profile: 'local' } };
    await person.during(async () => {
      assert.equal(await api.jobs.backfills.plan(request, new AbortController().signal), undefined);
    });
    assert.deepEqual(person.questions[0]?.choices, ['Show Problems', 'Run Anyway']);
  });
});

suite('Python for backfills, in the editor', function () {
  this.timeout(120_000);

  test('is set up only after a yes to its size, and can be taken away again', async () => {
    const person = new PersonStandIn({ chooses: [undefined] });
    const begun: string[] = [];
    const listening = vscode.tasks.onDidStartTask(({ execution }) => begun.push(execution.task.name));
    try {
      await person.during(() => run('lanceCatalog.python.setUp'));
    } finally {
      listening.dispose();
    }
    assert.match(person.questions[0]?.detail ?? '', /about 450 MB .*"Remove Python for Backfills…"/);
    assert.deepEqual(begun, []);
  });

  test('is removed by the command line, in a terminal', async () => {
    const folder = temporaryFolder();
    const before = process.env['XDG_DATA_HOME'];
    process.env['XDG_DATA_HOME'] = folder.path;
    const ended: (number | undefined)[] = [];
    const listening = vscode.tasks.onDidEndTaskProcess(({ exitCode }) => ended.push(exitCode));
    try {
      const person = new PersonStandIn({ chooses: ['Remove'] });
      await person.during(() => run('lanceCatalog.python.remove'));
      assert.deepEqual(ended, [0]);
    } finally {
      listening.dispose();
      if (before === undefined) delete process.env['XDG_DATA_HOME'];
      else process.env['XDG_DATA_HOME'] = before;
      folder.remove();
    }
  });
});
