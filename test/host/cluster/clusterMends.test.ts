import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { fixScheme } from '../../../extension/cluster/fixPreviews.ts';
import { runPreflightChecks } from '../../../extension/cluster/gate.ts';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { names } from '../../cluster/parts/sound/names.ts';
import { PersonStandIn } from '../person.ts';
import { eventually, extensionApi, failuresOf, run, temporaryFolder } from '../support.ts';
import { profileFor, rowOf, setProfiles, takeVerb, verify } from './clusterSupport.ts';
import { KubeApiStandIn } from './kubeApiStandIn.ts';

/** Returns both sides of the active diff. */
function shownDiff(): vscode.TabInputTextDiff | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  return input instanceof vscode.TabInputTextDiff && input.modified.scheme === fixScheme ? input : undefined;
}

const textOf = async (uri: vscode.Uri): Promise<string> => (await vscode.workspace.openTextDocument(uri)).getText();

suite('mending a cluster', function () {
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
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await setProfiles(api, undefined);
    await kube.stop();
    folder.remove();
  });

  teardown(() => {
    kube.objects.reset();
    kube.mayChange = true;
  });

  /** Creates a fault that a fix with objects repairs. */
  const plant = async (): Promise<void> => {
    takeVerb(kube, 'pods', 'watch');
    await verify();
    assert.equal(rowOf(api, 'rbac-pods-watch').item.contextValue, 'check.fail.command.objects');
  };
  const verbs = (): string[] =>
    (kube.objects.find('ClusterRole', names.role) as unknown as { rules: { verbs: string[] }[] }).rules.flatMap(
      (rule) => rule.verbs,
    );
  const written = (): string[] => kube.asked.filter((asked) => asked.startsWith('PATCH') && !asked.includes('dryRun'));

  test('copies the command that mends a check', async () => {
    await plant();
    await run('lanceCatalog.cluster.copyMend', rowOf(api, 'rbac-pods-watch').node);
    assert.match(await vscode.env.clipboard.readText(), /^kubectl /);
  });

  test('shows what the cluster would make of it beside what is there, and changes nothing', async () => {
    await plant();
    kube.asked.length = 0;
    await run('lanceCatalog.cluster.showMend', rowOf(api, 'rbac-pods-watch').node);
    const { original, modified } = await eventually('the diff', shownDiff);
    assert.doesNotMatch(await textOf(original), /watch/);
    assert.match(await textOf(modified), /watch/);
    assert.ok(!verbs().includes('watch'));
    assert.deepEqual(written(), []);
    assert.ok(
      kube.asked.some((asked) => asked.includes('dryRun=All')),
      'a dry run was asked for',
    );
  });

  test('changes nothing when the person leaves the question', async () => {
    await plant();
    await run('lanceCatalog.cluster.showMend', rowOf(api, 'rbac-pods-watch').node);
    const { modified } = await eventually('the diff', shownDiff);
    const person = new PersonStandIn({ chooses: [undefined] });
    await person.during(() => run('lanceCatalog.cluster.applyMend', modified));
    assert.match(person.questions[0]?.message ?? '', /Apply to the cluster "local"\?/);
    assert.match(person.questions[0]?.detail ?? '', new RegExp(`^Change ClusterRole ${names.role}\\n`));
    assert.ok(!verbs().includes('watch'));
  });

  test('applies what was shown after a yes, and asks the check again', async () => {
    await plant();
    const person = new PersonStandIn({ chooses: ['Apply'] });
    await person.during(() => run('lanceCatalog.cluster.applyMend', rowOf(api, 'rbac-pods-watch').node));
    assert.ok(shownDiff(), 'what is applied was shown before');
    assert.ok(verbs().includes('watch'));
    assert.match(rowOf(api, 'rbac-pods-watch').spoken, /: passed/);
  });

  test('refuses to apply a fix that differs from the one shown', async () => {
    await plant();
    await run('lanceCatalog.cluster.showMend', rowOf(api, 'rbac-pods-watch').node);
    const { modified } = await eventually('the diff', shownDiff);
    takeVerb(kube, 'rayclusters', 'patch');
    const told = await failuresOf(() =>
      new PersonStandIn({ chooses: ['Apply'] }).during(() => run('lanceCatalog.cluster.applyMend', modified)),
    );
    assert.match(told.join(), /has changed since the preview/);
    assert.ok(!verbs().includes('watch'));
  });

  for (const command of ['lanceCatalog.cluster.showMend', 'lanceCatalog.cluster.applyMend'] as const) {
    test(`shows who may not change the cluster what to give to an administrator: ${command}`, async () => {
      await plant();
      kube.mayChange = false;
      const told = await failuresOf(() => run(command, rowOf(api, 'rbac-pods-watch').node));
      assert.deepEqual(told, []);
      const shown = await eventually('the manifest', () => {
        const document = vscode.window.activeTextEditor?.document;
        return document?.uri.path.endsWith('rbac-pods-watch.yaml') === true && document;
      });
      assert.match(shown.getText(), /kind: ClusterRole\n[^]*- watch/);
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    });
  }

  test('shows what is a line for a shell as a script with what it is for', async () => {
    kube.objects.remove('Deployment', names.operator);
    await verify();
    const { node, item } = rowOf(api, 'operator-running');
    assert.equal(item.contextValue, 'check.fail.command');
    await run('lanceCatalog.cluster.showMend', node);
    const shown = await eventually('the script', () => {
      const document = vscode.window.activeTextEditor?.document;
      return document?.uri.path.endsWith('operator-running.sh') === true && document;
    });
    assert.match(shown.getText(), /^# .*\n# .*\n\nhelm /);
  });

  test('says so where nothing is to be mended', async () => {
    await verify();
    const { node } = rowOf(api, 'rbac-pods-watch');
    const told = await failuresOf(() => run('lanceCatalog.cluster.copyMend', node));
    assert.match(told.join(), /Can't copy a fix for "Service account may watch pods[^"]*": no fix is known\./);
  });
});

