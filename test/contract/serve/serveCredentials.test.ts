import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { UsageError } from '../../../kernel/cli/command.ts';
import { serveCommand } from '../../../kernel/cli/serve.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { type Moto, startMoto } from '../moto.ts';
import { AwsStandIn } from './awsStandIn.ts';
import { type Answer, arrowType, refused, rows, type ServeProcess, startServe, writeKeys } from './serveProcess.ts';
import { isAllowed } from './sessionPolicies.ts';

const run = promisify(execFile);

const [writer, reader] = ['writer-key-0123456789', 'reader-key-0123456789'];
/** A key that is bound to the namespace `shop`. */
const bound = 'key-of-the-shop-0123456789';
/**
 * Keys for requests that take long. These requests run at the same time as the other tests, and the stand-in for AWS
 * behaves in another way for some of them, so they use separate keys.
 */
const slow = {
  writing: 'engine-writes-0123456789',
  reading: 'engine-reads-0123456789',
  renewing: 'engine-renews-0123456789',
  waiting: 'waits-for-aws-0123456789',
};
const roleArn = 'arn:aws:iam::123456789012:role/lance-tables';
const as = (key: string, more: Record<string, string> = {}) => ({ headers: { 'x-api-key': key, ...more } });

/** What `vendedCredentials.py` prints, by step; `null` for a step without a result. */
type EngineSteps = Record<string, unknown> & {
  options: Record<string, number>;
  life: number;
  append_reading: { error: string } | null;
  other_table: { error: string } | null;
};

type Described = { location: string; storage_options?: Record<string, string> };

/** The server's own credentials for AWS, and no settings of the machine that runs the tests. */
const serverEnv = (aws: AwsStandIn, moto: Moto): Record<string, string> => ({
  AWS_ACCESS_KEY_ID: 'AKIASERVER',
  AWS_SECRET_ACCESS_KEY: 'server-secret-of-the-tests',
  AWS_ENDPOINT_URL_STS: aws.address,
  AWS_CONFIG_FILE: '/nowhere',
  AWS_SHARED_CREDENTIALS_FILE: '/nowhere',
  AWS_EC2_METADATA_DISABLED: 'true',
  TEST_STORE_SECRET: moto.storageOptions['aws_secret_access_key'] ?? '',
});

/** Programs of engines have no credentials but those that the server vends. */
const engineEnv = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('AWS_')));

