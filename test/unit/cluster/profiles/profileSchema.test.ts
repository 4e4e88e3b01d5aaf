import assert from 'node:assert/strict';
import { profileFields } from '#cluster/profiles/profileFields.ts';
import { readProfile } from '#cluster/profiles/profileReader.ts';
import { profileSchema } from '#cluster/profiles/profileSchema.ts';
import { isRecord } from '#shared/records.ts';

const propertiesOf = (schema: unknown): Record<string, unknown> => {
  const properties = isRecord(schema) ? schema['properties'] : undefined;
  assert.ok(isRecord(properties));
  return properties;
};

/** One profile for each kind of sign-in, with all settings that this kind allows. */
const full = {
  configMethod: 'LOCAL',
  kubeconfig: '/k',
  context: 'c',
  namespace: 'n',
  serviceAccount: 's',
  labelDomain: 'a.b',
  rayCluster: 'r',
  rayVersion: '2.43.0',
  usePortForwarding: false,
  headGroup: { numCpus: 4, memory: '8Gi', numGpus: 0, serviceAccount: 's', nodeSelector: { a: 'b' }, image: 'i' },
  workerGroups: [{ name: 'w', minReplicas: 1, maxReplicas: 2 }],
  storage: 's3://bucket/x',
  aws: { region: 'us-east-1', clusterName: 'c', clientRole: 'r', account: '123456789012', profile: 'p' },
  gcp: {
    project: 'project-1',
    location: 'us-central1',
    clusterName: 'c',
    serviceAccount: 's@p.iam.gserviceaccount.com',
  },
  catalog: 'work',
};

suite("The editor's schema of profiles", () => {
  test('offers every setting that the reader takes, with words, and no other', () => {
    const offered = Object.entries(propertiesOf(profileSchema)).filter(
      ([, one]) => isRecord(one) && one['doNotSuggest'] !== true,
    );
    assert.deepEqual(
      offered.map(([name]) => name),
      Object.keys(profileFields),
    );
    for (const [name, one] of offered) assert.ok(isRecord(one) && one['markdownDescription'], name);
  });

  test('has what the reader takes, down to its sections', () => {
    readProfile('full', full);
    const visit = (schema: unknown, value: unknown, path: string): void => {
      if (!isRecord(value)) return;
      const properties = propertiesOf(schema);
      for (const [key, each] of Object.entries(value)) {
        const property = properties[key];
        assert.ok(property, `${path}.${key}`);
        if (isRecord(property) && isRecord(property['properties'])) visit(property, each, `${path}.${key}`);
        if (isRecord(property) && Array.isArray(each)) visit(property['items'], each[0], `${path}.${key}`);
      }
    };
    visit(profileSchema, full, 'profile');
  });

  test("checks the service's names like ours, without offering them", () => {
    const { properties, ...headGroup } = propertiesOf(profileSchema)['headGroup'] as Record<string, unknown>;
    const { properties: others, ...other } = propertiesOf(profileSchema)['head_group'] as Record<string, unknown>;
    assert.deepEqual([other, others], [{ ...headGroup, doNotSuggest: true }, properties]);
    const { numCpus, num_cpus: ofService } = propertiesOf(propertiesOf(profileSchema)['head_group']);
    assert.deepEqual(ofService, { ...(numCpus as object), doNotSuggest: true });
    const { use_portforwarding: forwarding } = propertiesOf(profileSchema);
    assert.ok(isRecord(forwarding));
    assert.equal(forwarding['type'], 'boolean');
  });

  test('is plain data, as package.json holds it', () => {
    assert.deepEqual(JSON.parse(JSON.stringify(profileSchema)), profileSchema);
  });
});
