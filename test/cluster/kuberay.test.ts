import assert from 'node:assert/strict';
import { request } from 'node:http';
import { connect } from 'node:net';
import { Client } from 'undici';
import { createRayCluster, type CreateRayClusterOptions } from '#cluster/kuberay/createRayCluster.ts';
import type { OpenRayCluster } from '#cluster/kuberay/openRayCluster.ts';
import { openRayLink } from '#cluster/kuberay/openRayLink.ts';
import { rayClusterSpecOf } from '#cluster/kuberay/rayClusterSpec.ts';
import type { RayProgress } from '#cluster/kuberay/waitForRay.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { RayTarget } from '#cluster/ray/rayTarget.ts';
import { operatorVersions } from '../harness/kuberayNeeds.ts';
import type { KubeObject } from './parts/kubeApi.ts';
import { startForwardTarget } from './parts/forwardTarget.ts';
import { startKubeCluster } from './parts/kubeCluster.ts';
import { startKubeRay, type KubeRay } from './parts/kubeRay.ts';
import { until } from './parts/processes.ts';
import { names } from './parts/sound/names.ts';
import { profileFor } from './parts/soundCluster.ts';
import { RayDashboardStandIn } from './standIns/rayDashboardStandIn.ts';

const { namespace } = names;
const longEnough = 60_000;

const named = (name: string): KubeObject => ({
  apiVersion: 'ray.io/v1',
  kind: 'RayCluster',
  metadata: { name, namespace },
});