suite('credentials for engines', function () {
  this.timeout(120_000);
  let moto: Moto;
  let aws: AwsStandIn;
  let server: ServeProcess;
  let db: Catalog;
  let engine: Promise<string>;
  let renewal: Promise<string>;
  let silence: Promise<{ answer: Answer; milliseconds: number }>;
  suiteSetup(async () => {
    registerRest();
    moto = await startMoto('lenient');
    aws = new AwsStandIn(moto.storageOptions['aws_endpoint'] ?? '');
    await aws.start();
    const keys = writeKeys([
      ['ana', writer, 'read-write', '*'],
      ['bob', reader, 'read-only', '*'],
      ['team', bound, 'read-write', '* namespace=shop'],
      ['writing', slow.writing, 'read-write', '*'],
      ['reading', slow.reading, 'read-only', '*'],
      ['renewing', slow.renewing, 'read-only', '*'],
      ['waiting', slow.waiting, 'read-write', '*'],
    ]);
    const store = Object.entries({ ...moto.storageOptions, aws_endpoint: aws.address }).flatMap(([name, value]) =>
      name.includes('secret')
        ? ['--storage-option-env', `${name}=TEST_STORE_SECRET`]
        : ['--storage-option', `${name}=${value}`],
    );
    const databases = ['--database', `main=${moto.root('vended')}`, '--database', `local=${tempFolder()}`];
    const vending = ['--vend-credentials', roleArn, '--vend-duration', '30m', '--vend-external-id', 'our-team'];
    server = await startServe(['--keys', keys, ...databases, ...store, ...vending], { env: serverEnv(aws, moto) });
    db = await connectNamespace('rest', { uri: server.address, apiKey: writer, database: 'main' });
    await db.createNamespace(['shop']);
    for (const name of ['orders', 'orders2', 'replaced', 'silent'])
      await db.createTable(name, [{ id: 1 }, { id: 2 }], ['shop']);
    await db.createTable('renewed', [{ id: 1 }], ['shop']);
    engine = runEngine('vendedCredentials.py', slow.writing, slow.reading, 'main');
    aws.behavior.set('renewing', { life: 62 });
    renewal = runEngine('renewedCredentials.py', slow.renewing, 'main', 'renewed');
    aws.behavior.set('waiting', { habit: 'silent' });
    const started = performance.now();
    silence = post('shop%24silent/describe', slow.waiting, { vend_credentials: true }).then((answer) => ({
      answer,
      milliseconds: performance.now() - started,
    }));
    // Mark failures as handled, because each promise may fail before its test awaits it.
    for (const one of [engine, renewal, silence]) one.catch(() => undefined);
  });
  suiteTeardown(async () => {
    // Wait for all three. If a test did not await its promise, the server would otherwise stop while a program uses it.
    await Promise.allSettled([engine, renewal, silence]);
    await db?.close();
    await server?.stop();
    await aws?.stop();
    await moto?.stop();
  });
  /** Number of calls of AssumeRole for each key before the current test. */
  let before: Readonly<Record<string, number>> = {};
  setup(() => {
    before = { ana: aws.callsFor('ana').length, bob: aws.callsFor('bob').length };
    aws.behavior.delete('bob');
  });

  /** Returns the calls of AssumeRole that the requests of the current test caused. */
  const callsFor = (client: 'ana' | 'bob') => aws.callsFor(client).slice(before[client]);
  const runEngine = async (program: string, ...args: readonly string[]): Promise<string> => {
    const path = inRoot(`test/contract/python/${program}`);
    const { stdout } = await run(python(), [path, server.address, ...args], { timeout: 90_000, env: engineEnv() });
    return stdout;
  };
  const main = { 'x-service-database': 'main' };
  const post = (path: string, key: string, body: object = {}) =>
    server.send({ path: `/v1/table/${path}`, ...as(key, main), body: JSON.stringify(body) });
  const describe = async (name: string, key: string, body: object = {}): Promise<Described> => {
    const answer = await post(`shop%24${name}/describe`, key, body);
    assert.equal(answer.status, 200, answer.body);
    return JSON.parse(answer.body) as Described;
  };

  test('come from a session that can use one folder, as the key can', async () => {
    const { location, storage_options: options } = await describe('orders', writer);
    assert.ok(options);
    const [call] = callsFor('ana');
    assert.equal(callsFor('ana').length, 1);
    const { RoleArn, ExternalId, DurationSeconds, RoleSessionName = '', Policy = '', accessKey } = call!;
    assert.deepEqual([RoleArn, ExternalId, DurationSeconds, accessKey], [roleArn, 'our-team', '1800', 'AKIASERVER']);
    assert.match(RoleSessionName, /^ana=shop\.orders=[0-9a-f]{10}$/);
    const { expires_at_millis: end = '', ...others } = options;
    const left = Number(end) - Date.now();
    assert.ok(left > 1_700_000 && left <= 1_800_000, end);
    assert.deepEqual(others, {
      aws_endpoint: aws.address,
      allow_http: 'true',
      aws_region: 'us-east-1',
      aws_access_key_id: `ASIASESSION${aws.lastIssued('ana')}`,
      aws_secret_access_key: `session-secret-${aws.lastIssued('ana')}`,
      aws_session_token: `session-token-${aws.lastIssued('ana')}`,
    });
    const folder = location.slice('s3://'.length);
    const other = (await describe('orders2', writer, { vend_credentials: false })).location.slice('s3://'.length);
    const can = (action: string, resource: string) =>
      isAllowed(Policy, { action: `s3:${action}`, resource: `arn:aws:s3:::${resource}` });
    for (const action of ['GetObject', 'GetObjectVersion', 'PutObject', 'AbortMultipartUpload']) {
      assert.ok(can(action, `${folder}/_versions/1.manifest`), action);
      for (const outside of [folder, `${folder}2/data/a`, `${other}/data/a`, `${moto.bucket}/vended/__manifest/a`])
        assert.ok(!can(action, outside), `${action} ${outside}`);
    }
    assert.ok(!can('DeleteObject', `${folder}/data/a.lance`));
  });

  test('only read for a key that is read-only', async () => {
    const { location } = await describe('orders', reader);
    const { Policy = '', RoleSessionName = '' } = callsFor('bob')[0]!;
    assert.match(RoleSessionName, /^bob=shop\.orders=/);
    const resource = `arn:aws:s3:::${location.slice('s3://'.length)}/data/a.lance`;
    assert.ok(isAllowed(Policy, { action: 's3:GetObject', resource }));
    assert.ok(!isAllowed(Policy, { action: 's3:PutObject', resource }));
  });

  test('are reused for the same key and table, and requested once by requests at the same time', async () => {
    const many = await Promise.all(Array.from({ length: 8 }, () => describe('replaced', reader)));
    assert.equal(callsFor('bob').length, 1);
    const again = await describe('replaced', reader, { vend_credentials: true });
    assert.deepEqual(new Set([...many, again].map((one) => one.storage_options?.['aws_access_key_id'])).size, 1);
    assert.equal(callsFor('bob').length, 1);
    await describe('replaced', writer);
    assert.deepEqual([callsFor('ana').length, callsFor('bob').length], [1, 1]);
  });

  test('are not sent and cost no call if the request refuses them, nor to clients of this project', async () => {
    assert.equal((await describe('orders2', reader, { vend_credentials: false })).storage_options, undefined);
    const made = await db.createTable('own', [{ id: 1 }], ['shop']);
    assert.equal(await made.countRows(), 1);
    await db.openTable('own', ['shop']);
    const description = await db.describeTable('own', ['shop']);
    assert.ok(!JSON.stringify(description).includes('aws_'));
    assert.equal(await db.isOnlyDeclared('own', ['shop']), false);
    await made.schema();
    await made.listVersions();
    await db.declareTable('declared', ['shop']);
    assert.equal(await db.isOnlyDeclared('declared', ['shop']), true);
    await db.dropTable('own', ['shop']);
    assert.deepEqual([callsFor('ana'), callsFor('bob')], [[], []]);
  });

  test('are in the responses of create and declare, and of a table without data', async () => {
    const path = '/v1/table/shop%24created/create';
    const created = await server.send({ path, ...as(writer, { ...main, ...arrowType }), body: rows(2) });
    assert.ok(created.body.includes(`"aws_session_token":"session-token-${aws.lastIssued('ana')}"`), created.body);
    const declared = await post('shop%24empty/declare', writer);
    assert.ok(declared.body.includes(`"aws_session_token":"session-token-${aws.lastIssued('ana')}"`), declared.body);
    assert.ok((await describe('empty', writer)).storage_options);
    assert.equal(callsFor('ana').length, 2);
  });

  test('are not sent for a database that is not in S3', async () => {
    const headers = { 'x-api-key': writer, 'x-service-database': 'local' };
    const made = await server.send({
      path: '/v1/table/t/create',
      headers: { ...headers, ...arrowType },
      body: rows(1),
    });
    assert.equal(made.status, 200, made.body);
    const body = JSON.stringify({ vend_credentials: true });
    const answer = await server.send({ path: '/v1/table/t/describe', headers, body });
    assert.equal(answer.status, 200);
    assert.ok(!answer.body.includes('storage_options'));
    assert.deepEqual([callsFor('ana'), callsFor('bob')], [[], []]);
  });

  test('fail a request that requires them, and no other, if AWS denies the role', async () => {
    aws.behavior.set('bob', { habit: 'denied' });
    await db.createTable('denied', [{ id: 1 }], ['shop']);
    assert.equal((await describe('denied', reader)).storage_options, undefined);
    const line = await server.logged('credentials_failed', ({ table }) => table === 'shop/denied');
    assert.match(String(line['problem']), /does not allow the server to call sts:AssumeRole on the role arn:/);
    // For some seconds after a failure, only requests that require credentials call AWS.
    const { length } = callsFor('bob');
    assert.equal((await describe('denied', reader)).storage_options, undefined);
    assert.equal(callsFor('bob').length, length);
    const answer = await post('shop%24denied/describe', reader, { vend_credentials: true });
    assert.equal(answer.status, 503);
    refused(answer, 'ServiceUnavailable', '"shop/denied"', 'could not get them from AWS', 'administrator');
    assert.ok(!answer.body.includes(roleArn));
    assert.ok(callsFor('bob').length > length);
    aws.behavior.delete('bob');
    assert.ok((await describe('denied', reader, { vend_credentials: true })).storage_options);
  });

  test('make a request fail in time if AWS does not answer', async () => {
    const { answer, milliseconds } = await silence;
    assert.equal(answer.status, 503, answer.body);
    assert.ok(milliseconds < 20_000, String(milliseconds));
    aws.behavior.delete('waiting');
    assert.ok((await describe('silent', slow.waiting, { vend_credentials: true })).storage_options);
  });

  test('write no file that lets a key register a table that has left its namespace', async () => {
    await db.createNamespace(['elsewhere']);
    await db.createTable('left', [{ id: 1 }], ['shop']);
    const { location } = JSON.parse((await post('left/deregister', bound)).body) as { location: string };
    const register = () => post('left/register', bound, { location });
    assert.equal((await register()).status, 200);
    await db.renameTable('left', 'left', ['shop'], { newNamespacePath: ['elsewhere'] });
    refused(await register(), 'InvalidInput', 'was deregistered in this namespace');
    await db.deregisterTable('left', ['elsewhere']);
    refused(await register(), 'InvalidInput', 'was deregistered in this namespace');
  });

  test('let an engine read and write its tables, and no others', async () => {
    const { options, life, append_reading, other_table, ...steps } = JSON.parse(await engine) as EngineSteps;
    assert.deepEqual(Object.keys(options).toSorted(), [
      'allow_http',
      'aws_access_key_id',
      'aws_region',
      'aws_secret_access_key',
      'aws_session_token',
      'expires_at_millis',
    ]);
    assert.ok(life > 890 && life <= 1800, String(life));
    assert.deepEqual(steps, {
      options_refused: null,
      read: [1, 2],
      append: [1, 2, 3],
      delete_rows: [2, 3],
      compact: [1, [2, 3]],
      overwrite: [3],
      create: [3],
      branch: [2, 3],
      clean_up: [true, true],
    });
    const denied = /AccessDenied|Forbidden|403|denied/i;
    for (const [step, result] of Object.entries({ append_reading, other_table }))
      assert.match(result?.error ?? 'allowed', denied, step);
    const refusedActions = Object.fromEntries(
      ['reading', 'writing'].map((client) => {
        const denials = aws.requestsFor(client).filter(({ status }) => status === 403);
        return [client, new Set(denials.map(({ action }) => action))];
      }),
    );
    const { reading, writing } = refusedActions;
    assert.ok(reading?.has('s3:PutObject'));
    assert.ok(writing?.has('s3:DeleteObject') && !writing.has('s3:PutObject'));
  });

  test('are renewed by an engine before they end', async () => {
    assert.deepEqual(JSON.parse(await renewal), [1, 1, 1]);
    const requests = aws.requestsFor('renewing');
    assert.ok(new Set(requests.map(({ accessKey }) => accessKey)).size >= 2);
    assert.deepEqual(
      requests.filter(({ status }) => status === 400),
      [],
    );
  });

  test('are in the log and the metrics without secrets', async () => {
    const line = await server.logged(
      'credentials_vended',
      ({ key, table }) => key === 'ana' && table === 'shop/orders',
    );
    assert.equal(line['database'], 'main');
    assert.match(String(line['expires']), /^\d{4}-\d\d-\d\dT/);
    for (const secret of ['session-secret', 'session-token', 'server-secret', 'ASIASESSION'])
      assert.ok(!server.said().includes(secret), secret);
    const { body } = await server.send({ method: 'GET', path: '/metrics', ...as(reader) });
    assert.match(body, /^lance_catalog_credentials_total\{result="new"\} [1-9]/m);
    assert.match(body, /^lance_catalog_credentials_total\{result="reused"\} [1-9]/m);
    assert.match(body, /^lance_catalog_credentials_total\{result="failed"\} [1-9]/m);
  });
});

