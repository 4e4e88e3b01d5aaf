import assert from 'node:assert/strict';
import { profilesForKernels } from '../../../../extension/cluster/profilesForKernels.ts';
import type { Connection } from '../../../../extension/explorer/node.ts';

const connections: readonly Connection[] = [
  { name: 'tables', kind: 'dir', root: '/data', source: 'person' },
  { name: 'company', kind: 'rest', uri: 'https://catalog.example.com', database: 'sales', source: 'person' },
];

const told = (profile: unknown): unknown =>
  (JSON.parse(profilesForKernels({ prod: profile }, connections, '/work/team')) as { prod: unknown }).prod;

suite('the cluster profiles for a kernel', () => {
  test('names a kubeconfig by a path that means the same in every folder', () => {
    assert.deepEqual(told({ kubeconfig: 'kube/dev.yaml' }), { kubeconfig: '/work/team/kube/dev.yaml' });
    for (const path of ['/etc/kube.yaml', '~/kube.yaml'])
      assert.deepEqual(told({ kubeconfig: path }), { kubeconfig: path });
  });

  test('has the address of a catalog in place of the name of a connection, without its key', () => {
    assert.deepEqual(told({ catalog: 'tables' }), { catalog: { implementation: 'dir', root: '/data' } });
    assert.deepEqual(told({ catalog: 'company' }), {
      catalog: { implementation: 'rest', uri: 'https://catalog.example.com', database: 'sales' },
    });
  });

  test('is what is written where there is nothing to replace, right or wrong', () => {
    for (const profile of [{ namespace: 'geneva' }, { catalog: 'elsewhere' }, 'nonsense', null, 3])
      assert.deepEqual(told(profile), profile);
  });
});
