import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type KubeContext, listContexts, profileFromContext } from '#cluster/kubeconfig/contexts.ts';
import { readProfile } from '#cluster/profiles/profileReader.ts';
import { tempFolder } from '../../../harness/temp.ts';

const arn = 'arn:aws:eks:eu-west-1:123456789012:cluster/ml-prod';

const context = (name: string, more: Partial<KubeContext> = {}): KubeContext => ({
  name,
  cluster: name,
  user: name,
  namespace: undefined,
  server: 'https://x',
  isCurrent: false,
  kubeconfig: undefined,
  awsProfile: undefined,
  ...more,
});

suite('Contexts of a kubeconfig', () => {
  test('are listed with where they lead, the current one first, and one whose cluster is missing too', async () => {
    const file = join(tempFolder('contexts-'), 'config');
    writeFileSync(
      file,
      `current-context: prod
clusters: [{name: a, cluster: {server: 'https://a'}}]
users:
- name: alice
  user: {exec: {command: aws, env: [{name: AWS_PROFILE, value: work}]}}
contexts:
- {name: lost, context: {cluster: gone, user: alice}}
- {name: prod, context: {cluster: a, user: alice, namespace: ml}}
`,
    );
    const [first, second] = await listContexts({ kubeconfig: file });
    assert.deepEqual(first, {
      name: 'prod',
      cluster: 'a',
      user: 'alice',
      namespace: 'ml',
      server: 'https://a',
      isCurrent: true,
      kubeconfig: file,
      awsProfile: 'work',
    });
    assert.deepEqual([second?.name, second?.server], ['lost', '']);
  });

  test('of EKS make a profile with region, cluster and account', () => {
    assert.deepEqual(profileFromContext(context(arn, { awsProfile: 'work' })), {
      name: 'ml-prod',
      value: {
        context: arn,
        aws: { region: 'eu-west-1', clusterName: 'ml-prod', account: '123456789012', profile: 'work' },
      },
    });
    const alias = profileFromContext(context('prod', { cluster: arn }));
    assert.deepEqual(
      [alias.name, alias.value['aws']],
      ['prod', { region: 'eu-west-1', clusterName: 'ml-prod', account: '123456789012' }],
    );
    assert.deepEqual(profileFromContext(context('alice@ml.us-east-1.eksctl.io')).value['aws'], {
      region: 'us-east-1',
      clusterName: 'ml',
    });
  });

  test('of GKE make a profile with project, location and cluster', () => {
    assert.deepEqual(profileFromContext(context('gke_team-data_us-central1_ml')), {
      name: 'ml',
      value: {
        context: 'gke_team-data_us-central1_ml',
        gcp: { project: 'team-data', location: 'us-central1', clusterName: 'ml' },
      },
    });
  });

  test('of anything else make a profile with nothing that was guessed', () => {
    assert.deepEqual(profileFromContext(context('kind kind', { namespace: 'default' })), {
      name: 'kind-kind',
      value: { context: 'kind kind' },
    });
    assert.deepEqual(profileFromContext(context('dev', { namespace: 'ml', kubeconfig: '/k' })).value, {
      kubeconfig: '/k',
      context: 'dev',
      namespace: 'ml',
    });
  });

  test('make profiles that are read without a complaint', () => {
    for (const name of [arn, 'gke_team-data_us-central1-a_ml', 'alice@ml.us-east-1.eksctl.io', 'a/b c']) {
      const suggested = profileFromContext(context(name));
      assert.equal(readProfile(suggested.name, suggested.value).name, suggested.name);
    }
  });
});
