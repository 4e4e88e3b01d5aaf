import assert from 'node:assert/strict';
import { createServer as createHttp, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcp } from 'node:net';
import { inspect } from 'node:util';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { fixed, renewing } from '#cluster/kube/credential.ts';
import { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import { KubeReads } from '#cluster/kube/kubeReads.ts';
import { readProfile } from '#cluster/profiles/profileReader.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { connectBy, kubeconfigText, written } from '../kubeconfigs.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const { signal } = new AbortController();
const token = 'planted-token-of-somebody';

const json =
  (status: number, body: unknown): Answer =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };

const html =
  (status: number): Answer =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end('<!DOCTYPE html><html><head><title>Sign in\n to Example</title></head></html>');
  };

const refusal = (reason: string, message: string) => ({ kind: 'Status', apiVersion: 'v1', reason, message });

function readsOf(server: string): KubeReads {
  const kubeconfig = written(kubeconfigText({ server, user: { token } }));
  return new KubeReads(readProfile('test', { kubeconfig }), new SecretRedactor(), signal);
}

suite('A request to an API server', function () {
  this.timeout(20_000);
  // Real HTTP on loopback, with responses observed from servers, proxies and web sites.
  let answer: Answer;
  let server: Server;
  let address: string;
  const opened: KubeConnection[] = [];
  suiteSetup(async () => {
    server = createHttp((request, response) => answer(request, response));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  teardown(() => Promise.all(opened.splice(0).map((one) => one.close())));
  suiteTeardown(() => {
    server.closeAllConnections();
    server.close();
  });

  function open(target = address): KubeConnection {
    const connection = new KubeConnection({
      target: { server: target, skipTlsVerify: false },
      credential: fixed({ token }),
      source: 'a test',
      signIn: 'the token of a test',
    });
    opened.push(connection);
    return connection;
  }

  async function failure(how: Answer, target?: string): Promise<ClusterError> {
    answer = how;
    try {
      await open(target).request({ method: 'GET', path: '/version?x=1' }, signal);
    } catch (error) {
      if (!isClusterError(error)) throw error;
      assert.ok(!error.message.includes(token));
      return error;
    }
    throw new assert.AssertionError({ message: 'It was answered.' });
  }

  test('names a proxy that gives no response, without its password', async () => {
    const kubeconfig = kubeconfigText({
      server: 'https://cluster.invalid',
      cluster: { 'proxy-url': 'http://me:planted@127.0.0.1:1' },
    });
    const connection = await connectBy(written(kubeconfig));
    opened.push(connection);
    await assert.rejects(connection.request({ method: 'GET', path: '/version' }, signal), (error: Error) => {
      assert.match(error.message, /^The API server https:\/\/cluster\.invalid, through the proxy 127\.0\.0\.1:1: /);
      assert.match(error.message, /Check the proxy: HTTPS_PROXY and NO_PROXY, or proxy-url in the kubeconfig\./);
      assert.ok(!error.message.includes('planted'));
      return true;
    });
  });

  test('gives what JSON says, other text as it is, and the headers', async () => {
    answer = json(200, { gitVersion: 'v1.30.0' });
    const { body, headers } = await open().request({ method: 'GET', path: '/version' }, signal);
    assert.deepEqual([body, headers['content-type']], [{ gitVersion: 'v1.30.0' }, 'application/json']);
    answer = (_, response) => response.end('ok');
    assert.equal((await open().request({ method: 'GET', path: '/readyz' }, signal)).body, 'ok');
  });

  test('says who asks, for whom, and what kind of body it has', async () => {
    let seen: IncomingMessage | undefined;
    answer = (request, response) => {
      seen = request;
      json(200, {})(request, response);
    };
    const contentType = 'application/apply-patch+yaml';
    const as = { user: 'alice', groups: ['devs', 'ops'] };
    await open(`${address}/k8s/clusters/c-1`).request(
      { method: 'PATCH', path: '/api/v1/namespaces/a?dryRun=All', body: { a: 1 }, contentType, as },
      signal,
    );
    assert.equal(`${seen?.method} ${seen?.url}`, 'PATCH /k8s/clusters/c-1/api/v1/namespaces/a?dryRun=All');
    const { authorization, 'impersonate-user': user, 'content-type': type } = seen?.headers ?? {};
    assert.deepEqual([authorization, user, type], [`Bearer ${token}`, 'alice', contentType]);
    assert.deepEqual(seen?.headersDistinct['impersonate-group'], ['devs', 'ops']);
  });

  const replies: readonly (readonly [name: string, answer: Answer, kind: string, what: RegExp])[] = [
    [
      'forbidden',
      json(403, refusal('Forbidden', 'nodes is forbidden: User "a" cannot list')),
      'Forbidden',
      /^GET \/version\?x=1: nodes is forbidden: User "a" cannot list\.$/,
    ],
    [
      'asked by nobody',
      json(403, refusal('Forbidden', 'User "system:anonymous" cannot get path')),
      'CredentialsMissing',
      /treats GET \/version\?x=1 as anonymous/,
    ],
    [
      'not there',
      json(404, refusal('NotFound', 'namespaces "x" not found')),
      'NotFound',
      /: namespaces "x" not found\.$/,
    ],
    [
      'not served',
      (_, response) => response.writeHead(404).end('404 page not found\n'),
      'NotFound',
      /the server does not serve this path/,
    ],
    ['in conflict', json(409, refusal('Conflict', 'the object has been modified')), 'Conflict', /has been modified/],
    ['not valid', json(422, refusal('Invalid', 'spec.x: Required value')), 'InvalidRequest', /spec\.x: Required value/],
    ['too much', json(429, refusal('TooManyRequests', '')), 'Throttled', /the server has too many requests/],
    [
      'too much for the server',
      json(500, refusal('InternalError', 'etcdserver: leader changed')),
      'Unavailable',
      /leader changed/,
    ],
    [
      'sent to a gateway without a server',
      (_, response) => response.writeHead(503).end('no healthy upstream'),
      'Unavailable',
      /failed with status 503/,
    ],
    ['answered by a page', html(200), 'WrongServer', /is a web page \("Sign in to Example"\)/],
    ['refused by a page', html(401), 'WrongServer', /is a web page/],
    [
      'sent elsewhere',
      (_, response) => response.writeHead(302, { location: 'https://login.example.com/?secret=planted' }).end(),
      'WrongServer',
      /was redirected to login\.example\.com\. A Kubernetes API server does not redirect/,
    ],
    [
      'answered with half a reply',
      (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":'),
      'BadReply',
      /Can't parse the reply/,
    ],
    [
      'cut',
      (_, response) => response.destroy(),
      'Unreachable',
      /The API server http:\/\/127\.0\.0\.1:\d+: the connection was closed unexpectedly/,
    ],
    [
      'refused',
      json(401, refusal('Unauthorized', 'Unauthorized')),
      'CredentialsRefused',
      /^The API server does not accept the token of a test\.$/,
    ],
  ];
  for (const [name, how, kind, what] of replies)
    test(`that is ${name} fails in a sentence of its own`, async () => {
      const error = await failure(how);
      assert.equal(error.kind, kind);
      assert.match(error.what, what);
      assert.ok(error.hint.length > 0);
      assert.ok(!error.message.includes('planted'));
    });

  test('that is refused is sent once more with a new credential, and then is an error', async () => {
    const seen: (string | undefined)[] = [];
    let good = 'Bearer b';
    answer = (request, response) => {
      seen.push(request.headers.authorization);
      const isGood = request.headers.authorization === good;
      json(isGood ? 200 : 401, isGood ? {} : refusal('Unauthorized', 'Unauthorized'))(request, response);
    };
    const tokens = ['a', 'b', 'c'];
    const connection = new KubeConnection({
      target: { server: address, skipTlsVerify: false },
      credential: renewing(() => Promise.resolve({ token: tokens.shift() })),
      source: 'a test',
      signIn: 'the token of a test',
    });
    opened.push(connection);
    assert.equal((await connection.request({ method: 'GET', path: '/version' }, signal)).status, 200);
    assert.deepEqual(seen.splice(0), ['Bearer a', 'Bearer b']);
    good = 'none';
    await assert.rejects(connection.request({ method: 'GET', path: '/version' }, signal), {
      kind: 'CredentialsRefused',
    });
    assert.deepEqual(seen, ['Bearer b']);
  });

  test('to an address without a listener reports this', async () => {
    const free = createTcp();
    await new Promise<void>((resolve) => {
      free.listen(0, '127.0.0.1', resolve);
    });
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const error = await failure(json(200, {}), `http://127.0.0.1:${port}`);
    assert.equal(error.kind, 'Unreachable');
    assert.match(error.message, /no server listens there \(ECONNREFUSED\)\. Check that the cluster is running/);
    assert.equal(error.isTransient, true);
  });

  test('to a name that is not known says so', async () => {
    const error = await failure(json(200, {}), 'https://no-such-host.invalid');
    assert.equal(error.kind, 'Unreachable');
    assert.match(error.what, /its host name (?:does not exist|can't be resolved)/);
  });

  test('by TLS to what does not speak it says so', async () => {
    const error = await failure(json(200, {}), address.replace('http:', 'https:'));
    assert.equal(error.kind, 'WrongServer');
    assert.match(error.what, /does not use TLS/);
  });

  test('ends with its signal, and when the connection is closed', async () => {
    answer = () => {};
    const connection = open();
    const controller = new AbortController();
    const stopped = connection.request({ method: 'GET', path: '/version' }, controller.signal);
    const cut = connection.request({ method: 'GET', path: '/version' }, signal);
    controller.abort();
    await assert.rejects(stopped, { kind: 'Aborted', what: 'GET /version was canceled.' });
    await Promise.all([connection.close(), assert.rejects(cut, { kind: 'Unreachable' })]);
  });

  test('tells how the clocks differ, by a refusal too', async () => {
    answer = (request, response) => {
      response.setHeader('date', new Date(Date.now() - 3_600_000).toUTCString());
      json(401, refusal('Unauthorized', 'Unauthorized'))(request, response);
    };
    const connection = open();
    await assert.rejects(connection.request({ method: 'GET', path: '/version' }, signal));
    const { ours = 0, theirs = 0 } = connection.clock ?? {};
    assert.equal(Math.round((ours - theirs) / 60_000), 60);
  });

  suite('about the identity of the user', () => {
    const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

    test('asks something else of a server too old to say', async () => {
      answer = (request, response) =>
        request.url === review
          ? json(404, refusal('NotFound', 'not found'))(request, response)
          : json(201, { status: { allowed: true } })(request, response);
      const kube = readsOf(address);
      const { username, evidence } = await kube.whoami();
      await kube.close();
      assert.deepEqual([username, evidence.asked], ['', 'SelfSubjectAccessReview']);
    });

    test('takes the name out of a refusal', async () => {
      answer = json(403, refusal('Forbidden', 'selfsubjectreviews is forbidden: User "bob" cannot create'));
      const kube = readsOf(address);
      assert.equal((await kube.whoami()).username, 'bob');
      await kube.close();
    });

    test('does not accept the anonymous user', async () => {
      answer = json(201, { status: { userInfo: { username: 'system:anonymous' } } });
      const kube = readsOf(address);
      await assert.rejects(kube.whoami(), { kind: 'CredentialsMissing' });
      await kube.close();
    });
  });
});

suite('An error of a cluster', () => {
  test('is printed without the mark that our programs tell it by', () => {
    const error = new ClusterError('NotFound', 'There is no profile.', 'Write one.');
    assert.ok(isClusterError(error));
    assert.ok(!inspect(error).includes('Symbol('), inspect(error));
  });
});
