import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRayCluster } from '#cluster/kuberay/createRayCluster.ts';
import { openRayLink } from '#cluster/kuberay/openRayLink.ts';
import { rayClusterSpecOf } from '#cluster/kuberay/rayClusterSpec.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { followRayJob } from '#cluster/ray/followRayJob.ts';
import { RayJobs } from '#cluster/ray/rayJobs.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { temporaryFolder } from '../../../scripts/processes.ts';
import { cliEntry, command, type Ran } from '../../kernel/support.ts';
import { type ForwardTarget, startForwardTarget } from '../parts/forwardTarget.ts';
import { startKubeCluster } from '../parts/kubeCluster.ts';
import { type KubeRay, startKubeRay } from '../parts/kubeRay.ts';
import { until } from '../parts/processes.ts';
import { countedFunction, gateAt, open, rowsCalled } from '../parts/rayRun.ts';
import { allRight, type RayWorld } from '../parts/rayWorld.ts';
import { profileFor } from '../parts/soundCluster.ts';

/** Jobs on a Ray behind a forwarded port of a pod, for the suite of the release that the cluster reports. */
export function testForwardedRay(world: () => RayWorld): void {
  suite(
    'jobs through the forwarded port of a RayCluster: real API server, operator and scheduler, pods simulated by kwok, this Ray beside them',
    () => {
      let ray: KubeRay;
      let api: ForwardTarget;
      let profile: ClusterProfile;

      suiteSetup(async () => {
        ray = await startKubeRay(await startKubeCluster(), '1.3.2');
        api = await startForwardTarget();
        ray.head.leadTo(Number(new URL(world().head.address).port));
        api.leadTo(Number(new URL(ray.cluster.address).port));
        const kubeconfig = ray.cluster.kubeconfig('alice', ({ clusters }) => {
          Object.assign(clusters[0]?.cluster ?? {}, { server: `https://127.0.0.1:${api.port}` });
        });
        const alice = profileFor(kubeconfig);
        profile = { ...alice, rayCluster: 'backfills', workerGroups: alice.workerGroups.slice(0, 1) };
      });

      suiteTeardown(async () => {
        await api?.stop();
        await ray?.stop();
        await ray?.cluster.stop();
      });

      // This signal has no time limit, because a limit would start when the file is loaded, long before the tests run.
      // Mocha's own limit ends a test.
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

      test('a backfill from a terminal by the name of a profile goes on when they are cut, says so, and fills the column', async () => {
        world().renew();
        await world().make();
        const { folder, calls } = world();
        const gate = gateAt(20_000);
        const { code } = countedFunction(calls, { gates: [gate] }) as Extract<ComputedFunction, { kind: 'python' }>;
        writeFileSync(join(folder, 'lengths.py'), code);
        mkdirSync(join(folder, '.vscode'));
        const { kubeconfig } = profile.auth as Extract<ClusterProfile['auth'], { configMethod: 'LOCAL' }>;
        const { namespace, serviceAccount, rayCluster, labelDomain } = profile;
        const prod = { kubeconfig, namespace, serviceAccount, labelDomain, rayCluster, rayVersion: profile.rayVersion };
        const settings = { 'lanceCatalog.cluster.profiles': { prod } };
        writeFileSync(join(folder, '.vscode/settings.json'), JSON.stringify(settings));
        const what = ['texts', 'length', '--file', 'lengths.py#length', '--takes', 'batch'];
        const how = ['--input', 'id,text', '--output', 'int32', '--catalog', folder, '--profile', 'prod', '--json'];
        const env = { XDG_DATA_HOME: temporaryFolder('data-') };
        const ended = command(process.execPath, [cliEntry, 'backfill', ...what, ...how], {
          cwd: folder,
          env,
          seconds: 280,
        });
        let over: Ran | undefined;
        void ended.then((ran) => (over = ran));
        const waiting = { limit: 200_000, giveUp: () => over !== undefined, told: () => JSON.stringify(over) };
        await until('the first half', async () => rowsCalled(calls) >= 20_000, waiting);
        // Cut the connection repeatedly until a request is in progress, because a connection that is renewed between
        // two requests loses nothing.
        await until(
          'a word of it',
          async () => {
            api.cut();
            return jobSentences(env.XDG_DATA_HOME).includes('The job continues there.');
          },
          waiting,
        );
        // Keep the connection cut for three seconds, because the process that follows the job polls only now and then.
        for (const end = Date.now() + 3000; Date.now() < end; await sleep(20)) api.cut();
        open(gate);
        const { code: exitCode, stdout, stderr } = await ended;
        assert.equal(exitCode, 0, stderr);
        assert.match(stdout, /"runner":"ray"/);
        assert.match(stdout, /The job continues there\.|restarted: Ray at/);
        assert.deepEqual(await world().compare(), allRight());
        assert.equal(rowsCalled(calls), 40_000);
      });
    },
  );
}

/** Returns all messages in the records of a user's jobs. */
function jobSentences(state: string): string {
  const files = readdirSync(state, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('events.ndjson'),
  );
  return files.map((name) => readFileSync(join(state, name), 'utf8')).join('');
}
