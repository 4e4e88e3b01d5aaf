import assert from 'node:assert/strict';
import { CreateRoleCommand } from '@aws-sdk/client-iam';
import { AssumeRoleCommand } from '@aws-sdk/client-sts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckReport } from '#cluster/result.ts';
import { account, allow, roleArn } from '../parts/moto.ts';
import { sentenceOf } from '../parts/outcome.ts';
import { aws, serviceAccount, type SoundAws, startSoundAws } from '../parts/soundAws.ts';

const others = ({ results }: CheckReport): Record<string, string> =>
  Object.fromEntries(results.filter(({ status }) => status !== 'pass').map(({ id, status }) => [id, status]));

/** Accounts that work but are set up in an unusual way: no check may fail. */
suite('Nothing fails in a sound account of AWS', function () {
  this.timeout(120_000);
  let sound: SoundAws;
  suiteSetup(async () => (sound = await startSoundAws()));
  suiteTeardown(() => sound.stop());
  teardown(() => sound.restore());

  const withAws = (change: Partial<NonNullable<ClusterProfile['aws']>>): ClusterProfile => ({
    ...sound.profile,
    aws: sound.profile.aws && { ...sound.profile.aws, ...change },
  });

  test('whose cluster is private, where the kubeconfig goes by a tunnel to it', async () => {
    sound.eks.facts.endpoint = 'https://abc.gr7.eu-west-1.eks.amazonaws.invalid';
    assert.deepEqual(others(await sound.verify()), {});
  });

  test('if the user is in another account, which does not have the cluster', async () => {
    const [alice, elsewhere] = [sound.alice, '210987654321'];
    sound.sts.introduce(alice, 'alice', elsewhere);
    sound.eks.foreign.add(alice.accessKeyId);
    const trust = { ...sound.clientTrust, Principal: { AWS: `arn:aws:iam::${elsewhere}:user/alice` } };
    await sound.moto.setTrust('geneva-client', trust);
    const report = await sound.verify({ profile: withAws({ clientRole: aws.clientRole, account: elsewhere }) });
    // Without the permission to read these objects, the results are unknown.
    assert.deepEqual(others(report), {
      'aws-client-trust': 'skipped',
      'oidc-provider': 'skipped',
      'irsa-trust': 'skipped',
    });
  });

  test('where the role of the service account is in another account, and with it the provider', async () => {
    const role = 'arn:aws:iam::210987654321:role/geneva-service-role';
    await sound.kube.api.merge(serviceAccount, { metadata: { annotations: { 'eks.amazonaws.com/role-arn': role } } });
    await sound.moto.removeProvider(sound.providerArn);
    const report = await sound.verify({
      profile: withAws({ serviceRole: role }),
      only: ['oidc-provider', 'irsa-trust'],
    });
    assert.deepEqual(others(report), { 'oidc-provider': 'skipped', 'irsa-trust': 'skipped' });
    assert.match(
      sentenceOf(report, 'oidc-provider'),
      /in AWS account 210987654321, but you are signed in to account \d+/,
    );
  });

  test('that gives the service account its role by EKS Pod Identity', async () => {
    await sound.kube.api.merge(serviceAccount, { metadata: { annotations: { 'eks.amazonaws.com/role-arn': null } } });
    await sound.moto.removeProvider(sound.providerArn);
    sound.eks.podIdentities.push('a-geneva');
    const report = await sound.verify();
    const found = Object.entries(others(report));
    assert.deepEqual(
      found.filter(([, status]) => status !== 'skipped'),
      [],
    );
    assert.match(sentenceOf(report, 'irsa-annotation'), /gets its role from EKS Pod Identity \(a-geneva\)/);
    assert.match(sentenceOf(report, 'oidc-provider'), /needs none/);
  });

  /** Signs in as a session of a role with a path, as single sign-on does. */
  async function signInBySession(name: string, ...actions: readonly string[]): Promise<string> {
    const { moto } = sound;
    const trust = JSON.stringify({ Version: '2012-10-17', Statement: [sound.clientTrust] });
    const made = new CreateRoleCommand({ RoleName: name, Path: '/team/', AssumeRolePolicyDocument: trust });
    const arn = (await moto.iam.send(made)).Role?.Arn ?? '';
    await moto.permit(name, 'own', allow(['sts:*', 'eks:DescribeCluster', ...actions]));
    // Use a path that the role does not have. With the real path, moto would apply the trust policy to the
    // administrator.
    const asked = { RoleArn: roleArn(`given/${name}`), RoleSessionName: 'alice' };
    const { Credentials: given } = await moto.sts.send(new AssumeRoleCommand(asked));
    sound.signIn({ accessKeyId: given?.AccessKeyId ?? '', secretAccessKey: given?.SecretAccessKey ?? '' });
    process.env['AWS_SESSION_TOKEN'] = given?.SessionToken;
    return arn;
  }

  const only = ['eks-access-entry', 'eks-access-policy'] as const;

  test('where the person is the session of a role with a path, and the profile names no client role', async () => {
    const arn = await signInBySession('reader', 'iam:GetRole');
    assert.equal(arn, `arn:aws:iam::${account}:role/team/reader`);
    const entry = sound.eks.entries.get(aws.clientRole);
    assert.ok(entry);
    sound.eks.entries.set(arn, entry);
    const report = await sound.verify({ profile: withAws({ clientRole: undefined }), only });
    assert.deepEqual(others(report), {});
    assert.match(sentenceOf(report, 'eks-access-entry'), /role\/team\/reader has an access entry/);
  });

  test('if no user may read the path of that role', async () => {
    const arn = await signInBySession('blind');
    sound.eks.entries.set(arn, { type: 'STANDARD', kubernetesGroups: [], policies: [] });
    const report = await sound.verify({ profile: withAws({ clientRole: undefined }), only });
    assert.deepEqual(others(report), { 'eks-access-entry': 'skipped', 'eks-access-policy': 'skipped' });
    assert.match(sentenceOf(report, 'eks-access-entry'), /the role may have a path, which only iam:GetRole reports/);
  });
});
