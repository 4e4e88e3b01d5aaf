import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createRayCluster } from '#cluster/kuberay/createRayCluster.ts';
import { openRayLink } from '#cluster/kuberay/openRayLink.ts';
import { rayClusterSpecOf } from '#cluster/kuberay/rayClusterSpec.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { followRayJob } from '#cluster/ray/followRayJob.ts';
import { RayJobs } from '#cluster/ray/rayJobs.ts';
import { startForwardTarget, type ForwardTarget } from './parts/forwardTarget.ts';
import { startKubeCluster } from './parts/kubeCluster.ts';
import { startKubeRay, type KubeRay } from './parts/kubeRay.ts';
import { RayHead } from './parts/rayHead.ts';
import { profileFor } from './parts/soundCluster.ts';

suite(
  'A job through the forwarded port of a RayCluster: real API server, operator and scheduler, pods simulated by kwok, Ray 2.43.0 a real one beside them',
  function () {
    this.timeout(240_000);
    let ray: KubeRay;
    let head: RayHead;
    let api: ForwardTarget;
    let profile: ClusterProfile;

    suiteSetup(async () => {
      [ray, head, api] = await Promise.all([
        startKubeCluster().then((cluster) => startKubeRay(cluster, '1.3.2')),
        RayHead.start('2.43.0'),
        startForwardTarget(),
      ]);
      ray.head.leadTo(Number(new URL(head.address).port));
      api.leadTo(Number(new URL(ray.cluster.address).port));
      const kubeconfig = ray.cluster.kubeconfig('alice', ({ clusters }) => {
        Object.assign(clusters[0]?.cluster ?? {}, { server: `https://127.0.0.1:${api.port}` });
      });
      const alice = profileFor(kubeconfig);
      profile = { ...alice, rayCluster: 'backfills', workerGroups: alice.workerGroups.slice(0, 1) };
    });

    suiteTeardown(async () => {
      await head?.stop();
      await api?.stop();
      await ray?.stop();
      await ray?.cluster.stop();
    });

    // Mocha's own limit ends a test; files are read long before their turn.
    const { signal } = new AbortController();

    async function run(jobs: RayJobs, code: string, onText: (text: string) => void = () => {}): Promise<string> {
      const submissionId = `test-${randomUUID().slice(0, 8)}`;
      await jobs.submit({ submissionId, entrypoint: `python -u -c '${code}'`, runtime: {}, metadata: {} }, signal);
      let said = '';
      const follow = {
        submissionId,
        known: 0,
        onText: (text: string): void => {
          said += text;
          onText(said);
        },
        onJob: () => {},
        onReturn: () => {},
        patience: 60_000,
      };
      const { state } = await followRayJob(jobs, follow, signal);
      assert.equal(state, 'SUCCEEDED');
      return said;
    }

    test('succeeds on a RayCluster that was made for it, and its log comes back', async () => {
      const spec = rayClusterSpecOf(profile);
      await using cluster = await createRayCluster(profile, spec, { signal, onExit: 'retain' });
      assert.equal(cluster.rayVersion, '2.43.0');
      const jobs = new RayJobs(cluster.target);
      try {
        assert.match(await run(jobs, 'print(6*7)'), /^42$/m);
      } finally {
        await jobs.close();
      }
    });

    test('goes on, and is followed to its end, when the connection to the API server is cut on the way', async () => {
      await using link = await openRayLink(profile, { signal });
      const jobs = new RayJobs(link.target);
      let cuts = 0;
      try {
        const said = await run(
          jobs,
          'import time\nprint("begun")\nfor i in range(4): time.sleep(0.5); print("step", i)',
          (text) => {
            if (cuts > 0 || !text.includes('begun')) return;
            cuts++;
            api.cut();
          },
        );
        assert.equal(cuts, 1);
        assert.deepEqual(said.match(/^(?:begun|step \d)$/gm), ['begun', 'step 0', 'step 1', 'step 2', 'step 3']);
      } finally {
        await jobs.close();
      }
    });
  },
);
