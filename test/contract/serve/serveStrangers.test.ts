import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { tableFromIPC } from '#arrow';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { type RunningServer, serve } from '#engine/serve/serve.ts';
import { isCatalogError } from '#shared/errors.ts';
import { tempFolder } from '../../harness/temp.ts';
import { eventually } from '../eventually.ts';
import { rows, writeKeys } from './serveProcess.ts';

const key = 'key-of-a-team-0123456789';
const knownAs = { 'x-api-key': key };

suite('lance-catalog serve, and those who ask and do not go on', function () {
  this.timeout(30_000);
  const root = tempFolder();
  const keys = writeKeys([['ana', key, 'read-write', '*']]);
  const lines: string[] = [];
  let server: RunningServer;

  const start = (port: number) =>
    serve({
      databases: [{ name: 'default', root }],
      host: '127.0.0.1',
      port,
      keys: { kind: 'file', path: keys },
      behindProxy: false,
      publicHosts: [],
      limits: { grace: 1000, requests: 2, idle: 1000 },
      write: (line) => lines.push(line),
    });
  suiteSetup(async () => {
    const db = await openDir({ root });
    await db.createTable('large', tableFromIPC(rows(4_000_000)));
    server = await start(0);
  });
  suiteTeardown(() => server.close());

  /** Sends only the start of a request. */
  async function begin(headers: string) {
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(
      `POST /v1/table/large/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}`,
    );
    return socket;
  }

  test('without a key take no place from those with one, and are let go soon', async () => {
    const strangers = await Promise.all([1, 2, 3, 4].map(() => begin('Content-Length: 100\r\n\r\n{')));
    const closed = strangers.map((socket) => once(socket.resume(), 'close'));
    for (let asked = 0; asked < 3; asked++) {
      const { status } = await fetch(`${server.address}/v1/namespace/%24/table/list`, { headers: knownAs });
      assert.equal(status, 200);
    }
    // The server must close these connections, or the test would time out.
    await Promise.all(closed);
  });

  test('and stop reading are disconnected, which is logged and not counted as success', async () => {
    const body = JSON.stringify({ vector: {}, k: 4_000_000 });
    const socket = await begin(`x-api-key: ${key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    socket.pause();
    await eventually(() =>
      assert.ok(
        lines.some((line) => /"level":"error".*"end":"cut"/.test(line)),
        lines.join('\n'),
      ),
    );
    const metrics = await (await fetch(`${server.address}/metrics`, { headers: knownAs })).text();
    assert.match(metrics, /^lance_catalog_requests_total\{operation="QueryTable",status="cut"\} 1$/m);
    assert.doesNotMatch(metrics, /operation="QueryTable",status="200"/);
    socket.destroy();
  });

  test('a server that can not listen lets go of its files', async () => {
    await assert.rejects(start(server.port), (error) => isCatalogError(error, 'InvalidInput'));
    lines.splice(0);
    writeKeys([['ana', key, 'read-only', '*']], keys);
    await eventually(() => assert.ok(lines.some((line) => line.includes('"keys_read"'))));
    // If the server that could not listen still watched the key file, it would also log within two seconds. Only the
    // running server must log.
    await sleep(2500);
    assert.equal(lines.filter((line) => line.includes('"keys_read"')).length, 1, lines.join('\n'));
  });
});
