import assert from 'node:assert/strict';
import { proxyOf } from '#cluster/kube/proxy.ts';

suite('The proxy to an API server', () => {
  const environment = {
    HTTPS_PROXY: 'http://proxy:3128',
    NO_PROXY: 'example.com, .internal,10.0.0.0/8,[fd00::]/8,host:6443',
  };
  const cases: readonly (readonly [server: string, proxy: string | undefined])[] = [
    ['https://api.other.com', 'http://proxy:3128'],
    ['https://example.com', undefined],
    ['https://api.example.com', undefined],
    ['https://notexample.com', 'http://proxy:3128'],
    ['https://api.internal', undefined],
    ['https://10.1.2.3', undefined],
    ['https://11.1.2.3', 'http://proxy:3128'],
    ['https://host:6443', undefined],
    ['https://host', 'http://proxy:3128'],
    ['https://127.0.0.1:6443', undefined],
    ['http://api.other.com', undefined],
  ];
  for (const [server, proxy] of cases)
    test(`of the environment is ${proxy === undefined ? 'not asked' : 'asked'} for ${server}`, () =>
      assert.equal(proxyOf(new URL(server), undefined, environment), proxy));

  test('is the one of the kubeconfig before any other', () => {
    assert.equal(proxyOf(new URL('https://127.0.0.1'), 'socks5://bastion:1080', environment), 'socks5://bastion:1080');
  });

  test('is taken by a variable in small letters first, and by none that is empty', () => {
    const server = new URL('https://api.other.com');
    assert.equal(proxyOf(server, undefined, { ...environment, https_proxy: 'small:1' }), 'http://small:1');
    assert.equal(proxyOf(server, undefined, { HTTPS_PROXY: '' }), undefined);
    assert.equal(proxyOf(server, undefined, { ...environment, no_proxy: '*' }), undefined);
  });
});
