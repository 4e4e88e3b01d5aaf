import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import { readBytes } from '#processes/readBytes.ts';

const tooLong = (): Error => new Error('too long');

suite('A stream that is read up to a limit', function () {
  this.timeout(20_000);
  const dispatcher = new Agent();
  let server: Server;
  let end: Promise<unknown>;

  suiteSetup(async () => {
    server = createServer((request, response) => {
      end = once(response, 'close');
      if (request.url === '/endless') {
        const piece = Buffer.alloc(1000);
        const send = (): void => {
          while (!response.destroyed && response.write(piece));
        };
        response.on('drain', send);
        send();
      } else response.end(`é${'.'.repeat(98)}`);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  suiteTeardown(async () => {
    await dispatcher.destroy();
    server.close();
  });

  const bodyAt = async (path: string): Promise<AsyncIterable<Uint8Array>> => {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return (await dispatcher.request({ origin, path, method: 'GET' })).body;
  };

  test('is returned whole if it has as many bytes as the limit', async () => {
    const bytes = await readBytes(await bodyAt('/'), 100, tooLong);
    assert.equal(bytes.toString('utf8'), `é${'.'.repeat(98)}`);
  });

  test('is an error of the caller if it has one byte more', async () => {
    await assert.rejects(readBytes(await bodyAt('/'), 99, tooLong), { message: 'too long' });
  });

  test('is left at the limit, and its connection is closed', async () => {
    await assert.rejects(readBytes(await bodyAt('/endless'), 100_000, tooLong), { message: 'too long' });
    await end;
  });
});
