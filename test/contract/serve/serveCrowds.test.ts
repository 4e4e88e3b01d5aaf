import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { tableFromIPC, tableToIPC } from '#arrow';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { type RunningServer, serve } from '#engine/serve/serve.ts';
import { tempFolder } from '../../harness/temp.ts';
import { eventually } from '../eventually.ts';
import { rows, writeKeys } from './serveProcess.ts';

const ana = { 'x-api-key': 'key-of-ana-0123456789' };
const ben = { 'x-api-key': 'key-of-ben-0123456789' };

suite('lance-catalog serve, and crowds that would lock others out', function () {
  this.timeout(30_000);
  const root = tempFolder();
  const keys = writeKeys([
    ['ana', ana['x-api-key'], 'read-write', '*'],
    ['ben', ben['x-api-key'], 'read-write', '*'],
  ]);
  const open: Socket[] = [];
  let server: RunningServer;

  suiteSetup(async () => {
    const db = await openDir({ root });
    await db.createTable('large', tableFromIPC(rows(2_000_000)));
    server = await serve({
      databases: [{ name: 'default', root }],
      host: '127.0.0.1',
      port: 0,
      keys: { kind: 'file', path: keys },
      behindProxy: false,
      publicHosts: [],
      limits: {
        grace: 1000,
        requests: 4,
        connections: 40,
        keylessPerAddress: 30,
        keylessKeepAlive: 500,
        jsonTime: 1500,
        idle: 1200,
        allJsonBytes: 5_000_000,
      },
      write: () => undefined,
    });
  });
  teardown(() => {
    for (const socket of open.splice(0)) socket.destroy();
  });
  suiteTeardown(() => server.close());

  /** Opens a connection from an address of the loopback network. */
  async function connected(localAddress: string, text: string): Promise<Socket> {
    const socket = connect({ port: server.port, host: '127.0.0.1', localAddress });
    open.push(socket);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(text);
    return socket;
  }

  /** Returns the status of a request on a separate connection. */
  function status(path: string, headers: Record<string, string> = {}): Promise<number> {
    return new Promise((resolve, reject) => {
      const sent = request(`${server.address}${path}`, { headers, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      sent.on('error', reject).end();
    });
  }
  const list = '/v1/namespace/%24/table/list';

  /** Sends a body byte by byte, and returns the whole response of the server. */
  async function dribble(path: string, type: string, key: typeof ana, body: Uint8Array): Promise<string> {
    const socket = await connected(
      '127.0.0.1',
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nx-api-key: ${key['x-api-key']}\r\n` +
        `Content-Length: ${body.length + 1000}\r\n\r\n`,
    );
    const answer: string[] = [];
    socket.setEncoding('latin1').on('data', (text: string) => void answer.push(text));
    for (let at = 0; answer.length === 0 && !socket.destroyed && at < body.length; at++) {
      socket.write(body.subarray(at, at + 1));
      // oxlint-disable-next-line no-await-in-loop -- it is the pause
      await sleep(50);
    }
    return answer.join('');
  }

  test('kept connections without a key leave room for those with one, and for health checks', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const kept = () =>
      new Promise<boolean>((resolve, reject) => {
        const sent = request(`${server.address}${list}`, { headers: ana, agent }, (response) => {
          response.resume().on('end', () => resolve(sent.reusedSocket));
        });
        sent.on('error', reject).end();
      });
    assert.equal(await kept(), false);
    for (let round = 0; round < 60; round++)
      // oxlint-disable-next-line no-await-in-loop -- one after the other, so that none waits to be accepted
      await connected(`127.0.0.${2 + (round % 2)}`, 'GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    assert.equal(await status('/healthz'), 200);
    assert.equal(await status(list, ben), 200);
    assert.equal(await kept(), true, 'the connection with a key was closed');
    agent.destroy();
  });

  test('a connection without a key is closed soon, and that of a health check at once', async () => {
    const stranger = await connected('127.0.0.2', 'GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const [answer] = (await once(stranger, 'data')) as [Buffer];
    assert.match(answer.toString(), /^keep-alive: timeout=0\r$/im);
    const since = performance.now();
    await once(stranger.resume(), 'close');
    assert.ok(performance.now() - since < 5000);
    const check = await connected('127.0.0.2', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const [said] = (await once(check, 'data')) as [Buffer];
    assert.match(said.toString(), /^connection: close\r$/im);
    const known = await connected(
      '127.0.0.2',
      `GET ${list} HTTP/1.1\r\nHost: localhost\r\nx-api-key: ${ana['x-api-key']}\r\n\r\n`,
    );
    const [listed] = (await once(known, 'data')) as [Buffer];
    assert.match(listed.toString(), /^keep-alive: timeout=75\r$/im);
    await sleep(1500);
    assert.equal(known.closed, false);
  });

  test('large bodies of one key leave memory for others, and are counted until their requests end', async () => {
    const post = async (key: typeof ana, body: string): Promise<number> => {
      const headers = { ...key, 'content-type': 'application/json' };
      const path = `${server.address}/v1/table/large/count_rows`;
      const response = await fetch(path, { method: 'POST', headers, body });
      await response.text();
      return response.status;
    };
    const large = JSON.stringify({ predicate: 'id < 5', x: ' '.repeat(1_900_000) });
    for (let round = 0; round < 2; round++) {
      const statuses = Promise.all(Array.from({ length: 3 }, () => post(ana, large)));
      assert.equal(await post(ben, JSON.stringify({ predicate: 'id < 5' })), 200);
      // The limit here is 5 MB, and the share of a key 3.75 MB.
      assert.deepEqual(
        (await statuses).toSorted((a, b) => a - b),
        [200, 429, 429],
      );
    }
    assert.equal(await post(ana, `{"predicate":"","x":${'['.repeat(101)}${']'.repeat(101)}}`), 400);
    assert.equal(await post(ana, `{"predicate":"","x":${'['.repeat(99)}"[[\\"[["${']'.repeat(99)}}`), 200);
  });

  test('slow bodies take no place from requests of the same key or another, and have an end', async () => {
    const slow = Array.from({ length: 12 }, () =>
      dribble('/v1/table/large/count_rows', 'application/json', ana, Buffer.from(' '.repeat(400))),
    );
    await sleep(500);
    assert.equal(await status(list, ben), 200);
    assert.equal(await status(list, ana), 200);
    const statuses = (await Promise.all(slow)).map((said) => said.slice(9, 12));
    // The key may send three bodies at a time; these end with 408. The requests above this share get 429.
    assert.deepEqual(statuses.toSorted(), [...Array<string>(3).fill('408'), ...Array<string>(9).fill('429')]);
  });

  test('one key can not take all places', async () => {
    const body = JSON.stringify({ vector: {}, k: 2_000_000 });
    const readers = await Promise.all(
      Array.from({ length: 3 }, () =>
        connected(
          '127.0.0.1',
          `POST /v1/table/large/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
            `x-api-key: ${ana['x-api-key']}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        ),
      ),
    );
    for (const reader of readers) reader.pause();
    await eventually(async () => assert.equal(await status(list, ana), 429));
    assert.equal(await status(list, ben), 200);
  });

  test('rows that hardly arrive are refused', async () => {
    const stream = tableToIPC(tableFromIPC(rows(10)), 'stream');
    const said = await dribble('/v1/table/slow/create', 'application/vnd.apache.arrow.stream', ana, stream);
    assert.match(said, /^HTTP\/1\.1 408 /);
    assert.match(said, /arrived at less than 100 bytes a second/);
  });
});
