import assert from 'node:assert/strict';
import { request } from 'node:http';
import { connect } from 'node:net';
import { Client } from 'undici';
import type { OpenRayCluster } from '#cluster/kuberay/openRayCluster.ts';
import { openRayLink } from '#cluster/kuberay/openRayLink.ts';
import type { RayTarget } from '#cluster/ray/rayRequest.ts';
import { startForwardTarget } from '../parts/forwardTarget.ts';
import { type KubeRayWorld, longEnough } from '../parts/kubeRayWorld.ts';
import { until } from '../parts/processes.ts';
import { names } from '../parts/sound/names.ts';

/** Defines the tests of the connection to a Ray on Kubernetes, for the suite of its cluster. */
export function testRayLink(world: () => KubeRayWorld): void {
  suite('the way to its Ray', () => {
    test('goes on after the connection to the API server was cut in the midst of an answer', async () => {
      const api = await startForwardTarget();
      api.leadTo(Number(new URL(world().ray.cluster.address).port));
      const kubeconfig = world().ray.cluster.kubeconfig('alice', ({ clusters }) => {
        Object.assign(clusters[0]?.cluster ?? {}, { server: `https://127.0.0.1:${api.port}` });
      });
      try {
        await using cluster = await world().create('cut', {}, { auth: { configMethod: 'LOCAL', kubeconfig } });
        const slow = ask(cluster.target, '/slow');
        await until('The beginning of an answer', async () =>
          world().dashboard.asked.some(({ path }) => path === '/slow'),
        );
        api.cut();
        await assert.rejects(slow);
        assert.equal((await ask(cluster.target, '/api/version')).status, 200);
      } finally {
        await api.stop();
      }
    });

    test('leads to the pod that is the head after it was replaced', async () => {
      await using cluster = await world().create('replaced');
      const [head] = (await world().podsOf('replaced')).filter(
        ({ metadata }) => metadata.labels?.['ray.io/node-type'] === 'head',
      );
      assert.ok(head);
      await world().ray.cluster.api.delete(head);
      world().ray.head.cut();
      // The request waits for the new connection.
      assert.equal((await ask(cluster.target, '/api/version')).status, 200);
    });

    test('carries what is sent, however much, both ways', async () => {
      await using cluster = await world().create('much');
      const sent = 'x'.repeat(3 << 20);
      const { text } = await ask(cluster.target, '/echo', sent);
      assert.equal(text.length, sent.length);
      assert.ok(text === sent);
    });

    test('waits for a head that does not listen yet, and reports it at the time limit', async () => {
      world().ray.head.leadTo(undefined);
      await assert.rejects(world().create('deaf', { limits: { dashboard: 2_000 } }), {
        kind: 'Timeout',
        message: /^Ray on RayCluster "geneva\/deaf" did not respond within 2 s: /,
      });
    });

    test('is refused at once, in a sentence, to who may not forward ports', async () => {
      await using cluster = await world().create('closed');
      const role = await world().ray.cluster.api.get({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: names.personRole },
      });
      assert.ok(role);
      const rules = (role['rules'] as { resources: string[] }[]).filter(
        ({ resources }) => !resources.includes('pods/portforward'),
      );
      await world().ray.cluster.api.replace({ ...role, rules });
      const problems: string[] = [];
      try {
        const onProblem = ({ message }: Error): void => void problems.push(message);
        const signal = AbortSignal.timeout(longEnough);
        await using link = await openRayLink(world().profile, { rayCluster: cluster.name, signal, onProblem });
        // The API server caches roles, so the refusal may take a moment.
        await until('A refusal', async () => {
          await ask(link.target, '/api/version').catch(() => {});
          return problems.length > 0;
        });
      } finally {
        const { metadata } = role;
        await world().ray.cluster.api.replace({ ...role, metadata: { name: metadata.name } });
      }
      assert.match(
        problems[0] ?? '',
        /^Can't forward port 8265 of the pod geneva\/closed-head-\w+: permission denied\. Ask an administrator for the verbs create and get on pods\/portforward/,
      );
    });

    test('is closed when its owner ends', async () => {
      const cluster = await world().create('done');
      const { target } = cluster;
      await cluster[Symbol.asyncDispose]();
      await assert.rejects(ask(target, '/api/version'));
      assert.equal(await world().isThere('done'), true);
    });
  });

  suite('its dashboard in a browser', () => {
    let cluster: OpenRayCluster;
    let address: URL;

    setup(async () => {
      cluster = await world().create('page');
      address = new URL(await cluster.dashboard());
    });
    teardown(() => cluster[Symbol.asyncDispose]());

    test('opens for who has the key in the path, and gives Ray no cookie of other ports', async () => {
      const reply = await browse(address, `${address.pathname}api/version`, { cookie: 'of=another' });
      assert.deepEqual([reply.status, reply.headers['set-cookie']], [200, undefined]);
      const asked = world().dashboard.asked.at(-1);
      assert.deepEqual([asked?.path, asked?.headers['cookie']], ['/api/version', undefined]);
    });

    test('is closed to who has none, and to pages of other names and origins', async () => {
      const count = world().dashboard.asked.length;
      assert.equal((await browse(address, '/api/version')).status, 403);
      assert.equal((await browse(address, '/wrong/api/version')).status, 403);
      assert.equal((await browse(address, address.pathname, { host: 'evil.example' })).status, 421);
      assert.equal((await browse(address, address.pathname, { origin: 'http://evil.example' })).status, 403);
      assert.equal(world().dashboard.asked.length, count);
    });

    test('takes web sockets of who has the key', async () => {
      assert.match(await upgrade(address, `${address.pathname}ws`), /^HTTP\/1\.1 101 [\s\S]*hello$/);
      assert.match(await upgrade(address, '/wrong/ws'), /^HTTP\/1\.1 403 /);
      assert.match(await upgrade(address, `${address.pathname}ws`, 'http://evil.example'), /^HTTP\/1\.1 403 /);
    });
  });
}

/** Sends a request to a Ray as its clients do. */
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

/** Sends a request as a browser does, with any host name. */
const browse = (address: URL, path: string, headers: Record<string, string> = {}): Promise<Browsed> =>
  new Promise((resolve, reject) => {
    const asked = request({ host: address.hostname, port: address.port, path, headers, agent: false }, (answer) => {
      answer
        .resume()
        .once('end', () => resolve({ status: answer.statusCode, headers: answer.headers as Browsed['headers'] }));
    });
    asked.once('error', reject).end();
  });

/** Returns the response to a request for a protocol upgrade. */
async function upgrade({ port, host, origin: own }: URL, path: string, origin = own): Promise<string> {
  const socket = connect(Number(port), '127.0.0.1');
  const lines = [
    `GET ${path} HTTP/1.1`,
    `host: ${host}`,
    'connection: upgrade',
    'upgrade: test',
    `origin: ${origin}`,
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
