import assert from 'node:assert/strict';
import type { CreateRayClusterOptions } from '#cluster/kuberay/createRayCluster.ts';
import type { RayProgress } from '#cluster/kuberay/waitForRay.ts';
import { operatorVersions } from '../../harness/needs/kuberayNeeds.ts';
import type { KubeObject } from '../parts/kubeApi.ts';
import { KubeRayWorld, longEnough } from '../parts/kubeRayWorld.ts';
import { until } from '../parts/processes.ts';
import { names } from '../parts/sound/names.ts';
import { testRayLink } from './testRayLink.ts';

const { namespace } = names;

for (const version of operatorVersions) {
  suite(
    `KubeRay ${version}: real API server, operator and scheduler; nodes and pods simulated by kwok, Ray by a stand-in`,
    function () {
      this.timeout(90_000);
      let world: KubeRayWorld;

      suiteSetup(async () => {
        world = await KubeRayWorld.start(version);
      });
      setup(() => world.ray.head.leadTo(world.dashboard.port));
      teardown(() => world.ray.clear());
      suiteTeardown(() => world?.stop());

      test('a RayCluster starts with progress messages, and its Ray responds through the API server', async () => {
        const seen: RayProgress[] = [];
        await using cluster = await world.create('up', { verify: true, onProgress: (progress) => seen.push(progress) });
        assert.deepEqual(
          [...new Set(seen.map(({ phase }) => phase))],
          ['verify', 'create', 'pods', 'dashboard', 'ready'],
        );
        assert.deepEqual([cluster.rayVersion, cluster.adopted, cluster.namespace], ['2.43.0', false, namespace]);
        const ready = seen.findLast(({ phase }) => phase === 'pods');
        assert.deepEqual(ready?.pods.map(({ isHead, group, state }) => [isHead, group, state]).toSorted(), [
          [false, 'cpu', 'ready'],
          [true, undefined, 'ready'],
        ]);
        assert.equal(seen.at(-1)?.sentence, 'geneva/up is ready: Ray 2.43.0.');
      });

      test('what is suspended has no pods, and comes back when it is asked for again', async () => {
        await using cluster = await world.create('sleeper');
        await cluster.suspend(AbortSignal.timeout(longEnough));
        await until('A cluster without pods', async () => (await world.podsOf('sleeper')).length === 0);
        await using again = await world.create('sleeper');
        assert.deepEqual([again.adopted, (await world.podsOf('sleeper')).length], [true, 2]);
      });

      if (version !== operatorVersions[0]) return;

      test('a missing node label is reported with the message of the scheduler, and the RayCluster starts when the label is added', async () => {
        const wanted = { ...world.profile.headGroup, nodeSelector: { pool: 'ray' } };
        const seen: RayProgress[] = [];
        const coming = world.create('picky', { onProgress: (progress) => seen.push(progress) }, { headGroup: wanted });
        await until('The words of the scheduler', async () =>
          seen.some(({ sentence }) =>
            /^geneva\/picky: .*The head is pending: 0\/2 nodes are available: .*didn't match Pod's node affinity\/selector/.test(
              sentence,
            ),
          ),
        );
        const node: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n-head' } };
        await world.ray.cluster.api.merge(node, { metadata: { labels: { pool: 'ray' } } });
        await using cluster = await coming;
        assert.equal(cluster.rayVersion, '2.43.0');
        await world.ray.cluster.api.merge(node, { metadata: { labels: { pool: null } } });
      });

      test('a cancelled start reports why it was not finished, and removes what it has created', async () => {
        const nowhere = { ...world.profile.headGroup, nodeSelector: { pool: 'nowhere' } };
        await assert.rejects(world.create('late', { limits: { pods: 3_000 } }, { headGroup: nowhere }), {
          kind: 'Timeout',
          message: /^RayCluster "geneva\/late" was not ready after 3 s\. .*didn't match Pod's node affinity\/selector/,
        });
        assert.equal(await world.isThere('late'), false);
      });

      test('a failure keeps the RayCluster where it is to be retained on failure', async () => {
        const nowhere = { ...world.profile.headGroup, nodeSelector: { pool: 'nowhere' } };
        const options = { limits: { pods: 2_000 }, onExit: 'retain-on-failure' } as const;
        await assert.rejects(world.create('kept', options, { headGroup: nowhere }), { kind: 'Timeout' });
        assert.equal(await world.isThere('kept'), true);
      });

      test('a quota that allows no pod is reported with the message of the API server', async () => {
        const hard = { pods: '0' };
        // Set `status`, because no controller of quotas runs here that would set the used amounts.
        await world.ray.cluster.api.apply({
          apiVersion: 'v1',
          kind: 'ResourceQuota',
          metadata: { name: 'none', namespace },
          spec: { hard },
          status: { hard, used: { pods: '0' } },
        });
        await assert.rejects(world.create('poor', { limits: { pods: 4_000 } }), {
          kind: 'Timeout',
          message: /geneva\/poor has no pods yet: .*exceeded quota: none/,
        });
      });

      test('a wait that is given up ends soon, and takes what was made with it', async () => {
        const nowhere = { ...world.profile.headGroup, nodeSelector: { pool: 'nowhere' } };
        const stop = new AbortController();
        const coming = world.create(
          'stopped',
          { signal: stop.signal, onProgress: ({ phase }) => phase === 'pods' && stop.abort() },
          { headGroup: nowhere },
        );
        await assert.rejects(coming, (error: Error) => error.name === 'AbortError' || 'kind' in error);
        assert.equal(await world.isThere('stopped'), false);
      });

      test('one of the same name that is as asked for is adopted, and stays when its owner is done', async () => {
        await using first = await world.create('shared');
        const second = await world.create('shared');
        assert.deepEqual([first.adopted, second.adopted], [false, true]);
        assert.equal(await second.finish({ failed: false }), false);
        assert.equal(await world.isThere('shared'), true);
      });

      for (const [onExit, failed, stays] of [
        ['delete', false, false],
        ['delete', true, false],
        ['retain', false, true],
        ['retain', true, true],
        ['retain-on-failure', false, false],
        ['retain-on-failure', true, true],
      ] as const)
        test(`${onExit}: after a ${failed ? 'failure' : 'success'} the RayCluster ${stays ? 'stays' : 'is removed'}`, async () => {
          const cluster = await world.create('exit', { onExit });
          assert.equal(await cluster.finish({ failed }), !stays);
          assert.equal(await world.isThere('exit'), stays);
        });

      test('a failed check prevents the creation of a RayCluster, unless the user continues', async () => {
        const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: names.operator, namespace } };
        const before = await world.ray.cluster.api.get(deployment);
        assert.ok(before);
        await world.ray.cluster.api.delete(deployment);
        try {
          await assert.rejects(world.create('unchecked', { verify: true }), {
            kind: 'NotReady',
            message: /^Can't create RayCluster "[^"]*": check "operator-running" failed: .*operator/,
          });
          assert.equal(await world.isThere('unchecked'), false);
          const failed: string[] = [];
          const confirm: CreateRayClusterOptions['confirm'] = (report) => {
            failed.push(...report.results.filter(({ status }) => status === 'fail').map(({ id }) => id));
            return Promise.resolve(true);
          };
          await using cluster = await world.create('unchecked', { verify: true, confirm });
          assert.deepEqual([cluster.name, failed], ['unchecked', ['operator-running']]);
        } finally {
          const { spec, status, metadata } = before;
          const { labels = {} } = metadata;
          await world.ray.cluster.api.apply({
            ...deployment,
            metadata: { ...deployment.metadata, labels },
            spec,
            status,
          });
        }
      });

      testRayLink(() => world);
    },
  );
}
