import assert from 'node:assert/strict';
import type { CheckContext } from '#cluster/check.ts';
import type { CheckId } from '#cluster/checkIds.ts';
import { versionChecks } from '#cluster/checks/versionChecks.ts';
import type { Finding } from '#cluster/result.ts';
import { runChecks } from '#cluster/runChecks.ts';

/**
 * Stands in for the reads of an API server with these responses, for states that the tests' own API server can't have:
 * an older version, or definitions that are not established. The API server establishes definitions immediately.
 */
const contextStandIn = (replies: Readonly<Record<string, unknown>>, more: object = {}): CheckContext => {
  const profile = { auth: { configMethod: 'IN_CLUSTER' }, namespace: 'geneva', ...more };
  const read = (path: string): Promise<unknown> => Promise.resolve(replies[path]);
  // The part of a context that these checks use.
  return { profile, kube: { profile, get: read, find: read } } as unknown as CheckContext;
};

async function outcomeOf(id: CheckId, context: CheckContext): Promise<Pick<Finding, 'sentence'> & { status: string }> {
  const check = versionChecks.find((one) => one.id === id) ?? assert.fail(`There is no ${id}.`);
  const options = { profile: 'p', signal: new AbortController().signal, mayWrite: false };
  const [result] = (await runChecks([{ ...check, needs: [] }], context, options)).results;
  assert.ok(result);
  return { status: result.status, sentence: result.sentence };
}

suite('The check of', () => {
  for (const [gitVersion, status, sentence] of [
    ['v1.30.0', 'pass', /^Kubernetes 1\.30 is recent enough/],
    ['v1.33.2-eks-1-30', 'pass', /1\.33/],
    ['v1.29.14-gke.1000', 'warn', /^Kubernetes 1\.29 is older than 1\.30/],
    ['latest', 'warn', /reports "latest", which is not a version number/],
  ] as const)
    test(`the version of Kubernetes is ${status} for ${gitVersion}`, async () => {
      const found = await outcomeOf('k8s-version', contextStandIn({ '/version': { gitVersion } }));
      assert.equal(found.status, status);
      assert.match(found.sentence, sentence);
    });

  for (const [rayVersion, status, sentence] of [
    ['2.43.0', 'pass', /^Jobs use Ray 2\.43\.0/],
    ['2.9.3', 'fail', /^The profile has Ray 2\.9\.3; 2\.43 or later is required/],
    ['2.42.1', 'fail', /2\.42\.1/],
    ['nightly', 'fail', /"nightly", which is not a version number/],
    [undefined, 'skipped', /^The profile sets no Ray version/],
  ] as const)
    test(`the version of Ray that jobs are sent with is ${status} for ${rayVersion}`, async () => {
      const found = await outcomeOf('ray-version-client', contextStandIn({}, { rayVersion }));
      assert.equal(found.status, status);
      assert.match(found.sentence, sentence);
    });

  test('a definition fails where it is served and not established', async () => {
    const spec = { versions: [{ name: 'v1', served: true }] };
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/rayclusters.ray.io';
    const of = (value: string) => ({ spec, status: { conditions: [{ type: 'Established', status: value }] } });
    const found = await outcomeOf('crd-rayclusters', contextStandIn({ [path]: of('False') }));
    assert.equal(found.status, 'fail');
    assert.match(found.sentence, /is defined but not established/);
    assert.equal((await outcomeOf('crd-rayclusters', contextStandIn({ [path]: of('True') }))).status, 'pass');
  });
});
