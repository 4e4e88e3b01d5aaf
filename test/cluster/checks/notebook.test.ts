import assert from 'node:assert/strict';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { tempFolder } from '../../harness/temp.ts';
import { run, startKernel, valueOf } from '../../kernel/support.ts';
import { names } from '../parts/sound/names.ts';
import { soundCluster, type SoundCluster } from '../parts/soundCluster.ts';

const lastText = (outputs: readonly KernelOutput[]): string => {
  const shown = outputs.findLast((output) => output.type === 'display_data' || output.type === 'update_display_data');
  return shown && 'data' in shown.content ? String(shown.content.data['text/plain']) : '';
};

suite('A notebook verifies a cluster', function () {
  this.timeout(120_000);
  let cluster: SoundCluster;
  let kernel: KernelProcess;

  suiteSetup(async () => {
    cluster = await soundCluster();
    kernel = await startKernel({ cwd: tempFolder() });
    const { rayCluster, namespace, serviceAccount } = cluster.profile;
    const profile = { kubeconfig: cluster.kubeconfig('alice'), rayCluster, namespace, serviceAccount };
    await run(kernel, `const profile = ${JSON.stringify(profile)};`);
  });
  suiteTeardown(() => kernel.shutdown());
  teardown(() => cluster.restore());

  test('that is sound, and shows that all of it is', async () => {
    const { reply, outputs } = await run(kernel, 'const sound = await cluster.check(profile)');
    assert.equal(reply.status, 'ok', lastText(outputs));
    assert.equal(await valueOf(kernel, 'sound.ok'), 'true');
    assert.match(lastText(outputs), /√ passed {3}rbac-pods-watch /);
  });

  test('that lacks a grant, and names the check, what is wrong and what mends it', async () => {
    const role = cluster.object('ClusterRole', names.role);
    const rules = (role['rules'] as { resources: string[]; verbs: string[] }[]).map((rule) =>
      rule.resources.includes('pods') ? { ...rule, verbs: ['get', 'list'] } : rule,
    );
    await cluster.api.replace({ ...role, rules });
    const { outputs } = await run(kernel, 'const report = await cluster.check(profile)');
    assert.equal(await valueOf(kernel, 'report.failed.map(({ id }) => id).join()'), "'rbac-pods-watch'");
    assert.match(lastText(outputs), /× failed {3}rbac-pods-watch /);
    assert.match(lastText(outputs), /may not watch pods in all namespaces/);
    assert.match(lastText(outputs), /check --mend rbac-pods-watch/);
  });
});
