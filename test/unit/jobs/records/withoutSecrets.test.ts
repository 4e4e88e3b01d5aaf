import assert from 'node:assert/strict';
import { secretsOf, withoutSecrets } from '#jobs/records/withoutSecrets.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import type { BackfillRequest, RayPlace } from '#shared/jobs/backfill.ts';

const asked = (catalog: CatalogConfig, ray?: RayPlace): BackfillRequest => ({
  table: { catalog, connection: 'Shop', namespacePath: [], name: 'words' },
  column: 'length',
  ...(ray && { ray }),
});

/** Every field of a request that may contain a secret, each with the word PLANTED in it. */
const holding: Readonly<Record<string, BackfillRequest>> = {
  'a key': asked({ implementation: 'rest', uri: 'https://c.example', apiKey: 'PLANTED-key' }),
  'a token': asked({ implementation: 'rest', uri: 'https://c.example', token: 'PLANTED-token' }),
  'a header': asked({ implementation: 'rest', uri: 'https://c.example', headers: { 'x-auth': 'PLANTED-header' } }),
  'a header of its own': asked({ implementation: 'rest', uri: 'https://c.example', 'headers.x-auth': 'PLANTED-own' }),
  'a proxy with a password': asked({
    implementation: 'rest',
    uri: 'https://c.example',
    proxy: 'http://me:PLANTED-proxy@proxy.example:3128',
  }),
  'a key of a store': asked({
    implementation: 'dir',
    root: 's3://bucket/data',
    storageOptions: { aws_secret_access_key: 'PLANTED-store', aws_region: 'eu-west-1' },
  }),
  'a token of Ray': asked(
    { implementation: 'dir', root: '/data' },
    { address: 'http://127.0.0.1:8265', token: 'PLANTED-ray' },
  ),
  'a password in the address of a Ray': asked(
    { implementation: 'dir', root: '/data' },
    { address: 'http://me:PLANTED-password@ray.example:8265' },
  ),
  'an address that is none, and a key': asked({ implementation: 'rest', uri: 'no address', apiKey: 'PLANTED-odd' }),
};

suite('What is kept of a request', () => {
  for (const [what, request] of Object.entries(holding)) {
    test(`is without ${what}, and known not to be whole`, () => {
      const { request: open, isWhole } = withoutSecrets(request);
      assert.doesNotMatch(JSON.stringify(open), /PLANTED/);
      assert.equal(isWhole, false);
      assert.match(secretsOf(request).join(' '), /PLANTED/);
    });
  }

  test('is the whole request if it contains no secret', () => {
    const request = asked({ implementation: 'rest', uri: 'https://c.example', database: 'sales', delimiter: '.' });
    const { request: open, isWhole } = withoutSecrets(request);
    assert.deepEqual(JSON.parse(JSON.stringify(open)), request);
    assert.ok(isWhole);
  });

  test('still says where the store is', () => {
    const { request } = withoutSecrets(holding['a key of a store'] as BackfillRequest);
    const { catalog } = request.table;
    assert.ok(catalog.implementation === 'dir');
    assert.deepEqual(catalog.storageOptions, { aws_region: 'eu-west-1' });
  });
});
