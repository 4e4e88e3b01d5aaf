import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { tempFolder } from '../../harness/temp.ts';
import { arrowType, list, refused, rows, type ServeProcess, startServe } from './serveProcess.ts';

/** Returns a request whose body the test sends. */
function openRequest(server: ServeProcess, path: string, agent?: Agent) {
  const outgoing = request({
    host: '127.0.0.1',
    port: server.port,
    method: 'POST',
    path,
    headers: arrowType,
    ...(agent && { agent }),
  });
  const answer = new Promise<{ status: number; body: string }>((resolve, reject) => {
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
  });
  // Mark a failure as handled, because the response may fail before the test awaits it.
  answer.catch(() => undefined);
  return { outgoing, answer };
}

/** Waits until the server closes a connection that sends only `text`. */
function closedByServer(port: number, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.resume();
    socket.once('error', reject);
    socket.once('close', () => resolve());
  });
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 10_000; !(await holds()); await sleep(20)) {
    if (Date.now() > end) throw new Error(`Waited ten seconds for ${what}.`);
  }
}

const inFlight = async (server: ServeProcess): Promise<number> => {
  const { body } = await server.send({ method: 'GET', path: '/metrics' });
  return Number(/^lance_catalog_requests_in_flight (\d+)$/m.exec(body)?.[1]);
};

suite('The limits of lance-catalog serve', function () {
  this.timeout(30_000);
  const root = tempFolder();
  let server: ServeProcess;
  suiteSetup(async () => {
    server = await startServe([
      '--root',
      root,
      '--no-auth',
      '--max-body',
      '1',
      '--max-requests',
      '2',
      '--idle-timeout',
      '1',
    ]);
  });
  suiteTeardown(() => server.stop());

  test('refuse a body of too many bytes, and leave no table', async () => {
    const answer = await server.send({ path: '/v1/table/big/create', headers: arrowType, body: rows(200_000) });
    assert.equal(answer.status, 413, answer.body);
    assert.deepEqual(await (await openDir({ root })).tableNames(), []);
  });

  test('say which operations and paths the server does not have', async () => {
    const jobs = await server.send({ path: '/v1/jobs/list', body: '{}' });
    refused(jobs, 'Unsupported', 'This server runs no jobs.');
    const nowhere = await server.send({ method: 'GET', path: '/' });
    assert.equal(nowhere.status, 404);
    assert.match(nowhere.body, /has no GET \/\..*REST specification/);
  });

  test('end a request whose headers do not come', async () => {
    // Test both connections at the same time. The server must close them long before its default limit of half a
    // minute.
    await Promise.all(['GET /healthz HTTP/1.1\r\nHost: local', ''].map((text) => closedByServer(server.port, text)));
  });

  test('end a request whose body does not come, and leave no table', async () => {
    const bytes = rows(1000);
    const { outgoing, answer } = openRequest(server, '/v1/table/half/create');
    outgoing.write(bytes.subarray(0, bytes.length / 2));
    const ended = await answer.then(
      ({ status }) => status,
      () => 'cut',
    );
    assert.ok(typeof ended === 'string' || ended >= 400, String(ended));
    assert.deepEqual(await (await openDir({ root })).tableNames(), []);
    outgoing.destroy();
  });

  test('tell requests beyond the number to come again, and serve the health of it all the same', async () => {
    const held = ['one', 'two'].map((name) => openRequest(server, `/v1/table/${name}/create`));
    for (const { outgoing } of held) outgoing.write(rows(10).subarray(0, 10));
    await until('two requests', async () => (await inFlight(server)) === 2);
    const answer = await server.send(list);
    assert.equal(answer.status, 503, answer.body);
    assert.equal(answer.headers['retry-after'], '1');
    assert.equal((await server.send({ method: 'GET', path: '/healthz' })).status, 200);
    for (const { outgoing } of held) outgoing.destroy();
    await until('none', async () => (await inFlight(server)) === 0);
    assert.equal((await server.send(list)).status, 200);
  });
});

