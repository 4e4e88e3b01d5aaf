import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClusterError, type ClusterErrorKind } from '#cluster/errors.ts';
import { gkeCredential, openDefaultCredentials } from '#cluster/gcp/defaultCredentials.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { MetadataStandIn } from '../../../cluster/standIns/metadataStandIn.ts';
import { tempFolder } from '../../../harness/temp.ts';

const variables = [
  'GOOGLE_APPLICATION_CREDENTIALS',
  'CLOUDSDK_CONFIG',
  'GCE_METADATA_HOST',
  'GCE_METADATA_IP',
  'METADATA_SERVER_DETECTION',
  'GOOGLE_CLOUD_QUOTA_PROJECT',
] as const;

const failsAs = (kind: ClusterErrorKind, words: RegExp) => (error: unknown) =>
  error instanceof ClusterError && error.kind === kind && words.test(error.message);

suite('Application-default credentials', function () {
  this.timeout(20_000);
  const before = new Map(variables.map((name) => [name, process.env[name]]));
  let folder: string;
  setup(() => {
    folder = tempFolder('adc-');
    for (const name of variables) delete process.env[name];
    process.env['CLOUDSDK_CONFIG'] = folder;
    process.env['METADATA_SERVER_DETECTION'] = 'none';
  });
  suiteTeardown(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  const { signal } = new AbortController();
  const open = (hidden = new SecretRedactor()) => openDefaultCredentials({ hidden, signal });
  const write = (content: unknown, name = 'application_default_credentials.json'): string => {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  test('that are nowhere are said to be missing, with how to sign in', async () => {
    await assert.rejects(
      open,
      failsAs(
        'CredentialsMissing',
        /^This machine has no application default credentials for Google Cloud\. Sign in: gcloud auth application-default login\.$/,
      ),
    );
  });

  test('are read where gcloud leaves them, and their secrets are hidden', async () => {
    const path = write({
      type: 'authorized_user',
      client_id: 'x',
      client_secret: 'a-client-secret',
      refresh_token: '1//a-refresh-token',
      quota_project_id: 'paying-project',
    });
    const hidden = new SecretRedactor();
    const found = await open(hidden);
    assert.deepEqual([found.source, found.account, found.quotaProject], [path, undefined, 'paying-project']);
    assert.equal(hidden.hide('a-client-secret 1//a-refresh-token'), '••• •••');
  });

  test('of a file that is not there name the variable and the file', async () => {
    process.env['GOOGLE_APPLICATION_CREDENTIALS'] = join(folder, 'none.json');
    await assert.rejects(
      open,
      failsAs(
        'CredentialsMissing',
        /^GOOGLE_APPLICATION_CREDENTIALS names \S+none\.json, which does not exist or is not a file\./,
      ),
    );
  });

  test('of a folder in place of a file are no file', async () => {
    mkdirSync(join(folder, 'folder'));
    process.env['GOOGLE_APPLICATION_CREDENTIALS'] = join(folder, 'folder');
    await assert.rejects(open, failsAs('CredentialsMissing', /which does not exist or is not a file/));
  });

  for (const [what, content] of [
    ['is no JSON', '{"private_key": "-----BEGIN'],
    ['is empty', ''],
    ['is of another kind', { type: 'service_account', client_email: 'a@b' }],
  ] as const) {
    test(`of a file that ${what} say so and quote nothing of it`, async () => {
      process.env['GOOGLE_APPLICATION_CREDENTIALS'] = write(content, 'bad.json');
      await assert.rejects(open, (error: unknown) => {
        assert.ok(
          failsAs('CredentialsMissing', /bad\.json does not contain Google Cloud credentials/)(error),
          String(error),
        );
        assert.ok(!String(error).includes('BEGIN'));
        return true;
      });
    });
  }

  test('come from the metadata server on a machine of Google’s, also for the bearer of a GKE cluster', async () => {
    delete process.env['METADATA_SERVER_DETECTION'];
    const server = await MetadataStandIn.start({ email: 'vm@example.com', token: () => 'ya29.of-the-machine' });
    process.env['GCE_METADATA_HOST'] = server.host;
    try {
      const found = await open();
      assert.equal(found.source, 'the metadata server of this machine');
      const hidden = new SecretRedactor();
      const bearer = await gkeCredential({ hidden })(signal);
      assert.equal(bearer.token, 'ya29.of-the-machine');
      assert.ok(bearer.expiresAt && bearer.expiresAt.getTime() > Date.now() + 3_000_000);
      assert.equal(hidden.hide('ya29.of-the-machine'), '•••');
    } finally {
      await server.stop();
    }
  });

  test('of a machine without a service account are missing', async () => {
    const server = await MetadataStandIn.start();
    process.env['GCE_METADATA_HOST'] = server.host;
    process.env['METADATA_SERVER_DETECTION'] = 'assume-present';
    try {
      const found = await open();
      await assert.rejects(found.token(signal), failsAs('CredentialsMissing', /returned no token \(status 404\)/));
    } finally {
      await server.stop();
    }
  });

  test('are awaited only until the caller aborts', async () => {
    const server = await MetadataStandIn.start();
    server.hangs = true;
    process.env['GCE_METADATA_HOST'] = server.host;
    delete process.env['METADATA_SERVER_DETECTION'];
    const stop = new AbortController();
    try {
      const opening = openDefaultCredentials({ hidden: new SecretRedactor(), signal: stop.signal });
      stop.abort(new Error('Nobody wants it.'));
      await assert.rejects(opening, /Nobody wants it/);
    } finally {
      await server.stop();
    }
  });
});
