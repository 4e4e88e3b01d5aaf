import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { kubectl, shellCommand } from '#cluster/fixes/commands.ts';
import type { Fix } from '#cluster/fixes/fix.ts';
import { grantByAccessEntry, grantLauncher, grantRunner, withRules } from '#cluster/fixes/roleFixes.ts';
import { readBinding, readRole } from '#cluster/kube/roles.ts';
import { limitRangeViolations, readQuota, shortagesOf } from '#cluster/kube/quota.ts';
import type { ClusterProfile } from '#cluster/profile.ts';

// The fields of a profile that fixes use.
const profile = {
  auth: { configMethod: 'LOCAL', kubeconfig: '/tmp/my files/k', context: 'prod' },
  namespace: 'geneva',
  serviceAccount: 'runner',
} as ClusterProfile;

const objectsOf = (mend: Fix): readonly Record<string, unknown>[] =>
  mend.kind === 'objects' ? mend.objects : assert.fail(`${mend.kind} is no objects`);

const role = (name: string, rules: readonly object[], more: object = {}) =>
  readRole({ metadata: { name }, rules, ...more }) ?? assert.fail('no role');
const binding = (roleName: string, ...subjects: readonly object[]) =>
  readBinding({
    metadata: { name: `of-${roleName}` },
    roleRef: { kind: 'ClusterRole', name: roleName },
    subjects,
  }) ?? assert.fail('no binding');
const runner = { kind: 'ServiceAccount', name: 'runner', namespace: 'geneva' };

suite('Commands', () => {
  test('are read back by a shell word for word', () => {
    const words = ['plain', "it's", 'two words', '$HOME', '`ls`', 'a"b', '', '*', ';rm', 'a\nb', '{x,y}', '-n'];
    const said = execFileSync('/bin/sh', ['-c', `printf '%s\\0' ${shellCommand(words)}`], { encoding: 'utf8' });
    assert.deepEqual(said.split('\0').slice(0, -1), words);
  });

  test('name the kubeconfig and the context of the profile', () => {
    assert.equal(kubectl(profile, 'get', 'nodes'), "kubectl --kubeconfig '/tmp/my files/k' --context prod get nodes");
  });

  test('give a session of an AWS role its rights by the access entry, since no binding can name it', () => {
    const aws = {
      region: 'eu-west-1',
      clusterName: 'c',
      clientRole: undefined,
      serviceRole: undefined,
      account: undefined,
    };
    const arn = 'arn:aws:sts::123456789012:assumed-role/client/alice';
    const mend = grantByAccessEntry({ ...profile, aws }, arn);
    assert.match(
      mend?.kind === 'command' ? mend.command : '',
      /^aws eks associate-access-policy --region eu-west-1 --cluster-name c --principal-arn arn:aws:iam::123456789012:role\/client /,
    );
    assert.equal(grantByAccessEntry({ ...profile, aws }, 'alice'), undefined);
    assert.equal(grantByAccessEntry(profile, arn), undefined);
  });
});

suite('Rules that are added to a role', () => {
  const wanted = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }];

  test('keep what is there, and come into the rule about the same', () => {
    const there = [
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'delete'] },
      { nonResourceURLs: ['/metrics'], verbs: ['get'] },
    ];
    assert.deepEqual(withRules(there, wanted), [
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'delete', 'list'] },
      { nonResourceURLs: ['/metrics'], verbs: ['get'] },
    ]);
  });

  test('come into a rule of their own where the others are about some objects only, or about more', () => {
    const there = [
      { apiGroups: [''], resources: ['pods'], resourceNames: ['one'], verbs: ['get'] },
      { apiGroups: [''], resources: ['pods', 'secrets'], verbs: ['get'] },
    ];
    assert.deepEqual(withRules(there, wanted), [...there, ...wanted]);
  });
});

const namesOf = (mend: Fix): unknown[] =>
  objectsOf(mend).map(({ kind, metadata }) => [kind, (metadata as { name: string }).name]);

