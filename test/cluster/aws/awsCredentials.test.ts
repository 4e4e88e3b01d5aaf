import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AwsIdentity, callerOf } from '#cluster/aws/awsIdentity.ts';
import { chainKeys } from '#cluster/aws/awsKeys.ts';
import { ClusterError, type ClusterErrorKind } from '#cluster/errors.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { freePorts } from '../../harness/freePorts.ts';
import { tempFolder } from '../../harness/temp.ts';
import { type Answer, StandInServer } from '../standIns/standInServer.ts';

const region = 'eu-west-1';
const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG' };

/** Creates a home directory with files of the AWS command line, isolated from the files of this machine. */
function moveIn(files: Readonly<Record<string, string>>): void {
  const home = tempFolder('aws-home-');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, '.aws', name)), { recursive: true });
    writeFileSync(join(home, '.aws', name), text);
  }
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
  Object.assign(process.env, { HOME: home, AWS_EC2_METADATA_DISABLED: 'true' });
}

const keysOf = (profile?: string, hidden = new SecretRedactor()) =>
  chainKeys({ region, profile, hidden, foundIn: undefined });

const fails = (asked: Promise<unknown>, kind: ClusterErrorKind, message: RegExp): Promise<void> =>
  assert.rejects(asked, (error) => {
    assert.ok(error instanceof ClusterError, String(error));
    assert.equal(error.kind, kind, error.message);
    assert.match(error.message, message);
    return true;
  });

/** Returns a profile with single sign-on and the token that the portal has issued. */
function signedInUntil(expiresAt: string): Readonly<Record<string, string>> {
  const session = createHash('sha1').update('company').digest('hex');
  const token = { startUrl: 'https://company.example/start', region, accessToken: 'planted-sso-token', expiresAt };
  return {
    config: `[profile work]
sso_session = company
sso_account_id = 123456789012
sso_role_name = Developer
region = ${region}
[sso-session company]
sso_region = ${region}
sso_start_url = https://company.example/start
sso_registration_scopes = sso:account:access
`,
    [`sso/cache/${session}.json`]: JSON.stringify(token),
  };
}

async function ask(endpoint: string, signal = new AbortController().signal): Promise<unknown> {
  moveIn({});
  process.env['AWS_ENDPOINT_URL_STS'] = endpoint;
  const identity = new AwsIdentity({ label: 'you', keys, region });
  try {
    return await callerOf(identity, signal);
  } finally {
    identity.close();
  }
}

const refusal = (status: number, code: string): Answer => ({
  status,
  type: 'text/xml',
  text: `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>${code}</Code><Message>The ${code}.</Message></Error></ErrorResponse>`,
});

suite('Credentials of AWS', function () {
  this.timeout(60_000);
  const before = { ...process.env };
  teardown(() => {
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
    Object.assign(process.env, before);
  });

  test('that are nowhere are missing, with what to do', async () => {
    moveIn({});
    await fails(
      keysOf(),
      'CredentialsMissing',
      /^No AWS credentials were found\. Sign in \("aws sso login"\), or set AWS_PROFILE to a profile/,
    );
  });

  test('of a profile that is not there are missing, and the profile is named', async () => {
    moveIn({ config: '[profile work]\nregion = eu-west-1\n' });
    await fails(
      keysOf('wrok'),
      'CredentialsMissing',
      /^There is no profile "wrok" with credentials in ~\/\.aws\/config/,
    );
  });

  test('of a sign-in that has ended are expired, with the command that renews it', async () => {
    moveIn(signedInUntil('2020-01-01T00:00:00Z'));
    await fails(
      keysOf('work'),
      'CredentialsExpired',
      /^The AWS sign-in of the profile "work" has expired\. Run "aws sso login --profile work"\.$/,
    );
  });

  test('of a profile that has never been signed in are missing, with the command that does it', async () => {
    const { config = '' } = signedInUntil('');
    moveIn({ config });
    await fails(keysOf('work'), 'CredentialsMissing', /Run "aws sso login --profile work"\.$/);
  });

  test('are read from the files again, because the user may sign in between two runs', async () => {
    moveIn({ credentials: '[default]\naws_access_key_id = AKIDFIRST\naws_secret_access_key = first\n' });
    assert.equal((await keysOf()).accessKeyId, 'AKIDFIRST');
    const file = join(process.env['HOME'] ?? '', '.aws', 'credentials');
    writeFileSync(file, '[default]\naws_access_key_id = AKIDSECOND\naws_secret_access_key = second\n');
    assert.equal((await keysOf()).accessKeyId, 'AKIDSECOND');
  });

  test('are out of sight before they are used', async () => {
    moveIn({ credentials: '[default]\naws_access_key_id = AKIDFIRST\naws_secret_access_key = planted-secret\n' });
    const hidden = new SecretRedactor();
    await keysOf(undefined, hidden);
    assert.equal(hidden.hide('planted-secret of AKIDFIRST'), '••• of •••');
  });

  suite('in front of a server', () => {
    let answer: Answer | undefined;
    const server = new StandInServer(() => (answer ? Promise.resolve(answer) : new Promise(() => {})));
    suiteSetup(() => server.start());
    suiteTeardown(() => server.stop());

    const refusals: readonly (readonly [status: number, code: string, kind: ClusterErrorKind, message: RegExp])[] = [
      [
        403,
        'ExpiredToken',
        'CredentialsExpired',
        /^AWS rejected your credentials, which have expired\. Sign in to AWS again/,
      ],
      [403, 'InvalidClientTokenId', 'CredentialsRefused', /^AWS does not recognize your access key/],
      [
        403,
        'SignatureDoesNotMatch',
        'CredentialsRefused',
        /^AWS rejected your signature .* Set the clock of this machine/,
      ],
      [
        403,
        'AccessDenied',
        'Forbidden',
        /^AWS does not allow you to call sts:GetCallerIdentity on the identity of the caller/,
      ],
      [400, 'Throttling', 'Throttled', /AWS throttled the request/],
      [503, 'ServiceUnavailable', 'Unavailable', /^AWS failed to process sts:GetCallerIdentity \(503/],
      [400, 'ValidationError', 'InvalidRequest', /The ValidationError\. \(ValidationError\)$/],
    ];
    for (const [status, code, kind, message] of refusals)
      test(`that are answered with ${code} are ${kind}`, async () => {
        answer = refusal(status, code);
        await fails(ask(server.address), kind, message);
      });

    test('meet a page of HTML where AWS should be', async () => {
      answer = { status: 200, type: 'text/html', text: '<!doctype html><html><body>Sign in</body></html>' };
      await fails(ask(server.address), 'WrongServer', /^The server that replied to sts:GetCallerIdentity is not AWS/);
    });

    test('meet a reply that says nothing', async () => {
      answer = { status: 200, type: 'text/xml', text: '<GetCallerIdentityResponse/>' };
      await fails(ask(server.address), 'WrongServer', /^The server that replied to sts:GetCallerIdentity is not AWS/);
    });

    test('meet nobody', async () => {
      const [port] = await freePorts(1);
      await fails(
        ask(`http://127.0.0.1:${port}`),
        'Unreachable',
        /^Can't reach AWS \(sts:GetCallerIdentity\): .*ECONNREFUSED/,
      );
    });

    test('meet a name that is nowhere', async () => {
      await fails(ask('http://sts.invalid'), 'Unreachable', /^Can't reach AWS \(sts:GetCallerIdentity\)/);
    });

    test('meet a server that never answers, and are given up when the run is', async () => {
      answer = undefined;
      await fails(ask(server.address, AbortSignal.timeout(200)), 'Aborted', /was canceled/);
    });
  });
});
