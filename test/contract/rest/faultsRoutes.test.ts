import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';
import { makeCertificate } from '../serve/certificate.ts';
import { Connecting } from './connecting.ts';
import { bytes, json } from './faultyServer.ts';

const key = 'key-1234567890-secret';
const noTables = json({ tables: [] });
const list = { operation: 'ListTables', id: [] } as const;
const namespaces = { operation: 'ListNamespaces', id: [] } as const;

/** Starts a forwarding proxy that resolves every host to this machine, because no other machine is available. */
async function proxyTo(
  port: number,
  here: Connecting,
): Promise<{ uri: string; asked: string[]; headers: IncomingMessage['headers'][] }> {
  const asked: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"tables":["by proxy"]}');
  });
  proxy.on('connect', (request: IncomingMessage, socket: Socket) => {
    asked.push(`CONNECT ${request.url}`);
    headers.push(request.headers);
    const there = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      there.pipe(socket).pipe(there);
    });
    for (const one of [there, socket]) one.on('error', () => undefined);
    sockets.add(socket);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  here.atEnd(async () => {
    for (const socket of sockets) socket.destroy();
    proxy.closeAllConnections();
    proxy.close();
  });
  return { uri: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked, headers };
}

suite('the way to a server', function () {
  this.timeout(20_000);
  const here = new Connecting();
  teardown(() => here.end());

  suite('over TLS', () => {
    const folder = tempFolder();
    const pems = (name: string, hosts?: string) => {
      const files = makeCertificate(folder, name, hosts);
      return { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') };
    };

    test('refuses an untrusted certificate before it sends anything', async () => {
      const server = await here.serve({ '*': noTables }, pems('self'));
      const wire = here.open({ uri: server.uri, apiKey: key, retries: 3 });
      await fails(() => wire.json(list), 'ServiceUnavailable', 'certificate', 'ca');
      assert.equal(server.seen.length, 0);
    });

    test('takes the certificate of the authority that is given', async () => {
      const pem = pems('vouched');
      const server = await here.serve({ '*': noTables }, pem);
      assert.deepEqual(await here.open({ uri: server.uri, ca: pem.cert }).json(list), { tables: [] });
    });

    test('refuses the certificate of another host', async () => {
      const pem = pems('other', 'DNS:other.example');
      const server = await here.serve({ '*': noTables }, pem);
      await fails(() => here.open({ uri: server.uri, ca: pem.cert }).json(list), 'ServiceUnavailable', 'another host');
    });

    test('goes to an endpoint with the name and the certificate of the address', async () => {
      const pem = pems('private', 'DNS:catalog.example.com');
      const server = await here.serve({ '*': noTables }, pem);
      const config = { uri: 'https://catalog.example.com', ca: pem.cert, endpoint: `127.0.0.1:${server.port}` };
      assert.deepEqual(await here.open(config).json(list), { tables: [] });
      assert.equal(server.seen[0]!.headers.host, 'catalog.example.com');
    });
  });

  suite('that sends elsewhere', () => {
    test('is not followed, and the other gets no key', async () => {
      const other = await here.serve({ '*': noTables });
      const server = await here.serve({ '*': bytes(307, '', '', { location: `${other.uri}/v1/namespace/%24/list` }) });
      const wire = here.open({ uri: server.uri, apiKey: key });
      await fails(() => wire.json(namespaces), 'InvalidInput', `127.0.0.1:${other.port}`, '307');
      assert.equal(other.seen.length, 0);
    });
  });

  suite('by a proxy', () => {
    const variables = ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'];
    const before = new Map(variables.map((name) => [name, process.env[name]]));
    setup(() => {
      for (const name of variables) delete process.env[name];
    });
    teardown(() => {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    });

    test('that is configured goes an http: address as a whole, an https: one through a tunnel with its own TLS', async () => {
      const pem = (({ cert, key: file }) => ({ cert: readFileSync(cert, 'utf8'), key: readFileSync(file, 'utf8') }))(
        makeCertificate(tempFolder(), 'tunnel', 'DNS:catalog.example.com'),
      );
      const server = await here.serve({ '*': noTables }, pem);
      const proxy = await proxyTo(server.port, here);
      const plain = here.open({ uri: 'http://catalog.example.com', proxy: proxy.uri });
      assert.deepEqual(await plain.json(list), { tables: ['by proxy'] });
      const secure = here.open({ uri: 'https://catalog.example.com', proxy: proxy.uri, ca: pem.cert, apiKey: key });
      assert.deepEqual(await secure.json(list), { tables: [] });
      assert.equal(proxy.asked.at(-1), 'CONNECT catalog.example.com:443');
      assert.equal(server.seen[0]!.headers['x-api-key'], key);
      assert.equal(proxy.headers.at(-1)!['x-api-key'], undefined);
    });

    test('of the environment is used, but for hosts of NO_PROXY and for this machine', async () => {
      const server = await here.serve({ '*': noTables });
      const proxy = await proxyTo(server.port, here);
      process.env['HTTP_PROXY'] = proxy.uri;
      const elsewhere = { uri: 'http://catalog.example.com' };
      assert.deepEqual(await here.open(elsewhere).json(list), { tables: ['by proxy'] });
      assert.deepEqual(await here.open({ uri: server.uri }).json(list), { tables: [] });
      const asked = proxy.asked.length;
      process.env['NO_PROXY'] = 'example.com';
      // This host does not exist. The call fails, and the test checks which resolver or proxy got the request.
      await fails(() => here.open(elsewhere).json(list), 'ServiceUnavailable', "can't be reached");
      assert.equal(proxy.asked.length, asked);
    });

    test('that refuses the tunnel is an error and no cancellation', async () => {
      const refusing = createServer();
      refusing.on('connect', (_, socket: Socket) => void socket.end('HTTP/1.1 407 No\r\n\r\n'));
      refusing.listen(0, '127.0.0.1');
      await once(refusing, 'listening');
      here.atEnd(async () => void refusing.close());
      const proxy = `http://user:hunter22@127.0.0.1:${(refusing.address() as AddressInfo).port}`;
      const wire = here.open({ uri: 'https://catalog.example.com', proxy });
      const error = await fails(() => wire.json(list), 'ServiceUnavailable', '407');
      assert.doesNotMatch(error.message, /hunter22/);
    });

    test('whose address is none is told without it', async () => {
      process.env['HTTPS_PROXY'] = 'not an address with hunter22';
      const error = await fails(
        async () => here.open({ uri: 'https://catalog.example.com' }),
        'InvalidInput',
        'HTTPS_PROXY',
      );
      assert.doesNotMatch(`${error.message} ${String(error.cause)}`, /hunter22/);
    });
  });
});
