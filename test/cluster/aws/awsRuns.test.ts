import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { eksCredential, loginToAws, signEksToken, stsOf } from '#cluster/aws/eksCredential.ts';
import { checkIdsByCategory } from '#cluster/checkIds.ts';
import { connectKube } from '#cluster/kube/connectKube.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckReport } from '#cluster/result.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { account, region } from '../parts/moto.ts';
import { problemsOf } from '../parts/outcome.ts';
import { names } from '../parts/sound/names.ts';
import { aws, type SoundAws, startSoundAws } from '../parts/soundAws.ts';
import { StandInServer } from '../standIns/standInServer.ts';

const problems = ({ results }: CheckReport): readonly string[] =>
  results.filter(({ status }) => status !== 'pass').map(({ id, status, sentence }) => `${id} ${status}: ${sentence}`);

suite('A run of the checks of AWS', function () {
  this.timeout(60_000);
  let sound: SoundAws;
  suiteSetup(async function () {
    this.timeout(120_000);
    sound = await startSoundAws();
  });
  suiteTeardown(() => sound.stop());
  teardown(() => sound.restore());

  const byEks = (): ClusterProfile => ({
    ...sound.profile,
    auth: { configMethod: 'EKS_AUTH', clusterName: aws.cluster, region, roleName: 'geneva-client' },
    aws: undefined,
  });

  /** Gives the client's role its permissions in Kubernetes. Kubernetes knows the role by the name of its session. */
  const letTheClientIn = (): Promise<void> =>
    sound.kube.api.apply({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'client' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: names.personRole },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: clientSession }],
    });
  const clientSession = `arn:aws:sts::${account}:assumed-role/geneva-client/session`;

  test('finds nothing wrong with a sound account, and leaves no object in the bucket', async () => {
    assert.deepEqual(problems(await sound.verify()), []);
    assert.deepEqual(await sound.moto.keysIn(aws.bucket), []);
  });

  test('has every check of AWS in its report, in their order', async () => {
    const { results } = await sound.verify();
    const ids = results.filter(({ category }) => category === 'aws').map(({ id }) => id);
    assert.deepEqual(ids, [...checkIdsByCategory.aws]);
  });

  test('writes nothing unless it may', async () => {
    const { results } = await sound.verify({ probe: false });
    const skipped = results.filter(({ status }) => status === 'skipped').map(({ id }) => id);
    const writing = ['put', 'head', 'get', 'delete'];
    assert.deepEqual(skipped, [
      ...writing.map((step) => `aws-client-bucket-${step}`),
      ...writing.map((step) => `irsa-bucket-${step}`),
    ]);
  });

  test('says nothing of AWS where the profile does not', async () => {
    const { results } = await sound.verify({ profile: { ...sound.profile, aws: undefined } });
    const ofAws = results.filter(({ category }) => category === 'aws');
    assert.deepEqual(
      [...new Set(ofAws.map(({ status, sentence }) => `${status}: ${sentence}`))],
      ['skipped: The profile is not on AWS.'],
    );
  });

  test('has no client role to assume where the profile names none, and goes on as the person', async () => {
    const { results } = await sound.verify({
      profile: { ...sound.profile, aws: sound.profile.aws && { ...sound.profile.aws, clientRole: undefined } },
      only: ['aws-assume-client', 'aws-client-trust'],
    });
    const found = Object.fromEntries(results.map(({ id, sentence }) => [id, sentence]));
    assert.equal(
      found['aws-assume-client'],
      `The profile has no client role, so the client acts as you, ${aws.alice}.`,
    );
    assert.equal(found['aws-client-trust'], 'The profile has no client role.');
  });

  test('signs in to the cluster by its name and a role, without a kubeconfig or a program', async () => {
    const { auth } = byEks();
    const connection = await connectKube(auth, { hidden: new SecretRedactor(), signal: new AbortController().signal });
    try {
      const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
      const { body } = await connection.request({ method: 'POST', path, body: review }, new AbortController().signal);
      assert.match(JSON.stringify(body), new RegExp(`"username":"${clientSession}"`));
      assert.equal(connection.server, sound.kube.address);
    } finally {
      await connection.close();
    }
  });

  test('takes who is the client role already as they are, though it does not trust itself', async () => {
    const options = { hidden: new SecretRedactor(), signal: new AbortController().signal };
    const login = { clusterName: aws.cluster, region, roleArn: 'geneva-client', profile: undefined };
    const client = await loginToAws(login, options);
    sound.signIn(client.keys);
    const { size } = sound.sts.sessions;
    assert.equal((await loginToAws(login, options)).keys.accessKeyId, client.keys.accessKeyId);
    const { results } = await sound.verify({ only: ['aws-assume-client'] });
    assert.equal(results.at(-1)?.sentence, `You already are the client role ${aws.clientRole}.`);
    assert.equal(sound.sts.sessions.size, size);
  });

  test('says once that a role may not be assumed, also where it is the way to the cluster', async () => {
    await sound.moto.setTrust('geneva-client', {
      ...sound.clientTrust,
      Principal: { AWS: `arn:aws:iam::${account}:user/bob` },
    });
    const report = await sound.verify({ profile: byEks() });
    assert.deepEqual(problemsOf(report), { 'aws-assume-client': 'fail', 'aws-client-trust': 'warn' });
    const way = report.results.find(({ id }) => id === 'kubeconfig-load');
    assert.deepEqual(way?.status === 'blocked' && way.by, ['eks-describe']);
  });

  test('makes a new token, with new keys, before the last one ends', async () => {
    const login = { clusterName: aws.cluster, region, roleArn: aws.clientRole, profile: undefined };
    const { signal } = new AbortController();
    const begun = Date.now();
    mock.timers.enable({ apis: ['Date'], now: begun });
    try {
      const source = eksCredential(login, { hidden: new SecretRedactor() });
      const first = await source(signal);
      const sessions = sound.sts.sessions.size;
      mock.timers.setTime(begun + 12 * 60_000);
      assert.equal((await source(signal)).token, first.token);
      assert.equal(sound.sts.sessions.size, sessions);
      mock.timers.setTime(begun + 13.5 * 60_000);
      assert.notEqual((await source(signal)).token, first.token);
      assert.equal(sound.sts.sessions.size, sessions + 1);
    } finally {
      mock.timers.reset();
    }
  });

  test('is refused with a token for another cluster, of another key, or of a role without an entry', async () => {
    const { hidden, signal } = { hidden: new SecretRedactor(), signal: new AbortController().signal };
    const login = { clusterName: aws.cluster, region, roleArn: aws.clientRole, profile: undefined };
    const { keys } = await loginToAws(login, { hidden, signal });
    const connection = await connectKube(sound.profile.auth, { hidden, signal });
    let seconds = 0;
    const whoami = async (clusterName: string, secretAccessKey = keys.secretAccessKey): Promise<void> => {
      // Create a new token each time, because the API server caches the user of a token.
      const now = new Date(Date.now() + 1000 * seconds++);
      const signed = { clusterName, region, keys: { ...keys, secretAccessKey }, sts: stsOf(region), now };
      const { token } = await signEksToken(signed);
      const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
      await connection.request({ method: 'POST', path, body, token }, signal);
    };
    try {
      await whoami(aws.cluster);
      await assert.rejects(whoami('another'), { kind: 'CredentialsRefused' });
      await assert.rejects(whoami(aws.cluster, 'another'), { kind: 'CredentialsRefused' });
      sound.eks.entries.clear();
      await assert.rejects(whoami(aws.cluster), { kind: 'CredentialsRefused' });
    } finally {
      await connection.close();
    }
  });

  test('passes when it signs in that way, too, and asks nothing twice', async () => {
    await letTheClientIn();
    const mark = sound.kube.audit.mark();
    const { size } = sound.sts.sessions;
    assert.deepEqual(problems(await sound.verify({ profile: byEks() })), []);
    // The run creates two sessions: one for the client and one for the service account.
    assert.equal(sound.sts.sessions.size, size + 2);
    const asked = sound.kube.audit.since(mark).map(({ verb, uri }) => `${verb} ${uri}`);
    assert.deepEqual(asked.toSorted(), [...new Set(asked)].toSorted());
  });

  test('removes its object when it is stopped while it writes', async () => {
    const stop = new AbortController();
    const slow = new StandInServer(async (received) => {
      if (received.request.method !== 'PUT') return undefined;
      // Hold back the response, so that the object exists when the run is stopped but the client does not know this
      // yet.
      const answer = await slow.pass(received);
      stop.abort();
      return answer;
    }, sound.moto.address);
    await slow.start();
    try {
      process.env['AWS_ENDPOINT_URL_S3'] = slow.address;
      const report = await sound.verify({ signal: stop.signal });
      assert.ok(report.stopped);
      assert.equal(report.left, undefined);
      assert.deepEqual(await sound.moto.keysIn(aws.bucket), []);
    } finally {
      await slow.stop();
    }
  });

  test('names the object that it could not remove', async () => {
    await sound.moto.forbid('geneva-client', 'delete');
    const { left = [] } = await sound.verify();
    const [key] = await sound.moto.keysIn(aws.bucket);
    await sound.moto.empty(aws.bucket);
    assert.equal(left.length, 1);
    assert.ok(left[0]?.startsWith(`The object s3://${aws.bucket}/${key} may still exist: `), left[0]);
  });

  test('shows no key, and no token, of anybody', async () => {
    const text = JSON.stringify(await sound.verify());
    const secrets = [sound.alice, ...[...sound.sts.sessions.values()].map((session) => session.keys)];
    assert.ok(secrets.length >= 3);
    for (const { accessKeyId, secretAccessKey, sessionToken } of secrets)
      for (const secret of [accessKeyId, secretAccessKey, sessionToken])
        assert.ok(secret === undefined || !text.includes(secret), 'The report has a secret in it.');
    assert.doesNotMatch(text, /eyJ[\w-]{20,}|k8s-aws-v1\./);
  });
});
