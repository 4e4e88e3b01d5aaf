import assert from 'node:assert/strict';
import { isCatalogConfig } from '#shared/catalogConfig.ts';

const uri = 'https://catalog.example.com';

suite('the catalog that a process is told to open', () => {
  test('is a directory or a server, with all that either may have', () => {
    for (const config of [
      { implementation: 'dir', root: '/data' },
      { implementation: 'dir', root: 's3://bucket', storageOptions: { aws_region: 'eu-west-1' } },
      { implementation: 'rest', uri },
      {
        implementation: 'rest',
        uri,
        apiKey: 'k',
        token: undefined,
        database: 'd',
        databasePrefix: 'p',
        headerNames: { database: 'x-lancedb-database', databasePrefix: undefined },
        headers: { 'x-team': 'data' },
        'headers.x-other': 'text',
        endpoint: 'http://10.0.0.1',
        ca: 'PEM',
        proxy: 'http://proxy:3128',
        delimiter: '.',
        timeouts: { connect: 0 },
        retries: 0,
      },
    ])
      assert.ok(isCatalogConfig(config), JSON.stringify(config));
  });

  for (const config of [
    null,
    'dir',
    [],
    { implementation: 'other', uri },
    { implementation: 'dir' },
    { implementation: 'dir', root: 1 },
    { implementation: 'dir', root: '/data', storageOptions: { a: 1 } },
    { implementation: 'dir', root: '/data', uri },
    { implementation: 'rest' },
    { implementation: 'rest', uri, apiKey: 1 },
    { implementation: 'rest', uri, headers: { a: 1 } },
    { implementation: 'rest', uri, headers: ['a'] },
    { implementation: 'rest', uri, 'headers.a': 1 },
    { implementation: 'rest', uri, timeouts: { connect: -1 } },
    { implementation: 'rest', uri, retries: '3' },
    { implementation: 'rest', uri, unknown: 'x' },
    { implementation: 'rest', uri, toString: 'x' },
  ]) {
    test(`is refused when it is ${JSON.stringify(config)}`, () => {
      assert.ok(!isCatalogConfig(config));
    });
  }
});
