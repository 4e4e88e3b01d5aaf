import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type Socket, type AddressInfo } from 'node:net';
import { BodyReader, defaultLimits, type Limits } from '#engine/server/httpBody.ts';
import { isCatalogError } from '#shared/errors.ts';

async function until(isSo: () => boolean): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- each turn of the event loop can change the answer
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

type Read = { value: unknown } | { error: unknown };

const head = (length: number): string =>
  `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

suite('the JSON body of a request', () => {
  let server: Server;
  let socket: Socket;
  let limits: Partial<Limits>;
  let isLate: boolean;
  let read: Promise<Read>;
  let events: string[];

  setup(async () => {
    limits = {};
    isLate = false;
    events = [];
    let tell: (read: Read) => void;
    read = new Promise((resolve) => (tell = resolve));
    const observer = {
      startReading: () => void events.push('start'),
      receive: (_: IncomingMessage, bytes: number) => void events.push(`${bytes} bytes`),
      endReading: () => void events.push('end'),
    };
    server = createServer((request, response) => {
      void (async () => {
        if (isLate) await until(() => request.complete);
        const body = new BodyReader(request, { ...defaultLimits, ...limits }, observer);
        tell(
          await body.json().then(
            (value) => ({ value }),
            (error: unknown) => ({ error }),
          ),
        );
        await body.discard({ bytes: 1_000_000, time: 1_000 });
        response.end();
      })();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  });
  teardown(() => {
    socket.destroy();
    server.close();
  });

  const refused = async (status: number, words: RegExp): Promise<void> => {
    const found = await read;
    assert.ok('error' in found && isCatalogError(found.error), 'the body was accepted');
    assert.equal(found.error.status, status);
    assert.match(found.error.message, words);
  };

  test('is read when it arrives after the headers, in parts', async () => {
    socket.write(head(7));
    await once(server, 'request');
    socket.write('{"a"');
    await until(() => events.includes('4 bytes'));
    socket.write(':1}');
    assert.deepEqual(await read, { value: { a: 1 } });
    assert.deepEqual(events, ['start', '4 bytes', '3 bytes', 'end']);
  });

  test('is read at once if all of it has arrived, and the connection goes on', async () => {
    isLate = true;
    socket.write(`${head(7)}{"a":1}`);
    assert.deepEqual(await read, { value: { a: 1 } });
    assert.deepEqual(events, ['7 bytes']);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 200/);
  });

  test('of no bytes is an empty object', async () => {
    isLate = true;
    socket.write(head(0));
    assert.deepEqual(await read, { value: {} });
  });

  for (const late of [false, true]) {
    test(`of too many bytes is refused with an answer, ${late ? 'after' : 'before'} it has arrived`, async () => {
      limits = { jsonBytes: 6 };
      isLate = late;
      socket.write(`${head(7)}{"a":1}`);
      await refused(413, /more than 6 bytes/);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      assert.match(answer.toString(), /^HTTP\/1\.1 200/);
    });
  }

  test('that pauses or takes too long is refused', async () => {
    limits = { idle: 50 };
    socket.write(`${head(7)}{"a"`);
    await refused(408, /paused for 0.05 seconds/);
  });

  test('that never ends is refused although it never pauses', async () => {
    limits = { idle: 1_000, jsonTime: 100 };
    socket.write(head(1_000_000));
    const drip = setInterval(() => socket.write(' '), 20);
    try {
      await refused(408, /took more than 0.1 seconds/);
    } finally {
      clearInterval(drip);
    }
  });

  test('of a client that leaves is an error', async () => {
    socket.write(`${head(7)}{"a"`);
    await once(server, 'request');
    await until(() => events.includes('4 bytes'));
    socket.destroy();
    const found = await read;
    assert.ok('error' in found);
    assert.ok(!events.includes('end'));
  });
});
