import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GoogleClient } from '#cluster/gcp/googleClient.ts';

const variables = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY', 'no_proxy', 'NO_PROXY'] as const;

suite('Requests to Google Cloud behind a proxy', function () {
  this.timeout(20_000);
  const before = new Map(variables.map((name) => [name, process.env[name]]));
  setup(() => {
    for (const name of variables) delete process.env[name];
  });
  teardown(() => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });

  test('go through one that is written without http:// in front, as other tools take it', async () => {
    const asked: string[] = [];
    const proxy = createServer().on('connect', ({ url = '' }, socket) => {
      asked.push(url);
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    process.env['HTTPS_PROXY'] = `localhost:${(proxy.address() as AddressInfo).port}`;
    const client = new GoogleClient();
    try {
      await assert.rejects(
        client.call({ api: 'container', path: '/x', token: 'planted' }, AbortSignal.timeout(10_000)),
      );
      assert.deepEqual(asked, ['container.googleapis.com:443']);
    } finally {
      await client.close();
      proxy.close();
    }
  });

  test('are refused if it is not a URL, without showing its password', () => {
    process.env['HTTPS_PROXY'] = 'http://me:planted@:99999';
    assert.throws(() => new GoogleClient(), {
      message:
        'The proxy in HTTPS_PROXY or HTTP_PROXY is not a valid URL. Set the variable to a URL such as http://proxy.example.com:3128.',
    });
  });
});
