import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { environmentKeys } from '#cluster/aws/environmentKeys.ts';
import { loginToAws } from '#cluster/aws/eksCredential.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { StandInServer } from '../../../cluster/standIns/standInServer.ts';
import { tempFolder } from '../../../harness/temp.ts';

const region = 'eu-west-1';
const { signal } = new AbortController();

const read = (environment: Readonly<Record<string, string>>, profile?: string) =>
  environmentKeys({ region, profile, environment, foundIn: undefined, hidden: new SecretRedactor(), signal });

const profileText = (name: string, id: string): string =>
  `[${name}]\naws_access_key_id = ${id}\naws_secret_access_key = planted-secret\n`;

suite('Keys for a program with an environment of its own', function () {
  this.timeout(20_000);
  const before = { ...process.env };
  const folder = tempFolder();
  const asked: URLSearchParams[] = [];
  const key =
    '<Credentials><AccessKeyId>ASIASESSION</AccessKeyId><SecretAccessKey>planted-session-secret</SecretAccessKey><SessionToken>planted-session-token</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>';
  // Stands in for the used part of STS, because unit tests don't start moto.
  const sts = new StandInServer(({ body }) => {
    const fields = new URLSearchParams(body.toString());
    asked.push(fields);
    const action = fields.get('Action') ?? '';
    const result =
      action === 'GetCallerIdentity'
        ? '<Arn>arn:aws:sts::123456789012:assumed-role/geneva/alice</Arn><Account>123456789012</Account><UserId>A</UserId>'
        : key;
    const text = `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result>${result}</${action}Result></${action}Response>`;
    return Promise.resolve({ status: 200, type: 'text/xml', text });
  });
  suiteSetup(async () => {
    await sts.start();
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
    // The user's own credentials. No request may be signed with them.
    Object.assign(process.env, {
      HOME: folder,
      AWS_ACCESS_KEY_ID: 'AKIDUSER',
      AWS_SECRET_ACCESS_KEY: 'planted-of-user',
      AWS_ENDPOINT_URL_STS: sts.address,
      AWS_EC2_METADATA_DISABLED: 'true',
    });
    writeFileSync(join(folder, 'credentials'), profileText('default', 'AKIDDEFAULT') + profileText('work', 'AKIDWORK'));
    writeFileSync(join(folder, 'config'), profileText('profile other', 'AKIDOTHER'));
    writeFileSync(join(folder, 'token'), 'planted-web-token\n');
  });
  suiteTeardown(async () => {
    await sts.stop();
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
    Object.assign(process.env, before);
  });

  const own = {
    AWS_ACCESS_KEY_ID: 'AKIDENTRY',
    AWS_SECRET_ACCESS_KEY: 'planted-entry',
    AWS_SESSION_TOKEN: 'planted-t',
  };
  const web = { AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'token'), AWS_ROLE_ARN: 'arn:aws:iam::1:role/r' };
  const files = { AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'), AWS_CONFIG_FILE: join(folder, 'config') };
  const cases: readonly (readonly [Readonly<Record<string, string>>, string | undefined, string])[] = [
    [{ ...own, ...web, ...files, AWS_PROFILE: 'work' }, undefined, 'AKIDENTRY'],
    [{ ...web, ...files, AWS_PROFILE: 'work' }, undefined, 'ASIASESSION'],
    [{ ...files, AWS_PROFILE: 'work' }, undefined, 'AKIDWORK'],
    [{ ...files, AWS_PROFILE: 'other' }, undefined, 'AKIDOTHER'],
    [{ ...own, ...web, ...files }, 'work', 'AKIDWORK'],
  ];
  for (const [environment, profile, id] of cases)
    test(`are ${id} for ${Object.keys(environment).join(', ')}${profile === undefined ? '' : ' and --profile'}`, async () => {
      assert.equal((await read(environment, profile)).accessKeyId, id);
    });

  test('are out of sight, and assume the role by the name of the session and the external id', async () => {
    const hidden = new SecretRedactor();
    const login = {
      clusterName: 'c',
      region,
      roleArn: 'geneva',
      profile: undefined,
      sessionName: 'bob',
      externalId: 'x1',
    };
    const identity = await loginToAws({ ...login, environment: own }, { hidden, signal });
    identity.close();
    const assumed = asked.findLast((fields) => fields.get('Action') === 'AssumeRole');
    assert.deepEqual([assumed?.get('RoleSessionName'), assumed?.get('ExternalId')], ['bob', 'x1']);
    assert.equal(hidden.hide('AKIDENTRY planted-entry planted-t planted-session-secret'), '••• ••• ••• •••');
  });
});