for (const version of operatorVersions) {
  suite(
    `KubeRay ${version}: real API server, operator and scheduler; nodes and pods simulated by kwok, Ray by a stand-in`,
    function () {
      this.timeout(90_000);
      let ray: KubeRay;
      let dashboard: RayDashboardStandIn;
      let profile: ClusterProfile;

      suiteSetup(async () => {
        ray = await startKubeRay(await startKubeCluster(), version);
        dashboard = await RayDashboardStandIn.start();
        const alice = profileFor(ray.cluster.kubeconfig('alice'));
        const workerGroups = alice.workerGroups.slice(0, 1).map((group) => ({ ...group, minReplicas: 1 }));
        profile = { ...alice, rayCluster: undefined, workerGroups };
      });

      setup(() => ray.head.leadTo(dashboard.port));
      teardown(() => ray.clear());

      suiteTeardown(async () => {
        await dashboard?.stop();
        await ray?.stop();
        await ray?.cluster.stop();
      });
      const isThere = async (name: string): Promise<boolean> => (await ray.cluster.api.get(named(name))) !== undefined;
      const podsOf = async (name: string): Promise<KubeObject[]> =>
        (await ray.cluster.api.list('v1', 'Pod')).filter(
          ({ metadata }) => metadata.labels?.['ray.io/cluster'] === name,
        );

      const create = (
        name: string,
        options: Partial<CreateRayClusterOptions> = {},
        change: Partial<ClusterProfile> = {},
      ): Promise<OpenRayCluster> => {
        const changed = { ...profile, ...change };
        const common = { signal: AbortSignal.timeout(longEnough), verify: false };
        return createRayCluster(changed, rayClusterSpecOf(changed, { name }), { ...common, ...options });
      };

      test('a RayCluster comes up, is told of on the way, and its Ray answers through the API server', async () => {
        const seen: RayProgress[] = [];
        await using cluster = await create('up', { verify: true, onProgress: (progress) => seen.push(progress) });
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
        await using cluster = await create('sleeper');
        await cluster.suspend(AbortSignal.timeout(longEnough));
        await until('A cluster without pods', async () => (await podsOf('sleeper')).length === 0);
        await using again = await create('sleeper');
        assert.deepEqual([again.adopted, (await podsOf('sleeper')).length], [true, 2]);
      });

      if (version !== operatorVersions[0]) return;

      test('a missing label of nodes is told in the words of the scheduler, and it comes up once the label is there', async () => {
        const wanted = { ...profile.headGroup, nodeSelector: { pool: 'ray' } };
        const seen: RayProgress[] = [];
        const coming = create('picky', { onProgress: (progress) => seen.push(progress) }, { headGroup: wanted });
        await until('The words of the scheduler', async () =>
          seen.some(({ sentence }) =>
            /^geneva\/picky: .*The head is pending: 0\/2 nodes are available: .*didn't match Pod's node affinity\/selector/.test(
              sentence,
            ),
          ),
        );
        const node: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n-head' } };
        await ray.cluster.api.merge(node, { metadata: { labels: { pool: 'ray' } } });
        await using cluster = await coming;
        assert.equal(cluster.rayVersion, '2.43.0');
        await ray.cluster.api.merge(node, { metadata: { labels: { pool: null } } });
      });

      test('who waits no longer is told why it did not come up, and what was made for it is removed', async () => {
        const nowhere = { ...profile.headGroup, nodeSelector: { pool: 'nowhere' } };
        await assert.rejects(create('late', { limits: { pods: 3_000 } }, { headGroup: nowhere }), {
          kind: 'Timeout',
          message:
            /^The RayCluster geneva\/late was not ready after 3 s\. .*didn't match Pod's node affinity\/selector/,
        });
        assert.equal(await isThere('late'), false);
      });

      test('a failure keeps the RayCluster where it is to be retained on failure', async () => {
        const nowhere = { ...profile.headGroup, nodeSelector: { pool: 'nowhere' } };
        const options = { limits: { pods: 2_000 }, onExit: 'retain-on-failure' } as const;
        await assert.rejects(create('kept', options, { headGroup: nowhere }), { kind: 'Timeout' });
        assert.equal(await isThere('kept'), true);
      });

      test('a quota that lets no pod be made is told in the words of the API server', async () => {
        const hard = { pods: '0' };
        // In a cluster its controller counts what is used.
        await ray.cluster.api.apply({
          apiVersion: 'v1',
          kind: 'ResourceQuota',
          metadata: { name: 'none', namespace },
          spec: { hard },
          status: { hard, used: { pods: '0' } },
        });
        await assert.rejects(create('poor', { limits: { pods: 4_000 } }), {
          kind: 'Timeout',
          message: /geneva\/poor has no pods yet: .*exceeded quota: none/,
        });
      });

      test('a wait that is given up ends soon, and takes what was made with it', async () => {
        const nowhere = { ...profile.headGroup, nodeSelector: { pool: 'nowhere' } };
        const stop = new AbortController();
        const coming = create(
          'stopped',
          { signal: stop.signal, onProgress: ({ phase }) => phase === 'pods' && stop.abort() },
          { headGroup: nowhere },
        );
        await assert.rejects(coming, (error: Error) => error.name === 'AbortError' || 'kind' in error);
        assert.equal(await isThere('stopped'), false);
      });

      test('one of the same name that is as asked for is adopted, and stays when its owner is done', async () => {
        await using first = await create('shared');
        const second = await create('shared');
        assert.deepEqual([first.adopted, second.adopted], [false, true]);
        assert.equal(await second.finish({ failed: false }), false);
        assert.equal(await isThere('shared'), true);
      });

      for (const [onExit, failed, stays] of [
        ['delete', true, false],
        ['retain', false, true],
        ['retain-on-failure', false, false],
        ['retain-on-failure', true, true],
      ] as const)
        test(`${onExit}: after a ${failed ? 'failure' : 'success'} the RayCluster ${stays ? 'stays' : 'is removed'}`, async () => {
          const cluster = await create('exit', { onExit });
          assert.equal(await cluster.finish({ failed }), !stays);
          assert.equal(await isThere('exit'), stays);
        });

      test('a check that fails keeps a RayCluster from being made, unless somebody goes on', async () => {
        const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: names.operator, namespace } };
        const before = await ray.cluster.api.get(deployment);
        assert.ok(before);
        await ray.cluster.api.delete(deployment);
        try {
          await assert.rejects(create('unchecked', { verify: true }), {
            kind: 'NotReady',
            message: /^No RayCluster was made, because a check failed: .*operator/,
          });
          assert.equal(await isThere('unchecked'), false);
          const failed: string[] = [];
          const confirm: CreateRayClusterOptions['confirm'] = (report) => {
            failed.push(...report.results.filter(({ status }) => status === 'fail').map(({ id }) => id));
            return Promise.resolve(true);
          };
          await using cluster = await create('unchecked', { verify: true, confirm });
          assert.deepEqual([cluster.name, failed], ['unchecked', ['operator-running']]);
        } finally {
          const { spec, status, metadata } = before;
          const { labels = {} } = metadata;
          await ray.cluster.api.apply({ ...deployment, metadata: { ...deployment.metadata, labels }, spec, status });
        }
      });

      suite('the way to its Ray', () => {
        test('goes on after the connection to the API server was cut in the midst of an answer', async () => {
          const api = await startForwardTarget();
          api.leadTo(Number(new URL(ray.cluster.address).port));
          const kubeconfig = ray.cluster.kubeconfig('alice', ({ clusters }) => {
            Object.assign(clusters[0]?.cluster ?? {}, { server: `https://127.0.0.1:${api.port}` });
          });
          try {
            await using cluster = await create('cut', {}, { auth: { configMethod: 'LOCAL', kubeconfig } });
            const slow = ask(cluster.target, '/slow');
            await until('The beginning of an answer', async () => dashboard.asked.some(({ path }) => path === '/slow'));
            api.cut();
            await assert.rejects(slow);
            assert.equal((await ask(cluster.target, '/api/version')).status, 200);
          } finally {
            await api.stop();
          }
        });

        test('leads to the pod that is the head after it was replaced', async () => {
          await using cluster = await create('replaced');
          const [head] = (await podsOf('replaced')).filter(
            ({ metadata }) => metadata.labels?.['ray.io/node-type'] === 'head',
          );
          assert.ok(head);
          await ray.cluster.api.delete(head);
          ray.head.cut();
          // It waits for the new one.
          assert.equal((await ask(cluster.target, '/api/version')).status, 200);
        });

        test('carries what is sent, however much, both ways', async () => {
          await using cluster = await create('much');
          const sent = 'x'.repeat(3 << 20);
          const { text } = await ask(cluster.target, '/echo', sent);
          assert.equal(text.length, sent.length);
          assert.ok(text === sent);
        });

        test('waits for a head where nobody listens yet, and says so when it takes too long', async () => {
          ray.head.leadTo(undefined);
          await assert.rejects(create('deaf', { limits: { dashboard: 2_000 } }), {
            kind: 'Timeout',
            message: /^The Ray of geneva\/deaf did not answer in 2 s: /,
          });
        });

        test('is refused at once, in a sentence, to who may not forward ports', async () => {
          await using cluster = await create('closed');
          const role = await ray.cluster.api.get({
            apiVersion: 'rbac.authorization.k8s.io/v1',
            kind: 'ClusterRole',
            metadata: { name: names.personRole },
          });
          assert.ok(role);
          const rules = (role['rules'] as { resources: string[] }[]).filter(
            ({ resources }) => !resources.includes('pods/portforward'),
          );
          await ray.cluster.api.replace({ ...role, rules });
          const problems: string[] = [];
          try {
            const onProblem = ({ message }: Error): void => void problems.push(message);
            const signal = AbortSignal.timeout(longEnough);
            await using link = await openRayLink(profile, { rayCluster: cluster.name, signal, onProblem });
            // The API server goes by a cache of roles.
            await until('A refusal', async () => {
              await ask(link.target, '/api/version').catch(() => {});
              return problems.length > 0;
            });
          } finally {
            const { metadata } = role;
            await ray.cluster.api.replace({ ...role, metadata: { name: metadata.name } });
          }
          assert.match(
            problems[0] ?? '',
            /^You may not forward port 8265 of the pod geneva\/closed-head-\w+\. It takes the verbs create and get on pods\/portforward/,
          );
        });

        test('is no more once its owner is done', async () => {
          const cluster = await create('done');
          const { target } = cluster;
          await cluster[Symbol.asyncDispose]();
          await assert.rejects(ask(target, '/api/version'));
          assert.equal(await isThere('done'), true);
        });
      });

      suite('its dashboard in a browser', () => {
        let cluster: OpenRayCluster;
        let address: URL;

        setup(async () => {
          cluster = await create('page');
          address = new URL(await cluster.dashboard());
        });
        teardown(() => cluster[Symbol.asyncDispose]());

        test('opens for who has the key, which is a cookie from then on', async () => {
          const first = await browse(address, `${address.pathname}${address.search}`);
          assert.deepEqual([first.status, first.headers['location']], [303, '/']);
          const [cookie = ''] = first.headers['set-cookie'] ?? [];
          assert.match(cookie, /HttpOnly; SameSite=Strict/);
          const second = await browse(address, '/api/version', { cookie: cookie.split(';')[0] ?? '' });
          assert.equal(second.status, 200);
          const asked = dashboard.asked.at(-1);
          assert.deepEqual([asked?.path, asked?.headers['cookie']], ['/api/version', undefined]);
        });

        test('is closed to who has none, and to pages of other names', async () => {
          const count = dashboard.asked.length;
          assert.equal((await browse(address, '/api/version')).status, 403);
          assert.equal((await browse(address, '/?key=wrong')).status, 403);
          assert.equal(
            (await browse(address, address.pathname + address.search, { host: 'evil.example' })).status,
            421,
          );
          assert.equal(dashboard.asked.length, count);
        });

        test('takes web sockets of who has the key', async () => {
          const key = address.searchParams.get('key') ?? '';
          const open = (cookie: string): Promise<string> => upgrade(Number(address.port), address.host, cookie);
          assert.match(await open(`lance-catalog-ray=${key}`), /^HTTP\/1\.1 101 [\s\S]*hello$/);
          assert.match(await open('lance-catalog-ray=wrong'), /^HTTP\/1\.1 403 /);
        });
      });
    },
  );
}

