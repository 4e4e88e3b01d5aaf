import assert from 'node:assert/strict';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckReport } from '#cluster/result.ts';
import { verifyCluster } from '#cluster/verifyCluster.ts';
import { kubeconfigText, written } from './kubeconfigs.ts';

/**
 * Returns the report of the checks up to the first request, for a kubeconfig that signs in with a program: real
 * processes, but no server.
 */
async function reportOf(exec: Readonly<Record<string, unknown>>): Promise<CheckReport> {
  const user = { exec: { apiVersion: 'client.authentication.k8s.io/v1', ...exec } };
  const auth = { configMethod: 'LOCAL', kubeconfig: written(kubeconfigText({ user })) };
  // The checks of the connection use only these fields of a profile.
  const profile = { name: 'p', auth, namespace: 'geneva', serviceAccount: 'geneva-sa' } as unknown as ClusterProfile;
  return verifyCluster(profile, { signal: AbortSignal.timeout(60_000), only: ['k8s-reach'] });
}

const statuses = ({ results }: CheckReport): Record<string, string> =>
  Object.fromEntries(results.map(({ id, status }) => [id, status]));

suite('The check of what a kubeconfig signs in with', function () {
  this.timeout(60_000);
  const expected = { 'kubeconfig-load': 'pass', 'kubeconfig-exec': 'fail', 'k8s-reach': 'blocked' };

  test('fails for a program that is nowhere, and only what needs it is blocked', async () => {
    const report = await reportOf({ command: 'no-such-program' });
    assert.deepEqual(statuses(report), expected);
    assert.match(report.results[1]?.sentence ?? '', /no-such-program/);
  });

  test('fails for a program that prints garbage, of which the report shows nothing', async () => {
    const code = "process.stdout.write('token: garbage-with-a-secret')";
    const report = await reportOf({ command: process.execPath, args: ['-e', code] });
    assert.deepEqual(statuses(report), expected);
    assert.ok(!JSON.stringify(report.results[1]?.evidence).includes('garbage-with-a-secret'));
    assert.ok(!(report.results[1]?.sentence ?? '').includes('garbage-with-a-secret'));
  });
});
