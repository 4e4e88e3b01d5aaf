import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { type DashboardLimits, DashboardProxy } from '#cluster/kuberay/dashboardProxy.ts';
import type { RayTarget } from '#cluster/ray/rayRequest.ts';
import { makeCertificate } from '../../../contract/serve/certificate.ts';
import { tempFolder } from '../../../harness/temp.ts';

type Reply = { readonly status: number | undefined; readonly headers: IncomingHttpHeaders; readonly text: string };
type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const token = 'planted-token-of-ray';

/** Returns the bytes of a response with any status. */
const replyBytes = (line: string, ...headers: readonly string[]): string =>
  [`HTTP/1.1 ${line}`, ...headers, 'connection: close', '', 'body'].join('\r\n');

suite('The dashboard of a Ray on loopback', function () {
  this.timeout(20_000);
  const closing: (() => unknown)[] = [];
  teardown(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  async function listen(server: Server): Promise<number> {
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  async function open(target: RayTarget, limits?: Partial<DashboardLimits>): Promise<DashboardProxy> {
    const proxy = await DashboardProxy.open(target, limits);
    closing.push(() => proxy[Symbol.asyncDispose]());
    return proxy;
  }

  /** Opens the proxy of a Ray that responds by HTTP. */
  async function openHttp(handler: Handler, path = ''): Promise<URL> {
    const port = await listen(createServer(handler));
    return new URL((await open({ address: `http://127.0.0.1:${port}${path}`, token })).address);
  }

  /** Opens the proxy of a Ray that responds to each request with these bytes and closes the connection. */
  async function openRaw(bytes: string, received: string[] = []): Promise<URL> {
    const port = await listen(
      createTcpServer((socket) => {
        socket.once('data', (data) => {
          received.push(data.toString());
          socket.end(bytes);
        });
      }),
    );
    return new URL((await open({ address: `http://127.0.0.1:${port}`, token })).address);
  }

  suite('sends the token of Ray', () => {
    test('by TLS alone to an https:// address, after a check of the certificate', async () => {
      const files = makeCertificate(tempFolder(), 'ray');
      const [cert, key] = [readFileSync(files.cert, 'utf8'), readFileSync(files.key, 'utf8')];
      const seen: (string | undefined)[] = [];
      const server = createSecureServer({ cert, key }, ({ headers }, response) => {
        seen.push(headers.authorization);
        response.end('of https');
      });
      server.on('upgrade', ({ headers }, socket) => {
        seen.push(headers.authorization);
        socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: test\r\n\r\nhello');
      });
      const port = await listen(server);
      const url = new URL((await open({ address: `https://127.0.0.1:${port}`, token })).address);
      const refused = await get(url);
      assert.equal(refused.status, 502);
      assert.match(refused.text, /^Can't load the dashboard from Ray: DEPTH_ZERO_SELF_SIGNED_CERT\.\n$/);
      assert.deepEqual(seen, []);
      const trusted = getCACertificates('default');
      setDefaultCACertificates([...trusted, cert]);
      try {
        const reply = await get(url);
        assert.deepEqual([reply.status, reply.text], [200, 'of https']);
        assert.match(await upgrade(url), /^HTTP\/1\.1 101 [\s\S]*hello$/);
      } finally {
        setDefaultCACertificates(trusted);
      }
      assert.deepEqual(seen, [`Bearer ${token}`, `Bearer ${token}`]);
    });

    test('never in clear where an https:// address has no TLS', async () => {
      let seen = '';
      const port = await listen(
        createTcpServer((socket) => socket.on('data', (data) => (seen += data.toString('latin1')))),
      );
      const url = new URL((await open({ address: `https://127.0.0.1:${port}`, token }, { idleMs: 500 })).address);
      assert.equal((await get(url)).status, 502);
      assert.match(await upgrade(url), /^HTTP\/1\.1 502 /);
      assert.ok(seen.length > 0);
      assert.doesNotMatch(seen, /planted|HTTP/);
    });
  });

  suite('is open to the key of its URL alone', () => {
    let asked: IncomingMessage[];
    let url: URL;
    setup(async () => {
      asked = [];
      url = await openHttp((incoming, response) => {
        asked.push(incoming);
        incoming.pipe(response);
      }, '/ray');
    });

    test('which neither a cookie nor Ray gets to know', async () => {
      const headers = { cookie: 'of=another', referer: url.href, origin: url.origin };
      const reply = await get(new URL('api/version?a=1', url), { headers });
      assert.equal(reply.status, 200);
      assert.equal(reply.headers['set-cookie'], undefined);
      assert.equal(reply.headers['referrer-policy'], 'same-origin');
      assert.equal(asked[0]?.url, '/ray/api/version?a=1');
      assert.ok(!JSON.stringify(asked[0]?.rawHeaders).includes(url.pathname.slice(1, -1)));
      assert.deepEqual([asked[0]?.headers.cookie, asked[0]?.headers.authorization], [undefined, `Bearer ${token}`]);
    });

    test('without which, at another host, or for a page of another origin, nothing reaches Ray', async () => {
      const wrong = new URL(`/${'A'.repeat(url.pathname.length - 2)}/`, url);
      const key = url.pathname.slice(1, -1);
      const refusals = [
        await get(new URL('/api/version', url)),
        await get(wrong),
        await get(new URL('/', url), { headers: { cookie: `lance-catalog-ray=${key}` } }),
        await get(new URL(`/?key=${key}`, url)),
        await get(url, { headers: { host: 'evil.example' } }),
        await get(url, { headers: { host: `evil.example:${url.port}` } }),
        ...(await Promise.all(
          ['http://evil.example', 'http://127.0.0.1:1', 'null', `https://127.0.0.1:${url.port}`].map((origin) =>
            get(url, { headers: { origin } }),
          ),
        )),
      ];
      assert.deepEqual(
        refusals.map(({ status }) => status),
        [403, 403, 403, 403, 421, 421, 403, 403, 403, 403],
      );
      for (const refusal of [
        await upgrade(wrong),
        await upgrade(url, ['origin: http://evil.example']),
        await upgrade(url, ['origin: null']),
      ])
        assert.match(refusal, /^HTTP\/1\.1 403 [\s\S]*\r\n\r\n.+\n$/);
      assert.equal(asked.length, 0);
    });

    test('and takes a URL without its last slash to the page', async () => {
      const reply = await get(new URL(`${url.pathname.slice(0, -1)}?theme=dark`, url));
      assert.deepEqual([reply.status, reply.headers.location], [307, `${url.pathname}?theme=dark`]);
    });

    test('which expires when it is not used, and is replaced', async () => {
      const port = await listen(createServer((_, response) => response.end('ok')));
      const proxy = await open({ address: `http://127.0.0.1:${port}` }, { keyIdleMs: 500 });
      const first = new URL(proxy.address);
      for (let count = 0; count < 5; count++) {
        assert.equal((await get(first)).text, 'ok');
        await new Promise((resolve) => setTimeout(resolve, 150));
      }
      await new Promise((resolve) => setTimeout(resolve, 600));
      assert.equal((await get(first)).text, 'Open the dashboard from the editor or the notebook again.\n');
      const second = new URL(proxy.address);
      assert.notEqual(second.href, first.href);
      assert.deepEqual([(await get(first)).status, (await get(second)).status], [403, 200]);
    });

    test('with bodies both ways, also of a DELETE in chunks', async () => {
      const body = 'x'.repeat(300_000);
      for (const method of ['POST', 'DELETE']) {
        const reply = await get(url, { method, headers: { 'transfer-encoding': 'chunked' } }, body);
        assert.equal(reply.text, body, method);
      }
    });
  });

  suite('outlives the reply of Ray', () => {
    const invalid: Readonly<Record<string, string>> = {
      'status 000': replyBytes('000 None', 'content-length: 4'),
      'status 001': replyBytes('001 None', 'content-length: 4'),
      'status 099': replyBytes('099 None', 'content-length: 4'),
      'status 101 that nobody asked for': replyBytes('101 Switching Protocols', 'content-length: 4'),
      'status 101 with an upgrade that nobody asked for': 'HTTP/1.1 101 S\r\nconnection: upgrade\r\nupgrade: a\r\n\r\n',
      'status 600': replyBytes('600 None', 'content-length: 4'),
      'status 999': replyBytes('999 None', 'content-length: 4'),
      'something else than HTTP': 'SSH-2.0-OpenSSH\r\n',
      nothing: '',
    };
    for (const [name, bytes] of Object.entries(invalid)) {
      test(`with ${name}: a page of one sentence`, async () => {
        const reply = await get(await openRaw(bytes));
        assert.equal(reply.status, 502);
        assert.match(reply.text, /^Can't load the dashboard from Ray: [^.]+\.\n$/);
      });

      test(`with ${name} to a web socket: a page of one sentence`, async () => {
        // Skip this case, because it accepts the web socket.
        if (bytes.includes('upgrade: a')) return;
        assert.match(await upgrade(await openRaw(bytes)), /^HTTP\/1\.1 502 [\s\S]*\r\n\r\nCan't load [^.]+\.\n$/);
      });
    }

    test('with a trailer, cookies and headers of its connection, which do not get through', async () => {
      const headers = [
        'trailer: expires',
        'transfer-encoding: chunked',
        'keep-alive: timeout=5',
        'x-own: 1',
        'connection: x-own',
        'proxy-authenticate: Basic',
        'set-cookie: ray=1; Path=/',
        'clear-site-data: "cookies"',
        'access-control-allow-origin: *',
        'x-kept: 1',
      ];
      const reply = await get(
        await openRaw(`HTTP/1.1 200 OK\r\n${headers.join('\r\n')}\r\n\r\n4\r\nbody\r\n0\r\nexpires: 0\r\n\r\n`),
      );
      assert.deepEqual([reply.status, reply.text, reply.headers['x-kept']], [200, 'body', '1']);
      const { connection, 'transfer-encoding': encoding, ...others } = reply.headers;
      // The proxy sets these headers for its own connection.
      assert.deepEqual([connection, encoding], ['close', 'chunked']);
      assert.deepEqual(Object.keys(others).toSorted(), ['date', 'referrer-policy', 'x-kept']);
    });

    test('with a trailer and a length', async () => {
      const reply = await get(await openRaw('HTTP/1.1 200 OK\r\ntrailer: a\r\ncontent-length: 4\r\n\r\nbody'));
      assert.deepEqual([reply.status, reply.text], [200, 'body']);
    });

    test('that ends early, by ending its own early', async () => {
      const url = await openRaw('HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\nbody');
      await assert.rejects(get(url), /aborted|ECONNRESET|hang up/);
    });

    test('that never comes', async () => {
      const port = await listen(createTcpServer(() => {}));
      const url = new URL((await open({ address: `http://127.0.0.1:${port}` }, { idleMs: 200 })).address);
      const reply = await get(url);
      assert.deepEqual([reply.status, reply.text], [502, "Can't load the dashboard from Ray: it sends nothing.\n"]);
    });

    test('that leads elsewhere at Ray, by leading there through this address', async () => {
      let location = '';
      const url = await openHttp((_, response) => response.writeHead(302, { location }).end(), '/ray');
      const results = [];
      for (location of ['/ray/jobs?a=1#b', '/jobs', 'next', 'https://login.example.com/', '//login.example.com/'])
        results.push((await get(url)).headers.location?.replace(url.pathname, '/KEY/'));
      assert.deepEqual(results, [
        '/KEY/jobs?a=1#b',
        '/KEY/jobs',
        'next',
        'https://login.example.com/',
        '//login.example.com/',
      ]);
    });
  });

  suite('opens web sockets', () => {
    test('in both directions, with what was sent along with the request and the reply', async () => {
      const seen: string[] = [];
      const server = createServer();
      server.on('upgrade', (incoming, socket, head) => {
        seen.push(`${incoming.headers.upgrade} ${incoming.headers.authorization} ${incoming.headers.cookie}`);
        socket.write(
          'HTTP/1.1 101 S\r\nset-cookie: a=b\r\nconnection: upgrade\r\nupgrade: test\r\nx-a: 1\r\n\r\nhello ',
        );
        socket.write(head);
        socket.on('data', (data) => socket.write(data));
      });
      const port = await listen(server);
      const url = new URL((await open({ address: `http://127.0.0.1:${port}`, token })).address);
      const text = await upgrade(url, ['cookie: a=b', `origin: ${url.origin}`], 'early', /early$/);
      assert.match(text, /^HTTP\/1\.1 101 [\s\S]*x-a: 1\r\n[\s\S]*\r\n\r\nhello early$/);
      assert.doesNotMatch(text, /set-cookie/);
      assert.deepEqual(seen, [`test Bearer ${token} undefined`]);
    });

    test('and passes on a refusal of Ray, with its body', async () => {
      const bytes = 'HTTP/1.1 404 Not Found\r\ncontent-length: 5\r\nset-cookie: a=b\r\n\r\nnever';
      const text = await upgrade(await openRaw(bytes));
      assert.match(text, /^HTTP\/1\.1 404 [\s\S]*\r\n\r\nnever$/);
      assert.doesNotMatch(text, /set-cookie/);
    });

    test('that close when nothing moves in them', async () => {
      const server = createServer();
      server.on('upgrade', (_, socket) => {
        socket.write('HTTP/1.1 101 S\r\nconnection: upgrade\r\nupgrade: test\r\n\r\n');
      });
      const port = await listen(server);
      const url = new URL((await open({ address: `http://127.0.0.1:${port}` }, { webSocketIdleMs: 200 })).address);
      assert.match(await upgrade(url), /^HTTP\/1\.1 101 /);
    });
  });

  test('has a limit of connections', async () => {
    const port = await listen(createServer((_, response) => response.end('ok')));
    const url = new URL((await open({ address: `http://127.0.0.1:${port}` }, { connections: 2 })).address);
    const held = [connect(Number(url.port), '127.0.0.1'), connect(Number(url.port), '127.0.0.1')];
    await Promise.all(held.map((socket) => once(socket, 'connect')));
    const further = connect(Number(url.port), '127.0.0.1').on('error', () => {});
    await once(further, 'close');
    held[0]?.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal((await get(url)).text, 'ok');
    held[1]?.destroy();
  });
});

/** Sends a request with the given headers. */
const get = (
  url: URL,
  options: { readonly method?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  body = '',
): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const outgoing = request(url, { ...options, agent: false }, (response) => {
      let text = '';
      response.on('error', reject);
      response.on('data', (data: Buffer) => (text += data.toString()));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
    });
    outgoing.once('error', reject).end(body);
  });

/** Returns what arrives for a request to switch protocols, until `end` or until the connection is closed. */
async function upgrade(url: URL, headers: readonly string[] = [], early = '', end = /hello$/): Promise<string> {
  const socket = connect(Number(url.port), '127.0.0.1');
  const lines = [`GET ${url.pathname} HTTP/1.1`, `host: ${url.host}`, 'connection: upgrade', 'upgrade: test'];
  socket.write(`${[...lines, ...headers].join('\r\n')}\r\n\r\n${early}`);
  let text = '';
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    text += chunk.toString();
    if (end.test(text)) break;
  }
  return text;
}