suite('the options for credentials of engines', () => {
  const env = { SERVE_KEY: 'a-key-of-the-tests-0123', AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: '' };
  const key = ['--api-key-env', 'SERVE_KEY'];
  const kept = Object.keys(env).map((name) => [name, process.env[name]] as const);
  suiteTeardown(() => {
    for (const [name, value] of kept)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });
  /** Wrong arguments are refused before anything starts, so no process is needed. */
  const refuses = async (args: readonly string[], words: RegExp, more: Record<string, string> = {}) => {
    Object.assign(process.env, env, more);
    await assert.rejects(serveCommand.run(args), (error) => error instanceof UsageError && words.test(error.message));
  };

  test('are refused if they have no effect, or would open tables to all programs', async () => {
    const s3 = ['--root', 's3://bucket/x', '--vend-credentials', roleArn];
    await refuses(['--root', tempFolder(), ...key, '--vend-credentials', roleArn], /no database is in S3/);
    await refuses([...s3, '--no-auth'], /needs keys/);
    await refuses(
      ['--root', 's3://bucket/x', ...key, '--vend-duration', '1h'],
      /--vend-duration requires --vend-credentials/,
    );
    await refuses(['--root', 's3://bucket/x', ...key, '--vend-credentials', 'lance-tables'], /ARN of a role/);
    for (const time of ['14m', '13h', '1', '1y'])
      await refuses([...s3, ...key, '--vend-duration', time], new RegExp(`from 15m to 12h .* got "${time}"`));
    await refuses([...s3, ...key, '--vend-external-id', 'a b'], /--vend-external-id/);
    await refuses([...s3, ...key], /needs the region/, { AWS_REGION: '' });
    for (const region of ['eu-west-1a', 'EU-WEST-1', 'eu-west', 'x.example.com/', 'eu west-1'])
      await refuses([...s3, ...key, '--vend-region', region], new RegExp(`for --vend-region, got "${region}"`));
    await refuses([...s3, ...key], /for AWS_REGION, got "here"/, { AWS_REGION: 'here' });
    await refuses([...s3, ...key, '--storage-option', 'aws_region=here'], /for aws_region, got "here"/);
  });
});
