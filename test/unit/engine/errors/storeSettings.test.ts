import assert from 'node:assert/strict';
import { connectNamespace } from '#catalog/connect.ts';
import { checkStoreSettings } from '#engine/errors/storeSettings.ts';
import { registerDir } from '#engine/register.ts';
import { isCatalogError } from '#shared/errors.ts';

const s3 = 's3://bucket/root';

function refusal(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (isCatalogError(error, 'InvalidInput')) return error.message;
    throw error;
  }
  return '';
}

suite('the settings of an object store', () => {
  test('with an endpoint that is not a URL are refused by name', () => {
    for (const name of ['aws_endpoint', 'awsEndpoint', 'AWS_ENDPOINT_URL', 'endpoint', 'endpointUrl'])
      for (const value of ['nonsense', '', 'http://', 'localhost:9000', 'ftp://localhost', 'http://localhost:99999'])
        assert.equal(
          refusal(() => checkStoreSettings(s3, { [name]: value }, {})),
          `Expected an http:// or https:// URL for "${name}" of the storage options, got "${value}". ` +
            'Write for instance "https://s3.example.com" or "http://localhost:9000".',
        );
    assert.match(
      refusal(() => checkStoreSettings(s3, {}, { AWS_ENDPOINT: 'nonsense' })),
      /for the variable AWS_ENDPOINT, got "nonsense"/,
    );
  });

  test('with a region that has spaces are refused by name', () => {
    assert.match(
      refusal(() => checkStoreSettings(s3, { aws_region: 'non sense' }, {})),
      /Expected the name of a region for "aws_region" of the storage options, got "non sense"\. Write/,
    );
  });

  test('are not shown if they may hold a password', () => {
    assert.match(
      refusal(() => checkStoreSettings(s3, { aws_endpoint: 'me:secret@host' }, {})),
      /got another value/,
    );
  });

  test('are taken if they are right, and for other stores', () => {
    const right = {
      aws_endpoint: 'http://localhost:9000',
      endpoint: 'https://s3.example.com/x',
      region: 'eu-central-1',
    };
    checkStoreSettings(s3, right, { AWS_ENDPOINT: 'nonsense', AWS_REGION: 'us east' });
    checkStoreSettings(s3);
    checkStoreSettings('az://box/root', { endpoint: 'nonsense' }, {});
    checkStoreSettings('/tmp/root', { aws_endpoint: 'nonsense' }, { AWS_ENDPOINT: 'nonsense' });
  });

  test('that are wrong never reach the engine', async () => {
    registerDir();
    const db = await connectNamespace('dir', { root: s3, storageOptions: { aws_endpoint: 'nonsense' } });
    await assert.rejects(db.listTables(), { kind: 'InvalidInput', message: /"aws_endpoint" of the storage options/ });
    await db.close();
  });
});