suite('The grant of what the runner takes', () => {
  const ofItsOwn = [
    ['ClusterRole', 'lance-runner-geneva-runner'],
    ['ClusterRoleBinding', 'lance-runner-geneva-runner'],
  ];

  test('goes into the role of the service account where nobody else has that', () => {
    const known = { roles: [role('own', [])], bindings: [binding('own', runner)] };
    assert.deepEqual(namesOf(grantRunner(profile, known)), [['ClusterRole', 'own']]);
  });

  test('goes into a role of its own where others would be given it too', () => {
    const other = { kind: 'User', name: 'eve' };
    for (const bindings of [
      [binding('shared', runner, other)],
      [binding('shared', runner), binding('shared', other)],
    ]) {
      const mend = grantRunner(profile, { roles: [role('shared', [])], bindings });
      assert.deepEqual(namesOf(mend), ofItsOwn);
    }
  });

  test('goes into a role of its own where that of the service account belongs to the system, or is gathered from others', () => {
    const gathered = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } };
    for (const [name, more] of [
      ['system:node', {}],
      ['view', gathered],
    ] as const) {
      const mend = grantRunner(profile, { roles: [role(name, [], more)], bindings: [binding(name, runner)] });
      assert.deepEqual(namesOf(mend), ofItsOwn);
    }
  });

  test('goes into a role of its own where nothing can be seen', () => {
    assert.deepEqual(namesOf(grantRunner(profile, undefined)), ofItsOwn);
  });

  test('has no verb but those that it takes', () => {
    const [first] = objectsOf(grantRunner(profile, undefined));
    assert.deepEqual(first?.['rules'], [
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['ray.io'], resources: ['rayclusters'], verbs: ['get', 'patch', 'delete'] },
    ]);
  });
});

suite('The grant of what launching takes', () => {
  test('names a person by a name that Kubernetes takes, and a service account as one', () => {
    const person = objectsOf(grantLauncher(profile, 'arn:aws:iam::1:user/alice'));
    assert.deepEqual(
      person.map(({ metadata }) => (metadata as { name: string }).name),
      ['lance-client-arn:aws:iam::1:user-alice', 'lance-client-arn:aws:iam::1:user-alice'],
    );
    const account = objectsOf(grantLauncher(profile, 'system:serviceaccount:ci:launcher'));
    assert.deepEqual(account[1]?.['subjects'], [{ kind: 'ServiceAccount', namespace: 'ci', name: 'launcher' }]);
  });
});

const quota = (spec: object, used: object) => readQuota({ metadata: { name: 'q' }, spec, status: { used } });

suite('The room of a namespace', () => {
  test('is what a quota has left, for what it counts', () => {
    const found = quota(
      { hard: { 'requests.cpu': '10', 'count/pods': '5', configmaps: '1' } },
      { 'requests.cpu': '7500m' },
    );
    assert.ok(found);
    assert.deepEqual(shortagesOf(found, { 'requests.cpu': 2.5, 'count/pods': 5, 'limits.cpu': 99 }), []);
    assert.deepEqual(shortagesOf(found, { 'requests.cpu': 3, 'count/pods': 6 }), [
      { key: 'requests.cpu', needed: 3, left: 2.5, hard: 10 },
      { key: 'count/pods', needed: 6, left: 5, hard: 5 },
    ]);
  });

  test('is not bound by quotas of other pods than ours', () => {
    const hard = { pods: '0' };
    const selector = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] };
    assert.equal(quota({ hard, scopes: ['BestEffort'] }, {}), undefined);
    assert.equal(quota({ hard, scopes: ['Terminating'] }, {}), undefined);
    assert.equal(quota({ hard, scopeSelector: selector }, {}), undefined);
    assert.ok(quota({ hard, scopes: ['NotTerminating', 'NotBestEffort'] }, {}));
  });

  test('is bound by limit ranges for each container and for the pod', () => {
    const range = {
      spec: {
        limits: [
          { type: 'Container', max: { cpu: '4' } },
          { type: 'Pod', max: { memory: '10Gi' } },
          { type: 'PersistentVolumeClaim', max: { storage: '1Gi' } },
        ],
      },
    };
    const two = { cpu: 3, memory: 6 * 2 ** 30, gpu: 0 };
    assert.deepEqual(limitRangeViolations(range, [{ ...two, memory: 2 ** 30 }]), []);
    assert.deepEqual(
      limitRangeViolations(range, [two, two]).map(({ type, key, asked }) => [type, key, asked]),
      [['Pod', 'memory', 12 * 2 ** 30]],
    );
    assert.deepEqual(
      limitRangeViolations(range, [{ ...two, cpu: 5 }]).map(({ type, side, key }) => [type, side, key]),
      [['Container', 'max', 'cpu']],
    );
  });
});
