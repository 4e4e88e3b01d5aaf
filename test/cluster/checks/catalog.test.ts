import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Catalog } from '#catalog/catalog.ts';
import { openRest } from '#catalog/rest/restCatalog.ts';
import { checkIdsByCategory } from '#cluster/checkIds.ts';
import type { BucketLocation, ClusterProfile } from '#cluster/profile.ts';
import type { ResolveCatalog } from '#cluster/resolvedCatalog.ts';
import type { CheckReport } from '#cluster/result.ts';
import { verifyCluster } from '#cluster/verifyCluster.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { type Moto, startMoto } from '../../contract/moto.ts';
import { type ServeProcess, startServe, writeKeys } from '../../contract/serve/serveProcess.ts';
import { freePorts } from '../../harness/freePorts.ts';
import { mendOf, sentenceOf } from '../parts/outcome.ts';
import { profileFor } from '../parts/soundCluster.ts';

const keys = { all: 'key-that-opens-all-of-it', eu: 'key-that-opens-only-eu' } as const;

suite('Checks of the catalog', function () {
  this.timeout(120_000);
  let moto: Moto;
  let server: ServeProcess;
  let storage: BucketLocation;

  suiteSetup(async () => {
    moto = await startMoto('lenient');
    const options = Object.entries(moto.storageOptions).flatMap(([name, value]) =>
      name.includes('secret')
        ? ['--storage-option-env', `${name}=TEST_STORE_SECRET`]
        : ['--storage-option', `${name}=${value}`],
    );
    const keyFile = writeKeys([
      ['all', keys.all, 'read-write', '*'],
      ['eu', keys.eu, 'read-write', 'eu'],
    ]);
    const databases = ['shop', 'eu'].flatMap((name) => ['--database', `${name}=${moto.root(name)}`]);
    const env = { TEST_STORE_SECRET: moto.storageOptions['aws_secret_access_key'] ?? '' };
    server = await startServe([...databases, '--keys', keyFile, ...options], { env });
    const catalog = await openRest({ uri: server.address, apiKey: keys.all, database: 'shop' });
    await catalog.createNamespace(['sales']);
    await catalog.createTable('orders', [{ id: 1 }], { namespacePath: ['sales'] });
    await catalog.close();
    storage = { scheme: 's3', bucket: moto.bucket, prefix: '' };
  });
  suiteTeardown(async () => {
    await server.stop();
    await moto.stop();
  });

  const rest = (more: object = {}): CatalogConfig => ({
    implementation: 'rest',
    uri: server.address,
    apiKey: keys.all,
    database: 'shop',
    ...more,
  });

  const check = (
    catalog: ClusterProfile['catalog'],
    { resolveCatalog, at = storage }: { resolveCatalog?: ResolveCatalog; at?: BucketLocation | undefined } = {},
  ): Promise<CheckReport> =>
    verifyCluster(
      { ...profileFor('/no/kubeconfig'), storage: at, catalog },
      { signal: AbortSignal.timeout(60_000), only: checkIdsByCategory.catalog, resolveCatalog },
    );

  test('pass for a key, a database and tables in the bucket', async () => {
    const report = await check(rest());
    assert.equal(ends(report), 'pass, pass, pass');
    assert.equal(
      sentenceOf(report, 'catalog-storage'),
      `The table sales/orders of the catalog is in s3://${moto.bucket}.`,
    );
  });

  test('say that a key is missing', async () => {
    const report = await check(rest({ apiKey: undefined }));
    assert.equal(ends(report), 'pass, fail, blocked');
    assert.equal(
      sentenceOf(report, 'catalog-auth'),
      `The catalog at ${server.address} requires an API key, but none is set.`,
    );
  });

  test('say that a key is not known, and never which', async () => {
    const report = await check(rest({ apiKey: 'key-of-another-server' }));
    assert.equal(ends(report), 'pass, fail, blocked');
    assert.equal(sentenceOf(report, 'catalog-auth'), `The catalog at ${server.address} rejects the API key.`);
    assert.ok(!JSON.stringify(report).includes('key-of-another-server'));
  });

  test('say that a key does not open the database, with whom to ask', async () => {
    const report = await check(rest({ apiKey: keys.eu }));
    assert.equal(ends(report), 'pass, fail, blocked');
    assert.match(sentenceOf(report, 'catalog-auth'), /accepts the API key, but .*does not open the database "shop"/);
    const mend = mendOf(report, 'catalog-auth');
    assert.match(mend?.kind === 'advice' ? mend.text : '', /^Ask the administrator of the catalog/);
  });

  test('say that there is no such database', async () => {
    const report = await check(rest({ database: 'shop2' }));
    assert.equal(ends(report), 'pass, fail, blocked');
    assert.match(sentenceOf(report, 'catalog-auth'), /has no database shop2: There is no database "shop2"/);
  });

  test('report that no server responds, and send no further request', async () => {
    const [port = 0] = await freePorts(1);
    const report = await check(rest({ uri: `http://127.0.0.1:${port}` }));
    assert.equal(ends(report), 'fail, blocked, blocked');
    assert.match(sentenceOf(report, 'catalog-reach'), /can't be reached \(ECONNREFUSED\)/);
  });

  test('say that something else answers there', async () => {
    const page = await startPage();
    try {
      const report = await check(rest({ uri: `http://127.0.0.1:${(page.address() as AddressInfo).port}` }));
      assert.equal(ends(report), 'fail, blocked, blocked');
      assert.match(sentenceOf(report, 'catalog-reach'), /web page/);
    } finally {
      page.close();
    }
  });

  test('find tables in another bucket, and warn of another prefix', async () => {
    const other = await check(rest(), { at: { ...storage, bucket: 'other' } });
    assert.equal(ends(other), 'pass, pass, fail');
    assert.match(sentenceOf(other, 'catalog-storage'), /is in s3:\/\/lance-tests, not in s3:\/\/other/);
    assert.equal(ends(await check(rest(), { at: { ...storage, prefix: 'shop' } })), 'pass, pass, pass');
    const beside = await check(rest(), { at: { ...storage, prefix: 'sho' } });
    assert.equal(ends(beside), 'pass, pass, warn');
    assert.match(sentenceOf(beside, 'catalog-storage'), /but not below sho\.$/);
  });

  test('skip the place of a catalog without tables', async () => {
    const report = await check(rest({ database: 'eu' }));
    assert.equal(ends(report), 'pass, pass, skipped');
  });

  test('go by the address of a directory where no engine is given', async () => {
    const inside = await check({ implementation: 'dir', root: `s3://${moto.bucket}/shop` });
    assert.equal(ends(inside), 'pass, pass, pass');
    const folder = await check({ implementation: 'dir', root: '/data/shop' });
    assert.equal(ends(folder), 'pass, pass, fail');
    assert.match(sentenceOf(folder, 'catalog-storage'), /is at \/data\/shop, which pods of a cluster can't reach/);
  });

  test('ask for a connection by its name, with the key that only the asker has', async () => {
    const asked: unknown[] = [];
    const resolveCatalog: ResolveCatalog = (catalog) => {
      asked.push(catalog);
      return Promise.resolve(catalog === 'work' ? { config: rest() } : undefined);
    };
    assert.equal(ends(await check('work', { resolveCatalog })), 'pass, pass, pass');
    assert.deepEqual(asked, ['work']);
    const report = await check('home', { resolveCatalog });
    assert.equal(ends(report), 'fail, blocked, blocked');
    assert.equal(sentenceOf(report, 'catalog-reach'), 'There is no catalog connection "home" here.');
  });

  test('leave a connection open that was given to them', async () => {
    const given: Catalog = await openRest({ uri: server.address, apiKey: keys.all, database: 'shop' });
    const config: CatalogConfig = { implementation: 'dir', root: moto.root('shop') };
    const resolveCatalog: ResolveCatalog = () => Promise.resolve({ config, open: () => Promise.resolve(given) });
    assert.equal(ends(await check('work', { resolveCatalog })), 'pass, pass, pass');
    assert.deepEqual(await given.tableNames(['sales']), ['orders']);
    await given.close();
  });

  test('are skipped for a profile without a catalog', async () => {
    assert.equal(ends(await check(undefined)), 'skipped, skipped, skipped');
  });
});

/** Returns the statuses of `reach, auth, storage`. */
const ends = ({ results }: CheckReport): string =>
  results
    .filter(({ category }) => category === 'catalog')
    .map(({ status }) => status)
    .join(', ');

/** Starts a server that is not a catalog, such as a sign-in page. */
async function startPage(): Promise<Server> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<!doctype html><title>Sign in</title>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
