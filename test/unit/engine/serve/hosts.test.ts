import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { isLoopback, routeOfHost } from '#engine/serve/hosts.ts';

const route = (host: string | undefined, listen = '127.0.0.1') => routeOfHost(host, listen, ['Catalog.example.com']);

suite('the host of a request', () => {
  test('is taken when it is what the server listens on, localhost or a public name, with any port', () => {
    for (const host of [
      '127.0.0.1',
      '127.0.0.1:2333',
      'localhost:1',
      'LOCALHOST',
      '[::1]:2333',
      'catalog.example.com',
      'CATALOG.example.com:443',
      'catalog.example.com.',
    ]) {
      assert.deepEqual(route(host), { allowed: true }, host);
    }
  });

  test('names a database by a label before a known name', () => {
    assert.deepEqual(route('shop.catalog.example.com'), { allowed: true, database: 'shop' });
    assert.deepEqual(route('shop.localhost:2333'), { allowed: true, database: 'shop' });
  });

  test('is refused when it is any other, or none', () => {
    for (const host of [
      undefined,
      '',
      'evil.example',
      'example.com',
      'a.b.catalog.example.com',
      'catalog.example.com.evil.example',
      'xcatalog.example.com',
      '.localhost',
      'localhost@evil.example',
      'localhost:80:80',
      '10.0.0.1',
      '0.0.0.0',
    ]) {
      assert.equal(route(host).allowed, false, String(host));
    }
  });

  test('may be any address of this machine when the server listens everywhere', () => {
    const mine = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
    assert.ok(mine.length > 0);
    for (const address of mine) {
      const host = address.includes(':') ? `[${address}]` : address;
      assert.equal(route(host, '0.0.0.0').allowed, true, address);
    }
    assert.equal(route('192.0.2.7', '0.0.0.0').allowed, false);
  });

  test('is this machine alone for loopback addresses and for no name but localhost', () => {
    for (const host of ['127.0.0.1', '127.9.9.9', '::1', '[::1]', 'localhost']) assert.ok(isLoopback(host), host);
    for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example.com', 'ip6-localhost', '']) {
      assert.ok(!isLoopback(host), host);
    }
  });
});
