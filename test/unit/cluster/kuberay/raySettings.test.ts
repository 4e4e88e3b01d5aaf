import assert from 'node:assert/strict';
import { isClusterError } from '#cluster/errors.ts';
import { type RaySettings, readRaySettings } from '#cluster/kuberay/raySettings.ts';
import { readProfile } from '#cluster/profiles/profileReader.ts';

const read = (value: unknown): Promise<RaySettings> =>
  readRaySettings(value, async (name) => readProfile(name, { rayCluster: name === 'prod' ? 'backfills' : undefined }));

/** Returns the message of a refusal. */
async function refusal(value: unknown): Promise<string> {
  const [{ status, ...result }] = await Promise.allSettled([read(value)]);
  assert.ok(
    status === 'rejected' && 'reason' in result && isClusterError(result.reason),
    'The settings were accepted.',
  );
  assert.equal(result.reason.kind, 'ProfileInvalid');
  return result.reason.message;
}

suite('The settings of ray.cluster()', () => {
  const ours = {
    name: 'backfills',
    namespace: 'ml',
    configMethod: 'EKS_AUTH',
    clusterName: 'ml-cluster',
    region: 'us-east-1',
    roleName: 'client',
    usePortForwarding: false,
    headGroup: { serviceAccount: 'head', numCpus: 2, memory: 4096, nodeSelector: { kind: 'head' } },
    workerGroups: [
      { name: 'cpu', minReplicas: 1, serviceAccount: 'work', numCpus: 4, memory: 4096, nodeSelector: { kind: 'cpu' } },
    ],
    onExit: 'retain',
    idleTimeoutSeconds: 5,
  };
  const ofService = {
    name: 'backfills',
    namespace: 'ml',
    config_method: 'EKS_AUTH',
    cluster_name: 'ml-cluster',
    region: 'us-east-1',
    role_name: 'client',
    use_portforwarding: false,
    head_group: { service_account: 'head', num_cpus: 2, memory: 4096, node_selector: { kind: 'head' } },
    worker_groups: [
      {
        name: 'cpu',
        min_replicas: 1,
        service_account: 'work',
        num_cpus: 4,
        memory: 4096,
        node_selector: { kind: 'cpu' },
      },
    ],
    on_exit: 'retain',
    idle_timeout_seconds: 5,
  };

  test("mean the same by our names, by the service's, and mixed", async () => {
    const { profile, spec, onExit } = await read(ours);
    assert.equal(profile.usePortForwarding, false);
    assert.equal(spec.workers[0]?.minReplicas, 1);
    assert.deepEqual([onExit, spec.idleTimeoutSeconds], ['retain', 5]);
    const { headGroup: _replaced, ...others } = ours;
    const { num_cpus, ...head } = ofService.head_group;
    const mixed = { ...others, head_group: { ...head, numCpus: num_cpus } };
    for (const other of [ofService, mixed]) {
      const got = await read(other);
      assert.deepEqual([got.profile, got.spec, got.onExit], [profile, spec, onExit]);
    }
  });

  test('are read again elsewhere from what they were read from', async () => {
    const { from, profile } = await read(ofService);
    assert.deepEqual(readProfile({ call: 'ray.cluster' }, from), profile);
  });

  const refusals: readonly (readonly [name: string, value: unknown, message: RegExp])[] = [
    ['without a name', {}, /^ray\.cluster\(\{ … \}\) is missing the option "name"\. /],
    [
      'with a wrong value, in the spelling of the call',
      { name: 'a', worker_groups: [{ memory: 'lots' }] },
      /^ray\.cluster\(\{ worker_groups\[0\]\.memory: … \}\) must be a number of MiB, .*, but is "lots"\. Correct it in the call\.$/,
    ],
    [
      'with values that do not go together, in the spelling of the call',
      { name: 'a', worker_groups: [{ min_replicas: 3, max_replicas: 2 }] },
      /^ray\.cluster\(\{ worker_groups\[0\]\.min_replicas: … \}\) must be at most/,
    ],
    [
      'with a setting missing, in the spelling of those beside it',
      { name: 'a', config_method: 'EKS_AUTH', region: 'us-east-1', role_name: 'r' },
      /^ray\.cluster\(\{ cluster_name: … \}\) is missing, but EKS_AUTH requires it/,
    ],
    [
      'with a setting for another way to sign in',
      { name: 'a', role_name: 'r' },
      /^ray\.cluster\(\{ role_name: … \}\) applies only to EKS_AUTH, but config_method is LOCAL\. Remove it, or set config_method to/,
    ],
    [
      'with an option that does not exist, and guess the one meant',
      { nmae: 'a' },
      /^ray\.cluster\(\{ nmae: … \}\) is not an option of ray\.cluster\. Did you mean name\?$/,
    ],
    [
      'with a setting in both spellings, and name both',
      { name: 'a', head_group: {}, headGroup: {} },
      /^ray\.cluster\(\{ headGroup: … \}\) sets the same as head_group\./,
    ],
    [
      'with port forwarding in both spellings, and name both',
      { name: 'a', usePortForwarding: true, use_portforwarding: false },
      /^ray\.cluster\(\{ use_portforwarding: … \}\) sets the same as usePortForwarding\./,
    ],
    [
      'with an option of the call in both spellings, and name both',
      { name: 'a', on_exit: 'retain', onExit: 'delete' },
      /^ray\.cluster\(\{ onExit: … \}\) sets the same as on_exit\./,
    ],
    ['with a name missing where the profile has none either', { profile: 'test' }, /is missing the option "name"/],
  ];
  for (const [name, value, message] of refusals)
    test(`are refused ${name}`, async () => assert.match(await refusal(value), message));

  test('take the name from the profile where it has one', async () => {
    assert.equal((await read({ profile: 'prod' })).spec.name, 'backfills');
  });
});
