import assert from 'node:assert/strict';
import { verifyCluster } from '#cluster/verifyCluster.ts';
import { askedTwice } from '../parts/auditLog.ts';
import { soundCluster, type SoundCluster } from '../parts/soundCluster.ts';

suite('A run of the checks', function () {
  this.timeout(120_000);
  let cluster: SoundCluster;
  suiteSetup(async () => (cluster = await soundCluster()));

  test('passes all of Kubernetes on a sound cluster, and asks no question twice', async () => {
    const mark = cluster.audit.mark();
    const { results } = await verifyCluster(cluster.profile, { signal: AbortSignal.timeout(60_000) });
    const asked = cluster.audit.since(mark);
    const wrong = results.filter(({ status }) => status !== 'pass' && status !== 'skipped');
    assert.deepEqual(wrong, []);
    assert.deepEqual(askedTwice(asked), []);
    const passed = results.filter(({ status }) => status === 'pass');
    assert.ok(passed.length >= 40, `${passed.length} checks passed`);
    assert.ok(asked.length <= passed.length, `${asked.length} requests for ${passed.length} checks`);
  });

  test('takes no more rights than the person has: it changes nothing', async () => {
    const mark = cluster.audit.mark();
    await verifyCluster(cluster.profile, { signal: AbortSignal.timeout(60_000) });
    const verbs = new Set(cluster.audit.since(mark).map(({ verb, uri }) => `${verb} ${uri.split('/').at(-1)}`));
    const written = [...verbs].filter((verb) => !/^(?:get|list|watch) |reviews$|create token$/.test(verb));
    assert.deepEqual(written, []);
  });
});
