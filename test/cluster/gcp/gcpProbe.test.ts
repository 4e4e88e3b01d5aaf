import assert from 'node:assert/strict';
import type { CheckReport } from '#cluster/result.ts';
import type { VerifyOptions } from '#cluster/verifyCluster.ts';
import type { KubeObject } from '../parts/kubeApi.ts';
import { mendOf, sentenceOf } from '../parts/outcome.ts';
import { until } from '../parts/processes.ts';
import { names } from '../parts/sound/names.ts';
import { type GoogleProject, others, startGoogleProject } from '../standIns/googleProject.ts';
import { google } from '../standIns/googleState.ts';
import { KubeletStandIn } from '../standIns/kubeletStandIn.ts';
import { MetadataStandIn } from '../standIns/metadataStandIn.ts';

suite('The pod of a probe on Google Cloud', function () {
  this.timeout(120_000);
  let project: GoogleProject;
  let metadata: MetadataStandIn;
  let kubelet: KubeletStandIn;
  suiteSetup(async () => {
    project = await startGoogleProject();
    metadata = await MetadataStandIn.start();
    kubelet = await KubeletStandIn.start({
      cluster: project.cluster,
      node: project.cluster.object('Node', names.nodes.head),
      environment: { METADATA: `http://${metadata.host}`, STORAGE: project.standIn.endpoints.storage },
    });
  });
  setup(async () => {
    project.reset();
    kubelet.behaviour = 'runs';
    await kubelet.announce();
    metadata.identity = { email: google.account, token: () => project.standIn.tokenFor(google.account) };
    const role = project.cluster.object('ClusterRole', names.personRole);
    const rules = [
      { apiGroups: [''], resources: ['pods'], verbs: ['create', 'get', 'delete'] },
      { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
    ];
    await project.cluster.api.replace({ ...role, rules: [...role['rules'], ...rules] });
  });
  teardown(async () => {
    assert.deepEqual(await probes(), [], 'a probe is left');
    assert.deepEqual([...project.standIn.state.objects.keys()], [], 'an object is left');
    await project.cluster.restore();
  });
  suiteTeardown(async () => {
    await kubelet.stop();
    await metadata.stop();
    await project.stop();
  });

  const probes = async (): Promise<string[]> =>
    (await project.cluster.api.list('v1', 'Pod'))
      .map(({ metadata: { name } }) => name)
      .filter((name) => name.startsWith('lance-catalog-probe-'));
  const check = (more: Partial<VerifyOptions> = {}): Promise<CheckReport> =>
    project.check(undefined, ['gcp-probe-pod'], { probe: true, ...more });

  test('is not started unless a probe is asked for', async () => {
    const report = await check({ probe: false });
    assert.match(sentenceOf(report, 'gcp-probe-pod'), /^The check would start a pod .*--probe/);
  });

  test('says who it is, writes an object and leaves nothing', async () => {
    const report = await check();
    assert.equal(
      sentenceOf(report, 'gcp-probe-pod'),
      `A pod is ${google.account}, and can write into gs://${google.bucket}.`,
    );
    const result = report.results.find(({ id }) => id === 'gcp-probe-pod');
    assert.deepEqual(
      result?.evidence.map(({ saw }) => saw),
      [`probe identity ${google.account}`, 'probe written 200', 'probe removed 204'],
    );
    assert.equal(report.left, undefined);
  });

  test('fails as the node, where the node pool gives it the identity of the node', async () => {
    metadata.identity = { email: 'node@example.com', token: () => project.standIn.tokenFor('node@example.com') };
    assert.equal(sentenceOf(await check(), 'gcp-probe-pod'), `The pod is node@example.com, not ${google.account}.`);
  });

  test('fails where it may not write, with the grant that mends it', async () => {
    project.standIn.state.buckets.set(google.bucket, []);
    const report = await check();
    assert.equal(others(report)['gcp-probe-pod'], 'fail');
    const mend = mendOf(report, 'gcp-probe-pod');
    assert.equal(mend?.kind === 'command' && mend.command.startsWith('gcloud storage buckets'), true);
  });

  test('is a warning where the image cannot be had', async () => {
    kubelet.behaviour = 'finds no image';
    const report = await check();
    assert.equal(sentenceOf(report, 'gcp-probe-pod'), 'The probe pod did not run: ErrImagePull: no such host.');
    assert.equal(others(report)['gcp-probe-pod'], 'warn');
  });

  test('removes the object where the pod could not', async () => {
    project.standIn.failNextDelete = true;
    const report = await check();
    assert.deepEqual(others(report), {});
  });

  test('is removed when the run is stopped while it runs', async () => {
    // Let the metadata server not respond, so that the pod waits.
    const { identity } = metadata;
    metadata.hangs = true;
    try {
      const stop = new AbortController();
      const running = check({ signal: stop.signal });
      await until('A probe that runs', () => Promise.resolve(kubelet.running.length > 0));
      stop.abort();
      const report = await running;
      assert.equal(report.stopped, true);
      assert.equal(report.left, undefined);
      assert.deepEqual(await probes(), []);
    } finally {
      metadata.hangs = false;
      metadata.identity = identity;
    }
  });

  test('takes one away that a process left which was killed, and none that runs', async () => {
    const labels = { 'app.kubernetes.io/name': 'identity-probe', 'app.kubernetes.io/managed-by': 'lance-catalog' };
    const podOf = (name: string, phase: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: names.namespace, labels },
      spec: { containers: [{ name: 'probe', image: 'x' }] },
      status: { phase },
    });
    const [ended, running] = [
      podOf('lance-catalog-probe-ended', 'Failed'),
      podOf('lance-catalog-probe-runs', 'Running'),
    ];
    await project.cluster.api.apply(ended, running);
    await check();
    assert.deepEqual(await probes(), [running.metadata.name]);
    await project.cluster.api.delete(running);
  });

  test('is skipped where the person may start no pods', async () => {
    await project.cluster.restore();
    assert.match(
      sentenceOf(await check(), 'gcp-probe-pod'),
      /^You lack the permission: .*POST \/api\/v1\/namespaces\/geneva\/pods/,
    );
  });
});
