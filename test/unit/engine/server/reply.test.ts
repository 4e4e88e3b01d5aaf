import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { defaultLimits } from '#engine/server/httpBody.ts';
import { Reply } from '#engine/server/reply.ts';

suite('an answer', () => {
  test('of JSON is cut when its reader takes nothing for too long', async () => {
    const ends: Promise<string>[] = [];
    const server = createServer((_request, response) => {
      const gone = new AbortController();
      response.on('close', () => gone.abort());
      const reply = new Reply(response, { ...defaultLimits, idle: 100 }, gone.signal);
      const told = () => reply.end;
      // Send more bytes than the buffers of a connection can store.
      ends.push(reply.json(200, 'x'.repeat(64 * 1024 ** 2)).then(told, told));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined).pause();
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(server, 'request');
    assert.equal(await ends[0], 'cut');
    socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  test('of a few small chunks is sent as a whole, with its length', async () => {
    const { response, received } = await streamed(async function* () {
      yield Buffer.from('schema ');
      yield Buffer.from('batch ');
      yield Buffer.from('end');
    });
    assert.equal(response.headers['content-length'], '16');
    assert.equal(response.headers['transfer-encoding'], undefined);
    assert.equal(await received, 'schema batch end');
  });

  test('sends its first chunk while the next one is computed', async () => {
    const first = new EventEmitter();
    const { response, received } = await streamed(async function* () {
      yield Buffer.from('first ');
      await once(first, 'taken');
      yield Buffer.from('second');
    });
    const [chunk] = (await once(response, 'data')) as [Buffer];
    assert.equal(String(chunk), 'first ');
    first.emit('taken');
    assert.equal(await received, 'first second');
  });

  test('sends large chunks as they come', async () => {
    const large = 'x'.repeat(100_000);
    const { response, received } = await streamed(async function* () {
      for (let chunk = 0; chunk < 5; chunk++) yield Buffer.from(large);
    });
    assert.equal(response.headers['content-length'], undefined);
    assert.equal(await received, large.repeat(5));
  });

  test('of a small result that fails at its end is an error, not a part of the result', async () => {
    let failure: unknown;
    const { received } = await streamed(
      async function* () {
        yield Buffer.from('first');
        throw new Error('the second batch failed');
      },
      (reply, error) => {
        failure = error;
        return reply.json(500, 'failed');
      },
    );
    assert.equal(await received, '"failed"');
    assert.match(String(failure), /the second batch failed/);
  });
});

/** Streams chunks to a client. Returns the response when its headers have arrived, and the promise of its text. */
async function streamed(
  chunks: () => AsyncGenerator<Uint8Array>,
  failed: (reply: Reply, error: unknown) => Promise<void> = (_reply, error) => Promise.reject(error),
): Promise<{ response: IncomingMessage; received: Promise<string> }> {
  const server = createServer((_request, response) => {
    const reply = new Reply(response, defaultLimits, new AbortController().signal);
    void reply.stream({ headers: {}, chunks: chunks() }).catch((error: unknown) => failed(reply, error));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const [response] = (await once(request({ host: '127.0.0.1', port, agent: false }).end(), 'response')) as [
    IncomingMessage,
  ];
  let text = '';
  response.on('data', (chunk: Buffer) => (text += String(chunk)));
  const received = once(response, 'end').then(() => {
    server.close();
    return text;
  });
  return { response, received };
}
