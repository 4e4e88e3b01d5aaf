import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { names } from '../../cluster/parts/sound/names.ts';
import { PersonStandIn } from '../person.ts';
import { extensionApi, failuresOf, run, temporaryFolder } from '../support.ts';
import { profileFor, rowsOf, setProfiles, verify } from './clusterSupport.ts';
import { KubeApiStandIn } from './kubeApiStandIn.ts';

suite('profiles of clusters', function () {
  this.timeout(120_000);
  const folder = temporaryFolder();
  let api: ExtensionApi;
  let kube: KubeApiStandIn;

  suiteSetup(async () => {
    api = await extensionApi();
    kube = await KubeApiStandIn.start(folder.path);
  });

  setup(() => setProfiles(api, undefined));

  suiteTeardown(async () => {
    await setProfiles(api, undefined);
    await kube.stop();
    folder.remove();
  });

  test('are asked for when several are there, each with where it leads', async () => {
    await setProfiles(api, { one: profileFor(kube), two: { ...profileFor(kube), namespace: 'other' } });
    const person = new PersonStandIn({ picks: ['two'] });
    await person.during(() => run('lanceCatalog.cluster.verify'));
    assert.deepEqual(person.lists, [
      {
        title: 'Select the cluster to verify',
        labels: ['$(server-environment) one', '$(server-environment) two', '$(add) New Cluster Profile…'],
      },
    ]);
    assert.equal(api.cluster.checks.board?.profile, 'two');
  });

  test('are not asked for where there is one', async () => {
    await setProfiles(api, { only: profileFor(kube) });
    const person = new PersonStandIn({});
    await person.during(() => verify());
    assert.deepEqual(person.lists, []);
  });

  test('are made step by step', async () => {
    const person = new PersonStandIn({
      picks: ['EKS Cluster with a Role…', 'User Settings'],
      types: ['shop', 'eu-west-1', 'client-role', 'geneva', 'runner', 's3://tables/prod', 'shop'],
    });
    await person.during(() => run('lanceCatalog.cluster.newProfile'));
    assert.deepEqual(api.cluster.profiles.written(), {
      shop: {
        configMethod: 'EKS_AUTH',
        clusterName: 'shop',
        region: 'eu-west-1',
        roleName: 'client-role',
        namespace: 'geneva',
        serviceAccount: 'runner',
        storage: 's3://tables/prod',
      },
    });
    assert.deepEqual(api.cluster.profiles.get('shop').storage, { scheme: 's3', bucket: 'tables', prefix: 'prod' });
  });

  test('are made from a context of the kubeconfig by who has none, and verified', async () => {
    const before = process.env['KUBECONFIG'];
    process.env['KUBECONFIG'] = kube.kubeconfig;
    const types = [names.namespace, names.serviceAccount, '', 'dev'];
    const person = new PersonStandIn({ picks: ['test', 'Workspace Settings'], types });
    try {
      await person.during(() => run('lanceCatalog.cluster.verify'));
      assert.equal(person.boxes[0]?.value, names.namespace, 'the namespace of the context is suggested');
      assert.equal(api.cluster.checks.reportOf('dev')?.counts.fail, 0);
      assert.deepEqual(Object.keys(api.cluster.profiles.writtenIn('workspace')), ['dev']);
    } finally {
      if (before === undefined) delete process.env['KUBECONFIG'];
      else process.env['KUBECONFIG'] = before;
      await vscode.workspace
        .getConfiguration()
        .update('lanceCatalog.cluster.profiles', undefined, vscode.ConfigurationTarget.Workspace);
    }
  });

  test('are not made when the person leaves on the way', async () => {
    const person = new PersonStandIn({ picks: ['EKS Cluster with a Role…'], types: ['shop', null] });
    await person.during(() => run('lanceCatalog.cluster.verify'));
    assert.deepEqual(api.cluster.profiles.written(), {});
    assert.equal(api.cluster.checks.isRunning, false);
  });

  test('stay where they are when another is made beside them', async () => {
    await setProfiles(api, { one: profileFor(kube) });
    await api.cluster.profiles.add('two', { namespace: 'geneva' }, 'person');
    assert.deepEqual(Object.keys(api.cluster.profiles.written()), ['one', 'two']);
  });

  test('that can not be read say which setting is wrong, and nothing is asked', async () => {
    await setProfiles(api, { bad: { ...profileFor(kube), headGroup: { memory: 'much' } } });
    kube.asked.length = 0;
    const told = await failuresOf(() => run('lanceCatalog.cluster.verify'));
    assert.match(told.join(), /lanceCatalog\.cluster\.profiles\.bad\.headGroup\.memory/);
    assert.deepEqual(kube.asked, []);
  });

  test('with something that looks like a secret are refused without it', async () => {
    await setProfiles(api, { bad: { ...profileFor(kube), token: 'planted-secret-4711' } });
    const told = await failuresOf(() => run('lanceCatalog.cluster.verify'));
    assert.match(told.join(), /\btoken\b/);
    assert.doesNotMatch(told.join(), /planted-secret/);
  });

  test('are each shown with what was found of them last', async () => {
    await setProfiles(api, { one: profileFor(kube), two: { ...profileFor(kube), namespace: 'elsewhere' } });
    await verify('one');
    const ofOne = rowsOf(api).length;
    await verify('two');
    await new PersonStandIn({ picks: ['one'] }).during(() => run('lanceCatalog.cluster.chooseProfile'));
    assert.equal(api.cluster.checks.board?.profile, 'one');
    assert.equal(rowsOf(api).length, ofOne);
  });
});
