import assert from 'node:assert/strict';
import { Backfills } from '../../../../extension/jobs/runBackfills.ts';
import { somePlan } from './somePlan.ts';

/**
 * Returns a window, and the requests that it sends to the jobs process. `mayLaunch` is the user's decision about
 * clusters with failed checks.
 */
function windowWith(mayLaunch: boolean): { backfills: Backfills; asked: string[]; verified: unknown[] } {
  const [asked, verified]: [string[], unknown[]] = [[], []];
  const request = (method: string) => {
    asked.push(method);
    return Promise.resolve(method === 'start' ? { id: 'bf-0001', joined: false } : somePlan());
  };
  const backfills = new Backfills({
    host: { request },
    askConsent: () => Promise.resolve(true),
    mayLaunchOn: (place) => (verified.push(place), Promise.resolve(mayLaunch)),
  });
  return { backfills, asked, verified };
}

const asks = (ray: { profile: string; rayCluster?: string } | { address: string }) =>
  ({
    table: { catalog: { implementation: 'dir', root: '/data' }, namespacePath: [], name: 'orders' },
    column: 'note_length',
    function: somePlan().function,
    ray,
  }) as const;
const { signal } = new AbortController();

suite('backfills as the editor starts them', () => {
  test('verify a cluster by the RayCluster that the job is for, once for its plan and its start', async () => {
    const { backfills, asked, verified } = windowWith(true);
    const request = asks({ profile: 'prod', rayCluster: 'nightly' });
    await backfills.plan(request, signal);
    assert.deepEqual(await backfills.start(request, signal), { id: 'bf-0001', joined: false });
    assert.deepEqual(verified, [{ profile: 'prod', rayCluster: 'nightly' }]);
    assert.deepEqual(asked, ['plan', 'accept', 'start']);
    await backfills.plan(asks({ profile: 'prod' }), signal);
    assert.equal(verified.length, 2, 'another RayCluster is another question');
  });

  test('ask nothing of a Ray where the cluster is not fit and the person leaves it at that', async () => {
    const { backfills, asked, verified } = windowWith(false);
    const request = asks({ profile: 'prod' });
    assert.equal(await backfills.plan(request, signal), undefined);
    assert.equal(await backfills.try(request, signal), undefined);
    assert.equal(await backfills.start(request, signal), undefined);
    assert.deepEqual([asked, verified.length], [[], 3]);
  });

  test('verify nothing for a Ray by its address', async () => {
    const { backfills, verified } = windowWith(false);
    assert.ok(await backfills.plan(asks({ address: 'http://127.0.0.1:8265' }), signal));
    assert.deepEqual(verified, []);
  });

  test('compute a sample of an SQL expression alone, since code runs only when the user tries or runs it', async () => {
    const { backfills, asked } = windowWith(true);
    const request = asks({ address: 'http://127.0.0.1:8265' });
    assert.ok(await backfills.sample(somePlan(), request, signal));
    assert.deepEqual(asked, ['sample']);
    const { function: fn, rows } = somePlan();
    const code = { ...fn, kind: 'typescript', takes: 'row', code: '', source: '' } as const;
    assert.equal(await backfills.sample(somePlan({ function: code }), request, signal), undefined);
    const none = {
      ...rows,
      toCompute: { value: 0, basis: 'counted' },
      reused: { value: 0, basis: 'counted' },
    } as const;
    assert.equal(await backfills.sample(somePlan({ rows: none }), request, signal), undefined);
    assert.deepEqual(asked, ['sample'], 'nothing else was computed');
  });
});
