import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckResult } from '#cluster/result.ts';
import { verifyCluster } from '#cluster/verifyCluster.ts';
import { resultOf } from '../parts/faults.ts';
import type { KubeObject } from '../parts/kubeApi.ts';
import { names } from '../parts/sound/names.ts';
import { soundCluster, type SoundCluster } from '../parts/soundCluster.ts';
import { type HeadAnswer, RayHeadStandIn } from '../standIns/rayHeadStandIn.ts';

const saying = (ray_version: string): HeadAnswer => ({ status: 200, body: { version: '4', ray_version } });

suite('The check of the head that runs', function () {
  this.timeout(120_000);
  let cluster: SoundCluster;
  let head: RayHeadStandIn;
  let profile: ClusterProfile;

  suiteSetup(async () => {
    cluster = await soundCluster();
    const { cert, key } = cluster.pki.server('ray-head-front');
    const tls = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
    head = await RayHeadStandIn.start({ address: cluster.address, ca: cluster.pki.ca }, tls);
  });

  suiteTeardown(() => head?.stop());

  // The relay can't forward a client certificate, so this user signs in with a token.
  setup(async () => {
    const account = { kind: 'ServiceAccount', name: names.serviceAccount, namespace: names.namespace };
    const binding: KubeObject = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'head-reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: names.personRole },
      subjects: [account],
    };
    await cluster.api.apply(binding);
    const token = await cluster.api.token(names.namespace, names.serviceAccount);
    const kubeconfig = cluster.kubeconfig({ token }, ({ clusters }) => {
      clusters[0]!.cluster['server'] = head.address;
    });
    profile = { ...cluster.profile, auth: { configMethod: 'LOCAL', kubeconfig } };
  });

  teardown(() => cluster.restore());

  async function whenItSays(answer: HeadAnswer, change: Partial<ClusterProfile> = {}): Promise<CheckResult> {
    head.answer = answer;
    const report = await verifyCluster(
      { ...profile, ...change },
      { signal: AbortSignal.timeout(60_000), only: ['ray-version-head'] },
    );
    return resultOf(report, 'ray-version-head');
  }

  test('passes for the version that jobs are sent with', async () => {
    const { status, sentence } = await whenItSays(saying('2.43.0'));
    assert.deepEqual([status, sentence], ['pass', 'The head of geneva-cluster has Ray 2.43.0.']);
  });

  test('fails for another version than that', async () => {
    const { status, sentence } = await whenItSays(saying('2.44.1'));
    assert.equal(status, 'fail');
    assert.match(sentence, /^The running head has Ray 2\.44\.1, but the profile 2\.43\.0; they must be equal/i);
  });

  test('fails for a version that is too old', async () => {
    const { status, sentence } = await whenItSays(saying('2.40.0'), { rayVersion: undefined });
    assert.equal(status, 'fail');
    assert.match(sentence, /has Ray 2\.40\.0; 2\.43 or later is required/);
  });

  test('is skipped with the reason where the head wants a token of its own', async () => {
    const { status, sentence } = await whenItSays({ status: 401, body: 'Missing authentication token' });
    assert.equal(status, 'skipped');
    assert.match(sentence, /^The head of geneva-cluster can't be checked: /);
  });

  test('is skipped where the head does not answer', async () => {
    const { status, sentence } = await whenItSays('nothing');
    assert.equal(status, 'skipped');
    assert.match(sentence, /can't be checked/);
  });

  test('is skipped where something else answers', async () => {
    const { status, sentence } = await whenItSays({ status: 200, body: { hello: 'world' } });
    assert.deepEqual([status, sentence], ['skipped', 'The head of geneva-cluster does not report its Ray version.']);
  });
});
