import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GoogleClient } from '#cluster/gcp/googleClient.ts';

suite('A client of Google Cloud', function () {
  this.timeout(20_000);

  test('refuses a reply that is too long for one of Google', async () => {
    const server = createServer((_, response) => response.end(Buffer.alloc(8 * 1024 * 1024 + 1, ' ')));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = new GoogleClient({ iam: origin });
    try {
      await assert.rejects(client.call({ api: 'iam', path: '/x' }, AbortSignal.timeout(10_000)), {
        kind: 'BadReply',
        message: `The reply to GET ${origin}/x is larger than 8 MB.`,
      });
    } finally {
      await client.close();
      server.close();
    }
  });
});