suite('a gate of checks before something is launched', function () {
  this.timeout(60_000);
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
  });

  /** Runs the gate with a user who picks this button. */
  const gate = async (chooses: string | undefined, signal = new AbortController().signal) => {
    const person = new PersonStandIn({ chooses: [chooses] });
    let isOpen: boolean | undefined;
    await person.during(async () => {
      const launch = { ids: ['rbac-pods-watch', 'nodes-head'], anyway: 'Run Anyway' } as const;
      isOpen = await runPreflightChecks(api.cluster, api.cluster.profiles.get('local'), launch, signal);
    });
    return { isOpen, person };
  };

  test('lets through without a question when the checks pass', async () => {
    const { isOpen, person } = await gate(undefined);
    assert.equal(isOpen, true);
    assert.deepEqual(person.questions, []);
  });

  for (const [chooses, expected] of [
    ['Run Anyway', true],
    ['Show Problems', false],
    [undefined, false],
  ] as const) {
    test(`lets the person decide over a failure: ${chooses ?? 'leaves'}`, async () => {
      takeVerb(kube, 'pods', 'watch');
      const { isOpen, person } = await gate(chooses);
      assert.equal(isOpen, expected);
      assert.match(person.questions[0]?.message ?? '', /^"local" is not ready: a check failed\.$/);
      assert.match(person.questions[0]?.detail ?? '', /may not watch/);
    });
  }

  test('ends when it is given up, without a question', async () => {
    kube.hold((asked) => asked.includes('/subjectaccessreviews'));
    const controller = new AbortController();
    const person = new PersonStandIn({});
    const launch = { ids: ['rbac-pods-watch'], anyway: 'Run Anyway' } as const;
    const opened = person.during(() =>
      runPreflightChecks(api.cluster, api.cluster.profiles.get('local'), launch, controller.signal),
    );
    await eventually('a run', () => api.cluster.checks.isRunning);
    controller.abort();
    await assert.rejects(opened, { name: 'AbortError' });
    assert.deepEqual(person.questions, []);
  });
});
