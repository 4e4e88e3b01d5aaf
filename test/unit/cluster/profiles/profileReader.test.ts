import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isClusterError } from '#cluster/errors.ts';
import { readProfile } from '#cluster/profiles/profileReader.ts';

/** Returns the message about a refused profile. */
function refusal(value: unknown): string {
  try {
    readProfile('prod', value);
  } catch (error) {
    if (!isClusterError(error)) throw error;
    assert.equal(error.kind, 'ProfileInvalid');
    return error.message;
  }
  throw new assert.AssertionError({ message: 'The profile was accepted.' });
}

function kubeconfigOf(kubeconfig: string): string | undefined {
  const { auth } = readProfile('prod', { kubeconfig }, join('/', 'work'));
  return auth.configMethod === 'LOCAL' ? auth.kubeconfig : undefined;
}

suite('A profile of a cluster', () => {
  test('is complete with nothing in it, as upstream documents what is left out', () => {
    const profile = readProfile('prod', {});
    assert.deepEqual(profile.auth, { configMethod: 'LOCAL', kubeconfig: undefined, context: undefined });
    assert.equal(profile.namespace, 'geneva');
    assert.equal(profile.serviceAccount, 'geneva-ray-runner');
    assert.equal(profile.labelDomain, 'geneva.lancedb.com');
    assert.equal(profile.usePortForwarding, true);
    assert.deepEqual(profile.headGroup, {
      numCpus: 4,
      memory: '8Gi',
      numGpus: 0,
      serviceAccount: 'geneva-ray-runner',
      nodeSelector: { 'geneva.lancedb.com/ray-head': 'true' },
      image: undefined,
      minReplicas: 1,
      maxReplicas: 1,
    });
    assert.deepEqual(
      profile.workerGroups.map(({ name, nodeSelector, minReplicas, maxReplicas }) => [
        name,
        Object.keys(nodeSelector),
        minReplicas,
        maxReplicas,
      ]),
      [['cpu-workers', ['geneva.lancedb.com/ray-worker-cpu'], 0, 100]],
    );
  });

  test('gives workers with GPUs more of everything, on nodes with that label', () => {
    const [, gpu] = readProfile('prod', {
      labelDomain: 'ray.example.com',
      workerGroups: [{}, { numGpus: 2 }],
    }).workerGroups;
    assert.deepEqual(
      [gpu?.name, gpu?.numCpus, gpu?.memory, gpu?.numGpus, gpu?.nodeSelector],
      ['gpu-workers-2', 8, '16Gi', 2, { 'ray.example.com/ray-worker-gpu': 'true' }],
    );
  });

  test('takes the names that Python has, at every level, and leaves names of labels alone', () => {
    const profile = readProfile('prod', {
      config_method: 'EKS_AUTH',
      cluster_name: 'ml',
      region: 'us-east-1',
      role_name: 'geneva-client',
      service_account: 'runner',
      head_group: { num_cpus: '500m', memory: 4096, node_selector: { node_kind: 'head' } },
      use_portforwarding: false,
      worker_groups: [{ num_gpus: 1, service_account: 'gpu-runner', min_replicas: 2 }],
      aws: { service_role: 'arn:aws:iam::123456789012:role/runner', profile: 'work' },
    });
    assert.deepEqual(profile.auth, {
      configMethod: 'EKS_AUTH',
      clusterName: 'ml',
      region: 'us-east-1',
      roleName: 'geneva-client',
      profile: 'work',
    });
    assert.equal(profile.usePortForwarding, false);
    assert.deepEqual(profile.headGroup.nodeSelector, { node_kind: 'head' });
    assert.equal(profile.headGroup.numCpus, '500m');
    assert.equal(profile.headGroup.serviceAccount, 'runner');
    assert.equal(profile.workerGroups[0]?.serviceAccount, 'gpu-runner');
    assert.equal(profile.workerGroups[0].minReplicas, 2);
    assert.deepEqual([profile.aws?.region, profile.aws?.clusterName], ['us-east-1', 'ml']);
  });

  test('takes a bucket apart', () => {
    assert.deepEqual(readProfile('prod', { storage: 's3://lake/tables/v1/' }).storage, {
      scheme: 's3',
      bucket: 'lake',
      prefix: 'tables/v1',
    });
    assert.deepEqual(readProfile('prod', { storage: 'gs://lake' }).storage, {
      scheme: 'gs',
      bucket: 'lake',
      prefix: '',
    });
  });

  test('finds a kubeconfig from home and from the folder of the settings', () => {
    assert.equal(kubeconfigOf('~/.kube/other'), join(homedir(), '.kube', 'other'));
    assert.equal(kubeconfigOf('kube/config'), join('/', 'work', 'kube', 'config'));
  });

  const refusals: readonly (readonly [name: string, value: unknown, message: RegExp])[] = [
    ['that is no object', ['x'], /^lanceCatalog\.cluster\.profiles\.prod must be an object .*, but is a list\./],
    [
      'with a value of another kind, naming its path and what it takes',
      { headGroup: { memory: true } },
      /profiles\.prod\.headGroup\.memory must be a number of MiB, or a string such as "8Gi", but is true\./,
    ],
    ['with a quantity that Kubernetes would not read', { headGroup: { memory: '8 GB' } }, /memory must be .*"8 GB"/],
    ['with a size of nothing', { headGroup: { numCpus: 0 } }, /numCpus must be a number of cores/],
    [
      'with a setting that there is not, guessing the one meant',
      { namespce: 'x' },
      /namespce is not a .* mean namespace\?/,
    ],
    [
      'with a setting that is like none, listing them',
      { colour: 'x' },
      /colour is not a setting .* Use one of configMethod,/,
    ],
    [
      'with a setting in both spellings',
      { rayVersion: '2.43.0', ray_version: '2.44.0' },
      /ray_version sets the same as rayVersion/,
    ],
    [
      'with a setting in both spellings, ours second',
      { head_group: { num_cpus: 1, numCpus: 2 } },
      /\.head_group\.numCpus sets the same as num_cpus\./,
    ],
    [
      'with values that do not go together, in the spelling that they are written in',
      { worker_groups: [{ min_replicas: 3, max_replicas: 2 }] },
      /profiles\.prod\.worker_groups\[0\]\.min_replicas must be at most/,
    ],
    [
      'with a way to sign in that there is not',
      { configMethod: 'SSH' },
      /must be "LOCAL" or "EKS_AUTH" or "IN_CLUSTER", but is "SSH"/,
    ],
    [
      'of EKS without its cluster',
      { configMethod: 'EKS_AUTH', region: 'us-east-1' },
      /\.clusterName is missing, but EKS_AUTH/,
    ],
    [
      'of a kubeconfig with a role that nobody would assume',
      { roleName: 'x' },
      /roleName applies only to EKS_AUTH, but configMethod is LOCAL/,
    ],
    [
      'with a namespace that Kubernetes would refuse',
      { namespace: 'Geneva_1' },
      /namespace must be the name of a Kubernetes namespace/,
    ],
    ['with a bucket of another store', { storage: 'az://x/y' }, /storage must be a bucket such as "s3:/],
    [
      'with an account as a number',
      { aws: { region: 'us-east-1', account: 123456789012 } },
      /account must be an AWS account ID, twelve digits in quotes/,
    ],
    [
      'with GPUs by halves',
      { workerGroups: [{}, { numGpus: 0.5 }] },
      /workerGroups\[1\]\.numGpus must be a whole number/,
    ],
    [
      'with fewer workers at most than at least',
      { workerGroups: [{ minReplicas: 3, maxReplicas: 2 }] },
      /minReplicas must be at most maxReplicas \(2\)/,
    ],
    [
      'with two groups of a name',
      { workerGroups: [{ name: 'a' }, { name: 'a' }] },
      /workerGroups\[1\]\.name must be a name that no other/,
    ],
    [
      'with a label that is no text',
      { headGroup: { nodeSelector: { 'a.b/c': true } } },
      /nodeSelector\["a\.b\/c"\] must be a string in quotes/,
    ],
    ['of Google Cloud without a project', { gcp: { location: 'us-central1' } }, /gcp\.project is missing/],
    ['with a catalog that is none', { catalog: { uri: 'https://x' } }, /catalog must be the name of a connection/],
  ];
  for (const [name, value, message] of refusals)
    test(`is refused ${name}`, () => assert.match(refusal(value), message));

  const planted = 'planted-secret-of-a-person';
  test('is refused with an address that has a password or a signature in it, and does not repeat it', () => {
    for (const storage of [`https://me:${planted}@example.com/x`, `https://example.com/x?X-Amz-Signature=${planted}`]) {
      const message = refusal({ storage });
      assert.match(message, /must be a bucket .*, but is a URL with a password or a query\./);
      assert.ok(!message.includes(planted));
    }
  });

  for (const value of [
    { token: planted },
    { password: planted },
    { aws: { secretAccessKey: planted } },
    { catalog: { implementation: 'rest', uri: 'https://x', apiKey: planted } },
    { catalog: { implementation: 'dir', root: 's3://x', storageOptions: { awsSecretAccessKey: planted } } },
    { context: `-----BEGIN PRIVATE KEY-----${planted}` },
    { headGroup: { nodeSelector: { x: `eyJhbGciOiJSUzI1NiJ9.${planted}` } } },
  ]) {
    test(`is refused with a secret in it, and does not repeat it: ${Object.keys(value).join()}`, () => {
      const message = refusal(value);
      assert.match(message, /looks like a secret/);
      assert.ok(!message.includes(planted));
    });
  }

  test('does not repeat a long text that was pasted into the wrong place', () => {
    const message = refusal({ namespace: `${planted}-${'x'.repeat(100)}` });
    assert.match(message, /a string of \d+ characters/);
  });
});