/** One request to a Ray, as its clients send them. */
async function ask(
  { address, socketPath }: RayTarget,
  path: string,
  body?: string,
): Promise<{ status: number; text: string }> {
  const client = new Client(address, {
    ...(socketPath === undefined ? {} : { socketPath }),
    headersTimeout: longEnough,
  });
  try {
    const reply = await client.request({ method: body === undefined ? 'GET' : 'POST', path, body: body ?? null });
    return { status: reply.statusCode, text: await reply.body.text() };
  } finally {
    await client.destroy();
  }
}

type Browsed = {
  readonly status: number | undefined;
  readonly headers: NodeJS.Dict<string> & { 'set-cookie'?: string[] };
};

/** One request as a browser would send it, under any name of the host. */
const browse = (address: URL, path: string, headers: Record<string, string> = {}): Promise<Browsed> =>
  new Promise((resolve, reject) => {
    const asked = request({ host: address.hostname, port: address.port, path, headers, agent: false }, (answer) => {
      answer
        .resume()
        .once('end', () => resolve({ status: answer.statusCode, headers: answer.headers as Browsed['headers'] }));
    });
    asked.once('error', reject).end();
  });

/** What comes back for a request to become something else than HTTP. */
async function upgrade(port: number, host: string, cookie: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const lines = [
    'GET /ws HTTP/1.1',
    `host: ${host}`,
    'connection: upgrade',
    'upgrade: test',
    `cookie: ${cookie}`,
    '',
    '',
  ];
  socket.write(lines.join('\r\n'));
  let said = '';
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    said += chunk.toString();
    if (said.endsWith('hello')) break;
  }
  return said;
}
