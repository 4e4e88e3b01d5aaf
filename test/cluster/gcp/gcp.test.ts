import assert from 'node:assert/strict';
import type { CheckId } from '#cluster/checkIds.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckReport } from '#cluster/result.ts';
import { mendOf, sentenceOf } from '../parts/outcome.ts';
import { names } from '../parts/sound/names.ts';
import type { SoundCluster } from '../parts/soundCluster.ts';
import { runGcloudStandIn } from '../standIns/gcloudStandIn.ts';
import { clientSecret, type GoogleProject, others, startGoogleProject } from '../standIns/googleProject.ts';
import type { GoogleStandIn } from '../standIns/googleStandIn.ts';
import { google, workload } from '../standIns/googleState.ts';

suite('Checks of Google Cloud', function () {
  this.timeout(120_000);
  let project: GoogleProject;
  let cluster: SoundCluster;
  let standIn: GoogleStandIn;
  let profile: ClusterProfile;
  suiteSetup(async () => {
    project = await startGoogleProject();
    ({ cluster, standIn, profile } = project);
  });
  setup(() => project.reset());
  teardown(() => cluster.restore());
  suiteTeardown(() => project.stop());

  const check = (given?: ClusterProfile, only?: readonly CheckId[]): Promise<CheckReport> => project.check(given, only);

  test('all pass where all is in order, and nothing is asked twice', async () => {
    assert.deepEqual(others(await check()), {});
    const asked = standIn.asked.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual([...new Set(asked)].toSorted(), asked.toSorted());
  });

  test('finds a bucket that is not there; made, it needs the role', async () => {
    standIn.state.buckets.clear();
    const report = await check();
    assert.deepEqual(others(report), { 'gcp-bucket-role': 'fail', 'gcp-chain-bucket': 'fail' });
    assert.equal(sentenceOf(report, 'gcp-chain-bucket'), `There is no bucket gs://${google.bucket}.`);
    for (let round = 0; round < 2; round++) {
      const mend = mendOf(await check(), 'gcp-bucket-role');
      assert.equal(mend?.kind, 'command');
      runGcloudStandIn(mend.command, standIn.state);
    }
    assert.deepEqual(others(await check()), {});
  });

  test('takes grants of the project for what they are worth, though no policy of a part shows them', async () => {
    const { state } = standIn;
    state.accounts.set(google.account, []);
    state.buckets.set(google.bucket, []);
    state.project.push(
      { role: 'roles/iam.workloadIdentityUser', members: [workload] },
      { role: 'roles/storage.objectAdmin', members: [`serviceAccount:${google.account}`] },
    );
    const report = await check();
    assert.deepEqual(others(report), {});
    assert.match(sentenceOf(report, 'gcp-wi-user'), /through a grant on the project or above it/);
  });

  test('warns of a grant under a condition that is not met', async () => {
    const [binding] = standIn.state.buckets.get(google.bucket) ?? [];
    binding!.condition = { expression: 'request.time < timestamp("2020-01-01T00:00:00Z")' };
    const report = await check();
    assert.deepEqual(others(report), { 'gcp-bucket-role': 'warn', 'gcp-chain-bucket': 'fail' });
    assert.match(sentenceOf(report, 'gcp-bucket-role'), /request\.time < timestamp/);
  });

  test('finds an annotation that is missing, and its object puts it there', async () => {
    const account = cluster.object('ServiceAccount', names.serviceAccount);
    await cluster.api.merge(account, { metadata: { annotations: { 'iam.gke.io/gcp-service-account': null } } });
    const report = await check();
    assert.deepEqual(others(report), {
      'gcp-sa-annotation': 'fail',
      'gcp-chain-impersonate': 'blocked',
      'gcp-chain-bucket': 'blocked',
      'gcp-probe-pod': 'blocked',
    });
    const mend = mendOf(report, 'gcp-sa-annotation');
    assert.equal(mend?.kind, 'objects');
    for (const object of mend.objects) await cluster.api.merge(account, object);
    assert.deepEqual(others(await check()), {});
  });

  test('finds an annotation with another account than the profile means', async () => {
    const account = cluster.object('ServiceAccount', names.serviceAccount);
    const annotations = { 'iam.gke.io/gcp-service-account': 'other@test-project.iam.gserviceaccount.com' };
    await cluster.api.merge(account, { metadata: { annotations } });
    const report = await check();
    assert.match(sentenceOf(report, 'gcp-sa-annotation'), /is annotated with other@.*, not with geneva@/);
  });

  test('goes by the annotation where the profile names no account', async () => {
    const report = await check({ ...profile, gcp: { ...profile.gcp!, serviceAccount: undefined } });
    assert.deepEqual(others(report), {});
  });

  test('looks at all node pools where none carries a label of Ray, and at none of Autopilot', async () => {
    const gke = standIn.state.cluster;
    for (const pool of gke.nodePools) pool.labels = {};
    const report = await check();
    // Only a warning, because the node pool may have another purpose than Ray.
    assert.deepEqual(others(report), { 'gcp-wi-nodepool': 'warn' });
    assert.match(sentenceOf(report, 'gcp-wi-nodepool'), /^Pods on the node pool system /);
    for (const pool of gke.nodePools) pool.mode = undefined;
    assert.deepEqual(others(await check()), { 'gcp-wi-nodepool': 'fail' });
    gke.autopilot = true;
    assert.deepEqual(others(await check()), {});
  });

  test('tells logins apart that have expired, are too old, and whose account is gone', async () => {
    const sentences: string[] = [];
    for (const login of ['expired', 'too old', 'account deleted'] as const) {
      standIn.state.login = login;
      sentences.push(sentenceOf(await check(profile, ['gcp-adc']), 'gcp-adc').replace(/\S+credentials\.json/, 'FILE'));
    }
    assert.deepEqual(sentences, [
      'The sign-in stored in FILE has expired or was revoked.',
      'The sign-in stored in FILE is older than its organization allows.',
      'Google rejected the credentials from FILE: Account has been deleted.',
    ]);
  });

  test('says that a cluster of another name is not there, and asks nothing of a profile outside Google Cloud', async () => {
    const report = await check({ ...profile, gcp: { ...profile.gcp!, clusterName: 'other' } }, ['gcp-client-role']);
    assert.equal(
      sentenceOf(report, 'gcp-client-role'),
      'There is no cluster other in europe-west1-b of the project test-project.',
    );
    standIn.asked.length = 0;
    const none = await check({ ...profile, gcp: undefined });
    assert.deepEqual(
      none.results.filter(({ category, status }) => category === 'gcp' && status !== 'skipped'),
      [],
    );
    assert.deepEqual(standIn.asked, []);
  });

  test('asks for no Google service account where the pods have the role on the bucket themselves', async () => {
    const account = cluster.object('ServiceAccount', names.serviceAccount);
    await cluster.api.merge(account, { metadata: { annotations: { 'iam.gke.io/gcp-service-account': null } } });
    standIn.state.buckets.set(google.bucket, [{ role: 'roles/storage.objectAdmin', members: [workload] }]);
    const direct = { ...profile, gcp: { ...profile.gcp!, serviceAccount: undefined } };
    const report = await check(direct);
    const skipped = [
      'gcp-sa-annotation',
      'gcp-wi-user',
      'gcp-bucket-role',
      'gcp-chain-impersonate',
      'gcp-chain-bucket',
    ];
    assert.deepEqual(others(report), Object.fromEntries(skipped.map((id) => [id, 'skipped'])));
    assert.match(sentenceOf(report, 'gcp-sa-annotation'), /names no Google service account, and needs none/);
    standIn.state.buckets.set(google.bucket, [{ role: 'roles/storage.objectViewer', members: [workload] }]);
    assert.equal(others(await check(direct))['gcp-sa-annotation'], 'fail');
  });

  test('does not say that a grant is missing which the project may give, where that cannot be tried', async () => {
    const { state } = standIn;
    state.accounts.set(google.account, []);
    state.buckets.set(google.bucket, []);
    state.project.push(
      { role: 'roles/iam.workloadIdentityUser', members: [workload] },
      { role: 'roles/storage.objectAdmin', members: [`serviceAccount:${google.account}`] },
    );
    const role = cluster.object('ClusterRole', names.personRole);
    const rules = role['rules'].filter(
      ({ resources }: { resources: string[] }) => !resources.includes('serviceaccounts/token'),
    );
    await cluster.api.replace({ ...role, rules });
    const found = others(await check());
    assert.deepEqual([found['gcp-wi-user'], found['gcp-bucket-role']], ['warn', 'warn']);
    assert.ok(!Object.values(found).includes('fail'));
  });

  test('skips the chain where the person may not ask for tokens of the service account', async () => {
    const role = cluster.object('ClusterRole', names.personRole);
    const rules = role['rules'].filter(
      ({ resources }: { resources: string[] }) => !resources.includes('serviceaccounts/token'),
    );
    await cluster.api.replace({ ...role, rules });
    const report = await check();
    assert.deepEqual(others(report), {
      'gcp-chain-token': 'skipped',
      'gcp-chain-exchange': 'skipped',
      'gcp-chain-impersonate': 'skipped',
      'gcp-chain-bucket': 'skipped',
    });
  });

  test('shows no token and no secret in any result, whether all passes or all is refused', async () => {
    const reports = [await check()];
    standIn.state.accounts.clear();
    standIn.state.login = 'account deleted';
    reports.push(await check());
    const text = JSON.stringify(reports);
    for (const secret of [...standIn.secrets, clientSecret]) assert.ok(!text.includes(secret), secret);
  });
});
