import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
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
});
