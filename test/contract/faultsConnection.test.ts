import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RestConfig } from '#client/connect.ts';
import { transportOptionsOf } from '#client/restConfig.ts';
import { Transport } from '#client/transport.ts';
import { tempFolder } from '../harness/temp.ts';
import { makeCertificate } from './certificate.ts';
import { fails } from './expect.ts';
import { bytes, FaultyServerStandIn, inTurn, json, readBody, refusal, type Behaviors } from './faultyServer.ts';

const key = 'key-1234567890-secret';
const noTables = json({ tables: [] });
const list = { operation: 'ListTables', id: [] } as const;
const namespaces = { operation: 'ListNamespaces', id: [] } as const;
const describeA = { operation: 'DescribeTable', id: ['a'], json: {} } as const;

suite('a connection to a server', function () {
  this.timeout(20_000);
  const stop: (() => Promise<void>)[] = [];

  const serve = async (behaviors: Behaviors, tls?: { key: string; cert: string }): Promise<FaultyServerStandIn> => {
    const server = await FaultyServerStandIn.start(behaviors, tls);
    stop.push(() => server.stop());
    return server;
  };
  const open = (config: RestConfig): Transport => {
    const transport = new Transport(transportOptionsOf({ retries: 0, ...config }));
    stop.push(() => transport.close());
    return transport;
  };

  teardown(async () => {
    // The last one first: who asks before who answers.
    for (const end of stop.splice(0).toReversed()) await end();
  });

  suite('that fails for a moment', () => {
    test('is asked again after 503 and after a connection that broke, and then it works', async () => {
      const broken = inTurn(
        bytes(503, 'text/plain', 'busy'),
        ({ response }) => void response.destroy(),
        json({ namespaces: ['a'] }),
      );
      const server = await serve({ '*': broken });
      const wire = open({ uri: server.uri, retries: 3 });
      assert.deepEqual(await wire.json(namespaces), { namespaces: ['a'] });
      assert.equal(server.seen.length, 3);
    });

    test('is asked again when the answer broke off in the middle', async () => {
      const half = inTurn(
        ({ response }) => {
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
          response.write('{"namespaces":');
          setTimeout(() => response.destroy(), 20);
        },
        json({ namespaces: [] }),
      );
      const server = await serve({ '*': half });
      assert.deepEqual(await open({ uri: server.uri, retries: 1 }).json(namespaces), { namespaces: [] });
    });

    test('is given the time that it asks for by Retry-After, in seconds or as a date', async () => {
      for (const after of ['1', () => new Date(Date.now() + 2000).toUTCString()]) {
        const value = typeof after === 'string' ? after : after();
        const behavior = inTurn(json({ error: 'slow down', code: 21 }, 429, { 'retry-after': value }), noTables);
        const server = await serve({ 'GET /v1/namespace/%24/list': behavior });
        const began = Date.now();
        await open({ uri: server.uri, retries: 1 }).json(namespaces);
        const waited = Date.now() - began;
        assert.ok(waited >= 900 && waited < 4000, `waited ${waited} ms for ${value}`);
      }
    });

    test('is believed and not waited for when it asks for an hour', async () => {
      const server = await serve({ '*': json({ error: 'come back later', code: 21 }, 429, { 'retry-after': '3600' }) });
      const wire = open({ uri: server.uri, retries: 3 });
      const error = await fails(() => wire.json(namespaces), 'Throttling', 'come back later', '3600 s');
      assert.equal(error.status, 429);
      assert.equal(server.seen.length, 1);
    });

    test('gets nothing twice that could be done twice', async () => {
      const server = await serve({ '*': bytes(503, '') });
      const wire = open({ uri: server.uri, retries: 5 });
      await fails(
        () => wire.json({ operation: 'CreateTable', id: ['s', 'a'], arrow: new Uint8Array(8) }),
        'ServiceUnavailable',
      );
      await fails(
        () => wire.json({ operation: 'RenameTable', id: ['a'], json: { new_table_name: 'b' } }),
        'ServiceUnavailable',
      );
      await fails(
        () => wire.json({ operation: 'InsertIntoTable', id: ['a'], arrow: new Uint8Array(8) }),
        'ServiceUnavailable',
      );
      await fails(() => wire.json({ operation: 'DropTable', id: ['a'], json: {} }), 'ServiceUnavailable');
      assert.equal(server.calls.filter((call) => call.startsWith('POST')).length, 4);
    });

    test('is not waited for by a call that is cancelled', async () => {
      const server = await serve({ '*': json({ error: 'x', code: 17 }, 503, { 'retry-after': '20' }) });
      const wire = open({ uri: server.uri, retries: 3 });
      const abort = new AbortController();
      setTimeout(() => abort.abort(new Error('enough')), 100);
      await assert.rejects(wire.json({ ...namespaces, signal: abort.signal }), { message: 'enough' });
    });
  });

  suite('that is slow', () => {
    test('to answer ends with a sentence, and not asked again', async () => {
      const server = await serve({ '*': () => undefined });
      const wire = open({ uri: server.uri, retries: 3, timeouts: { headers: 200 } });
      await fails(() => wire.json(namespaces), 'ServiceUnavailable', 'took too long', 'timeouts.headers');
      assert.equal(server.seen.length, 1);
    });

    test('in the middle of an answer ends with another', async () => {
      const server = await serve({ '*': ({ response }) => void response.writeHead(200).write('{"names') });
      const wire = open({ uri: server.uri, timeouts: { body: 200 } });
      await fails(() => wire.json(namespaces), 'ServiceUnavailable', 'stopped in the middle', 'timeouts.body');
    });

    test('sees the connection close when the call is cancelled, before and in the middle of an answer', async () => {
      for (const begin of [false, true]) {
        let closed: Promise<unknown> | undefined;
        const server = await serve({
          '*': ({ request, response }) => {
            closed = once(request.socket, 'close');
            if (begin) response.writeHead(200).write('{');
            setTimeout(() => abort.abort(), 50);
          },
        });
        const abort = new AbortController();
        await assert.rejects(open({ uri: server.uri }).json({ ...namespaces, signal: abort.signal }), {
          name: 'AbortError',
        });
        await closed;
      }
    });
  });

  suite('that breaks off', () => {
    test('in the middle of rows fails with who it was, and not as an end', async () => {
      const server = await serve({
        '*': ({ response }) => {
          response
            .writeHead(200, { 'content-type': 'application/vnd.apache.arrow.stream' })
            .write(new Uint8Array(1000));
          setTimeout(() => response.destroy(), 50);
        },
      });
      const { body } = await open({ uri: server.uri }).send({ operation: 'QueryTable', id: ['a'], json: {} });
      const read = async () => {
        for await (const chunk of body) assert.ok(chunk.length > 0);
      };
      await fails(read, 'ServiceUnavailable', `127.0.0.1:${server.port}`, 'broke off');
    });

    test('leaves nothing behind when its answer is not read', async () => {
      const server = await serve({
        '*': ({ response }) => {
          response.writeHead(200, { 'content-type': 'application/vnd.apache.arrow.stream' }).write('x');
          setTimeout(() => response.destroy(), 50);
        },
      });
      // An error that nobody listens to would end this process.
      await open({ uri: server.uri }).send({ operation: 'QueryTable', id: ['a'], json: {} });
      await sleep(150);
    });

    test('is not reachable: the sentence has the address and the reason', async () => {
      const server = await serve({});
      const { uri } = server;
      await stop.pop()!();
      const error = await fails(() => open({ uri }).json(namespaces), 'ServiceUnavailable', uri, 'ECONNREFUSED');
      assert.equal(error.operation, 'ListNamespaces');
      assert.equal(error.identifier, '/');
    });
  });

  suite('that sends an upload', () => {
    test('as it comes, and no further than the server reads', async () => {
      let sent = 0;
      const server = await serve({
        'POST /v1/table/a%24b/create': async (turn) => {
          await sleep(300);
          const before = sent;
          const { length } = await readBody(turn);
          turn.response.end(JSON.stringify({ before, length }));
        },
        '*': noTables,
      });
      const total = 64;
      const pieces = async function* () {
        for (; sent < total; sent++) yield new Uint8Array(1024 * 1024);
      };
      const answer = await open({ uri: server.uri }).json({
        operation: 'CreateTable',
        id: ['a', 'b'],
        arrow: pieces(),
      });
      assert.ok(typeof answer === 'object' && answer !== null && 'before' in answer && 'length' in answer);
      assert.equal(answer.length, total * 1024 * 1024);
      assert.ok(Number(answer.before) < total / 2, `${String(answer.before)} MB were sent to one who did not read`);
    });

    test('whose source fails breaks off for the server, and fails as the source did', async () => {
      let ended: 'whole' | 'broken' | undefined;
      const server = await serve({
        'POST /v1/table/a%24b/create': async (turn) => {
          ended = await readBody(turn).then(
            () => 'whole',
            () => 'broken',
          );
        },
        '*': noTables,
      });
      const pieces = async function* () {
        yield new Uint8Array(10);
        await sleep(50);
        throw new Error('the disk is gone');
      };
      const wire = open({ uri: server.uri });
      await fails(
        () => wire.json({ operation: 'CreateTable', id: ['a', 'b'], arrow: pieces() }),
        'InvalidInput',
        'the disk is gone',
      );
      await sleep(50);
      assert.equal(ended, 'broken');
    });

    test('that is cancelled lets go of a source that hangs', async () => {
      const server = await serve({ '*': noTables, 'POST /v1/table/a%24b/create': () => undefined });
      const abort = new AbortController();
      const pieces = async function* () {
        yield new Uint8Array(10);
        setTimeout(() => abort.abort(new Error('enough')), 50);
        await new Promise(() => undefined);
      };
      const create = { operation: 'CreateTable', id: ['a', 'b'], arrow: pieces(), signal: abort.signal } as const;
      await assert.rejects(open({ uri: server.uri }).json(create), { message: 'enough' });
    });
  });

  suite('over TLS', () => {
    const folder = tempFolder();
    const pems = (name: string, hosts?: string) => {
      const files = makeCertificate(folder, name, hosts);
      return { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') };
    };

    test('refuses a certificate that nobody vouches for, without sending anything', async () => {
      const server = await serve({ '*': noTables }, pems('self'));
      const wire = open({ uri: server.uri, apiKey: key, retries: 3 });
      await fails(() => wire.json(list), 'ServiceUnavailable', 'certificate', 'ca');
      assert.equal(server.seen.length, 0);
    });

    test('takes the certificate of the authority that is given', async () => {
      const pem = pems('vouched');
      const server = await serve({ '*': noTables }, pem);
      assert.deepEqual(await open({ uri: server.uri, ca: pem.cert }).json(list), { tables: [] });
    });

    test('refuses the certificate of another host', async () => {
      const pem = pems('other', 'DNS:other.example');
      const server = await serve({ '*': noTables }, pem);
      await fails(() => open({ uri: server.uri, ca: pem.cert }).json(list), 'ServiceUnavailable', 'another host');
    });

    test('goes to an endpoint with the name and the certificate of the address', async () => {
      const pem = pems('private', 'DNS:catalog.example.com');
      const server = await serve({ '*': noTables }, pem);
      const config = { uri: 'https://catalog.example.com', ca: pem.cert, endpoint: `127.0.0.1:${server.port}` };
      assert.deepEqual(await open(config).json(list), { tables: [] });
      assert.equal(server.seen[0]!.headers.host, 'catalog.example.com');
    });
  });

  suite('that sends elsewhere', () => {
    test('is not followed, and the other gets no key', async () => {
      const other = await serve({ '*': noTables });
      const server = await serve({ '*': bytes(307, '', '', { location: `${other.uri}/v1/namespace/%24/list` }) });
      const wire = open({ uri: server.uri, apiKey: key });
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

    /** A forwarding proxy that takes every host for one on this machine: there is no other here to ask. */
    async function proxyTo(
      port: number,
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
      stop.push(async () => {
        for (const socket of sockets) socket.destroy();
        proxy.closeAllConnections();
        proxy.close();
      });
      return { uri: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked, headers };
    }

    test('that is configured goes an http: address as a whole, an https: one through a tunnel with its own TLS', async () => {
      const pem = (({ cert, key: file }) => ({ cert: readFileSync(cert, 'utf8'), key: readFileSync(file, 'utf8') }))(
        makeCertificate(tempFolder(), 'tunnel', 'DNS:catalog.example.com'),
      );
      const server = await serve({ '*': noTables }, pem);
      const proxy = await proxyTo(server.port);
      const plain = open({ uri: 'http://catalog.example.com', proxy: proxy.uri });
      assert.deepEqual(await plain.json(list), { tables: ['by proxy'] });
      const secure = open({ uri: 'https://catalog.example.com', proxy: proxy.uri, ca: pem.cert, apiKey: key });
      assert.deepEqual(await secure.json(list), { tables: [] });
      assert.equal(proxy.asked.at(-1), 'CONNECT catalog.example.com:443');
      assert.equal(server.seen[0]!.headers['x-api-key'], key);
      assert.equal(proxy.headers.at(-1)!['x-api-key'], undefined);
    });

    test('of the environment is used, but for hosts of NO_PROXY and for this machine', async () => {
      const server = await serve({ '*': noTables });
      const proxy = await proxyTo(server.port);
      process.env['HTTP_PROXY'] = proxy.uri;
      const elsewhere = { uri: 'http://catalog.example.com' };
      assert.deepEqual(await open(elsewhere).json(list), { tables: ['by proxy'] });
      assert.deepEqual(await open({ uri: server.uri }).json(list), { tables: [] });
      const asked = proxy.asked.length;
      process.env['NO_PROXY'] = 'example.com';
      // There is no such host: what matters is who is asked for it.
      await fails(() => open(elsewhere).json(list), 'ServiceUnavailable', "can't be reached");
      assert.equal(proxy.asked.length, asked);
    });

    test('that refuses the tunnel is an error and no cancellation', async () => {
      const refusing = createServer();
      refusing.on('connect', (_, socket: Socket) => void socket.end('HTTP/1.1 407 No\r\n\r\n'));
      refusing.listen(0, '127.0.0.1');
      await once(refusing, 'listening');
      stop.push(async () => void refusing.close());
      const proxy = `http://user:hunter22@127.0.0.1:${(refusing.address() as AddressInfo).port}`;
      const wire = open({ uri: 'https://catalog.example.com', proxy });
      const error = await fails(() => wire.json(list), 'ServiceUnavailable', '407');
      assert.doesNotMatch(error.message, /hunter22/);
    });

    test('whose address is none is told without it', async () => {
      process.env['HTTPS_PROXY'] = 'not an address with hunter22';
      const make = async () => open({ uri: 'https://catalog.example.com' });
      const error = await fails(make, 'InvalidInput', 'HTTPS_PROXY');
      assert.doesNotMatch(`${error.message} ${String(error.cause)}`, /hunter22/);
    });
  });

  test('is kept for the next call', async () => {
    const server = await serve({ '*': noTables });
    const wire = open({ uri: server.uri });
    for (let call = 0; call < 20; call++) await wire.json(namespaces);
    // The next call may come before the end of the answer has reached the pool.
    assert.ok(server.connections <= 2, `${server.connections} connections for calls one after the other`);
  });

  test('that was closed says so, also to calls under way', async () => {
    const server = await serve({ '*': () => undefined });
    const wire = open({ uri: server.uri });
    const call = wire.json(describeA);
    setTimeout(() => void wire.close(), 50);
    await fails(() => call, 'InvalidInput', 'closed here');
    await fails(() => wire.json(describeA), 'InvalidInput', 'closed here');
  });

  test('keeps its keys out of what a server repeats of them', async () => {
    const server = await serve({ '*': refusal(401, 16, `The key ${key} is not one of ours.`) });
    const error = await fails(() => open({ uri: server.uri, apiKey: key }).json(namespaces), 'Unauthenticated', '…');
    assert.doesNotMatch(`${error.message} ${String(error.cause)}`, new RegExp(key));
  });
});