suite('The end of lance-catalog serve', function () {
  this.timeout(30_000);
  let root: string;
  let server: ServeProcess;
  const bytes = rows(5000);
  const half = bytes.length / 2;

  async function start(...args: string[]): Promise<void> {
    root = tempFolder();
    server = await startServe(['--root', root, '--no-auth', ...args]);
  }
  teardown(() => server.stop());

  async function beginUpload() {
    const upload = openRequest(server, '/v1/table/t/create');
    upload.outgoing.write(bytes.subarray(0, half));
    await until('the upload', async () => (await inFlight(server)) === 1);
    return upload;
  }

  test('finishes a write that is under way, refuses others, and exits with 0', async () => {
    await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const upload = await beginUpload();
    // A started request keeps this connection open, so that later requests can use it.
    const waiting = openRequest(server, '/v1/table/other/create', agent);
    waiting.outgoing.write(bytes.subarray(0, 8));
    await until('both', async () => (await inFlight(server)) === 2);
    server.kill('SIGTERM');
    await server.logged('stopping');
    await assert.rejects(server.send(list), /ECONNREFUSED/);
    upload.outgoing.end(bytes.subarray(half));
    const { status, body } = await upload.answer;
    assert.equal(status, 200, body);
    waiting.outgoing.end(bytes.subarray(8));
    assert.equal((await waiting.answer).status, 200);
    assert.equal(await server.exited, 0);
    const db = await openDir({ root });
    assert.equal(await (await db.openTable('t')).countRows(), 5000);
    assert.deepEqual((await db.tableNames()).toSorted(), ['other', 't']);
  });

  test('answers 503 to what still comes on an open connection, and is not ready', async () => {
    await start();
    const upload = await beginUpload();
    const answers: string[] = [];
    // Two requests on one connection: the second arrives when the server is already stopping.
    const socket = connect(server.port, '127.0.0.1');
    socket.setEncoding('utf8').on('data', (text: string) => answers.push(text));
    socket.write(
      'POST /v1/namespace/%24/exists HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{',
    );
    await until('both', async () => (await inFlight(server)) === 2);
    server.kill('SIGTERM');
    await server.logged('stopping');
    const again = 'Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
    socket.write(`}GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\nPOST /v1/table/t/count_rows HTTP/1.1\r\n${again}`);
    await until('the answers', () => Promise.resolve(/200 OK.*503.*503/s.test(answers.join(''))));
    upload.outgoing.end(bytes.subarray(half));
    assert.equal((await upload.answer).status, 200);
    assert.equal(await server.exited, 0);
    socket.destroy();
  });

  test('does not wait for ever: what takes longer than allowed is cut off, and nothing is half made', async () => {
    await start('--grace', '1');
    const upload = await beginUpload();
    server.kill('SIGTERM');
    await assert.rejects(upload.answer);
    assert.equal(await server.exited, 0);
    assert.equal((await server.logged('stopped'))['cut'], 1);
    assert.deepEqual(await (await openDir({ root })).tableNames(), []);
  });

  test('comes at once when it is asked for twice', async () => {
    await start();
    await beginUpload();
    server.kill('SIGTERM');
    await server.logged('stopping');
    // A second signal at the same time must not force an end, because a terminal and a parent process may both send the
    // signal.
    server.kill('SIGTERM');
    // Repeat the signal until the server reacts, because a process that does not run between two signals receives them
    // as one.
    const again = setInterval(() => server.kill('SIGTERM'), 700);
    assert.equal(await server.exited.finally(() => clearInterval(again)), 143);
  });

  test('without anything to do comes at once, also with idle connections open', async () => {
    await start();
    const agent = new Agent({ keepAlive: true });
    assert.equal((await server.send({ ...list, agent })).status, 200);
    server.kill('SIGINT');
    assert.equal(await server.exited, 0);
    assert.equal((await server.logged('stopped'))['cut'], 0);
    agent.destroy();
  });
});
