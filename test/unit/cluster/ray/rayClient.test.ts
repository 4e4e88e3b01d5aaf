import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ClusterError } from '#cluster/errors.ts';
import { RayJobs } from '#cluster/ray/rayJobs.ts';

type Answer = { readonly status?: number; readonly headers?: Record<string, string>; readonly body: string };

/**
 * Stands in for another server at the address of a Ray, and for a Ray older than all that can be installed here. Other
 * tests use a real Ray.
 */
class DashboardStandIn {
  answer: Answer = { body: '' };
  asked: IncomingMessage | undefined;
  readonly #server: Server = createServer((request, response) => {
    this.asked = request;
    const { status = 200, headers = {}, body } = this.answer;
    response.writeHead(status, headers).end(body);
  });

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const refused = (kind: string, message: RegExp) => (error: ClusterError) => {
  assert.equal(error.kind, kind);
  assert.match(error.message, message);
  return true;
};

suite("The client of Ray's jobs", () => {
  const standIn = new DashboardStandIn();
  let address: string;

  suiteSetup(async () => {
    address = await standIn.start();
  });
  suiteTeardown(() => standIn.stop());

  async function version(answer: Answer, path = '', token?: string): Promise<string> {
    standIn.answer = answer;
    const jobs = new RayJobs({ address: address + path, token });
    try {
      return (await jobs.version(AbortSignal.timeout(10_000))).version;
    } finally {
      await jobs.close();
    }
  }

  test('refuses a Ray that is too old, and says which it takes', async () => {
    const answer = { body: '{"ray_version": "2.40.0", "session_name": "s"}' };
    await assert.rejects(
      version(answer),
      refused('TooOld', /is version 2\.40\.0; backfills require 2\.43\.0 or newer/),
    );
  });

  test('takes a page for what it is', async () => {
    const answer = { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Sign in</title>' };
    await assert.rejects(
      version(answer),
      refused('WrongServer', /the reply to GET \/api\/version is a web page \("Sign in"\)/),
    );
  });

  test('follows no redirect', async () => {
    const answer = { status: 302, headers: { location: 'http://127.0.0.1:1/sign-in' }, body: '' };
    await assert.rejects(version(answer), refused('WrongServer', /was redirected \(302\)/));
  });

  test('says so where another server answers', async () => {
    await assert.rejects(
      version({ body: '{"hello": "world"}' }),
      refused('WrongServer', /does not report its version/),
    );
    await assert.rejects(version({ body: 'hello' }), refused('BadReply', /is not a valid response of Ray/));
  });

  test('gives the reason of a traceback and nothing else of it', async () => {
    const body = 'Traceback (most recent call last):\n  File "x.py", line 1\nValueError: The entry point is empty.\n';
    await assert.rejects(
      version({ status: 500, body }),
      (error: ClusterError) =>
        error.what.includes('it says "The entry point is empty."') && !error.what.includes('x.py'),
    );
  });

  test('shows its token in both headers, and stays below the path of the address', async () => {
    const answer = { body: '{"ray_version": "2.60.0", "session_name": "s"}' };
    assert.equal(await version(answer, '/ray/', 'a-token'), '2.60.0');
    assert.equal(standIn.asked?.url, '/ray/api/version');
    assert.equal(standIn.asked?.headers.authorization, 'Bearer a-token');
    assert.equal(standIn.asked?.headers['x-ray-authorization'], 'Bearer a-token');
  });

  test('refuses a value that is not the address of a dashboard, without repeating it', () => {
    assert.throws(() => new RayJobs({ address: 'ray://10.0.0.1:10001' }), { kind: 'ProfileInvalid', hint: /8265/ });
    for (const wrong of ['', 'nonsense', 'http://me:a-secret@ray:8265', 'http://ray:8265/?key=a-secret'])
      assert.throws(
        () => new RayJobs({ address: wrong }),
        (error: ClusterError) => error.kind === 'ProfileInvalid' && !error.message.includes('a-secret'),
      );
  });

  test('reports an address without a listener', async () => {
    const free = new DashboardStandIn();
    const gone = await free.start();
    await free.stop();
    const jobs = new RayJobs({ address: gone });
    try {
      await assert.rejects(
        jobs.list(AbortSignal.timeout(10_000)),
        refused('Unreachable', /no server listens there .*Check that Ray is running/),
      );
    } finally {
      await jobs.close();
    }
  });
});
