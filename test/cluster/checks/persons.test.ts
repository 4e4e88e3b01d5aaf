import assert from 'node:assert/strict';
import { type CheckId, checkIdsByCategory } from '#cluster/checkIds.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckReport, CheckResult } from '#cluster/result.ts';
import { verifyCluster } from '#cluster/verifyCluster.ts';
import { askedTwice } from '../parts/auditLog.ts';
import { mendIt, mendOf, resultOf, verify } from '../parts/faults.ts';
import type { KubeObject } from '../parts/kubeApi.ts';
import { names } from '../parts/sound/names.ts';
import { soundCluster, type SoundCluster } from '../parts/soundCluster.ts';

const rbac = 'rbac.authorization.k8s.io';

const withStatus = ({ results }: CheckReport, status: CheckResult['status']): CheckId[] =>
  results.filter((result) => result.status === status).map(({ id }) => id);

suite('The checks for persons with few rights', function () {
  this.timeout(120_000);
  let cluster: SoundCluster;
  let profile: ClusterProfile;

  suiteSetup(async () => {
    cluster = await soundCluster();
    const kubeconfig = cluster.kubeconfig({ user: 'bob', groups: ['devs'] });
    profile = { ...cluster.profile, auth: { configMethod: 'LOCAL', kubeconfig } };
  });

  teardown(() => cluster.restore());

  type Rule = readonly [group: string, resource: string, ...verbs: string[]];

  /** Gives Bob these permissions, in all namespaces or only in the profile's namespace. */
  async function grant(kind: 'ClusterRole' | 'Role', ...rules: readonly Rule[]): Promise<void> {
    const metadata = { name: 'bob', ...(kind === 'Role' && { namespace: names.namespace }) };
    const role: KubeObject = {
      apiVersion: `${rbac}/v1`,
      kind,
      metadata,
      rules: rules.map(([group, resource, ...verbs]) => ({ apiGroups: [group], resources: [resource], verbs })),
    };
    const binding: KubeObject = {
      apiVersion: `${rbac}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: rbac, kind, name: 'bob' },
      subjects: [{ apiGroup: rbac, kind: 'User', name: 'bob' }],
    };
    await cluster.api.apply(role, binding);
  }

  const look: readonly Rule[] = [
    ['', 'namespaces', 'get'],
    ['', 'serviceaccounts', 'get'],
  ];

  const roleIds = checkIdsByCategory.identity.filter((id) => /^rbac-(?:pods|rayclusters)-/.test(id));

  test('fail a person without any right only for what they may not do themselves', async () => {
    const report = await verify(profile);
    const launch = checkIdsByCategory.identity.filter((id) => id.startsWith('client-') && id !== 'client-nodes-list');
    assert.deepEqual(withStatus(report, 'fail'), launch);
    assert.deepEqual(withStatus(report, 'warn'), ['client-nodes-list']);
    assert.deepEqual(withStatus(report, 'blocked'), []);
  });

  test('give the reason of each skip for them, with the server it is from', async () => {
    const report = await verify(profile);
    for (const id of ['ns-exists', 'nodes-head', 'operator-running'] as const)
      assert.match(resultOf(report, id).sentence, /^You lack the permission: .*User "bob" cannot /);
  });

  test('see by what is served, where definitions may not be read, that KubeRay is there', async () => {
    const { status, evidence } = resultOf(await verify(profile), 'crd-rayclusters');
    assert.equal(status, 'pass');
    assert.deepEqual(
      evidence.map(({ asked }) => asked),
      ['GET /apis/ray.io/v1'],
    );
  });

  test('pass for launching once the person has what the mend gives', async () => {
    await mendIt(cluster, mendOf(resultOf(await verify(profile), 'client-rayclusters-create')));
    const failed = withStatus(await verify(profile), 'fail');
    assert.deepEqual(failed, []);
  });

  test('find the namespace by the service account in it for who has a role in the namespace alone', async () => {
    await grant('Role', ['', 'serviceaccounts', 'get']);
    const report = await verify(profile);
    assert.equal(resultOf(report, 'ns-exists').status, 'pass');
    assert.equal(resultOf(report, 'sa-exists').status, 'pass');
  });

  test('find the operator in the namespace for who may not look into others', async () => {
    await grant('Role', ['apps', 'deployments', 'list']);
    assert.equal(resultOf(await verify(profile), 'operator-running').status, 'pass');
  });

  test('do not report a missing operator if the user may not read its namespace', async () => {
    await grant('Role', ['apps', 'deployments', 'list']);
    const operator = cluster.object('Deployment', names.operator);
    await cluster.api.delete(operator);
    await cluster.api.apply({ ...operator, metadata: { ...operator.metadata, namespace: 'kube-system' } });
    const { status, sentence } = resultOf(await verify(profile), 'operator-running');
    assert.equal(status, 'skipped');
    assert.match(
      sentence,
      /^No operator is in geneva\. It may be in another namespace, where you may not list deployments/,
    );
  });

  for (const [way, rule, sentence] of [
    ['acting as the service account', ['', 'serviceaccounts', 'impersonate'], /but you may act as geneva\/geneva-sa/],
    [
      'a token of the service account',
      ['', 'serviceaccounts/token', 'create'],
      /but you may create a token for geneva\/geneva-sa/,
    ],
  ] as const) {
    test(`find out by ${way} what it may do, and ask nothing twice`, async () => {
      await grant('ClusterRole', ...look, rule);
      const mark = cluster.audit.mark();
      const report = await verify(profile);
      assert.deepEqual(askedTwice(cluster.audit.since(mark)), []);
      assert.match(resultOf(report, 'sar-allowed').sentence, sentence);
      assert.deepEqual(
        roleIds.map((id) => resultOf(report, id).status),
        roleIds.map(() => 'pass'),
      );
    });

    test(`find by ${way} a verb that is missing`, async () => {
      await grant('ClusterRole', ...look, rule);
      const rules = [
        { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: ['ray.io'], resources: ['rayclusters'], verbs: ['get', 'delete'] },
      ];
      await cluster.api.merge(cluster.object('ClusterRole', names.role), { rules });
      const report = await verify(profile);
      assert.deepEqual(
        withStatus(report, 'fail').filter((id) => id.startsWith('rbac-')),
        ['rbac-rayclusters-patch'],
      );
      // Bob can't read roles, so the fix creates a separate role.
      await mendIt(cluster, mendOf(resultOf(report, 'rbac-rayclusters-patch')));
      assert.equal(resultOf(await verify(profile), 'rbac-rayclusters-patch').status, 'pass');
    });
  }

  test('skip the permissions of the service account if they can not be read', async () => {
    await grant('ClusterRole', ...look);
    const report = await verify(profile);
    assert.match(resultOf(report, 'sar-allowed').sentence, /so its permissions are not known/);
    assert.deepEqual(
      roleIds.map((id) => resultOf(report, id).status),
      roleIds.map(() => 'skipped'),
    );
  });

  test('say that the operator of a managed add-on may be hidden', async () => {
    await cluster.api.delete(cluster.object('Deployment', names.operator));
    const gcp = { project: 'p', location: 'l', clusterName: 'c', serviceAccount: undefined };
    const report = await verifyCluster(
      { ...cluster.profile, gcp },
      { signal: AbortSignal.timeout(60_000), only: ['operator-running'] },
    );
    const { status, sentence } = resultOf(report, 'operator-running');
    assert.equal(status, 'skipped');
    assert.match(sentence, /managed GKE Ray add-on hides its operator/);
  });

  test('read a list of nodes to its end, page by page', async () => {
    const head = cluster.object('Node', names.nodes.head);
    const more = Array.from({ length: 520 }, (_, index) => ({ ...head, metadata: { name: `a-${index}`, labels: {} } }));
    for (const node of more) delete (node as KubeObject)['status'];
    while (more.length > 0) await Promise.all(more.splice(0, 40).map((node) => cluster.api.apply(node)));
    const mark = cluster.audit.mark();
    // The check must read both pages: nodes are listed by name, and the nodes of this cluster are on the second page.
    assert.equal(resultOf(await verify(cluster.profile), 'nodes-head').status, 'pass');
    const lists = cluster.audit.since(mark).filter(({ uri }) => uri.startsWith('/api/v1/nodes?'));
    assert.equal(lists.length, 2);
  });
});
