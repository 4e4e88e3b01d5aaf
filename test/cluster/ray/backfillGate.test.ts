import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { tempFolder } from '../../harness/temp.ts';
import { cliEntry, command, type Ran } from '../../kernel/support.ts';
import { names } from '../parts/sound/names.ts';
import { takeVerb } from '../parts/sound/takeVerb.ts';
import { soundCluster, type SoundCluster } from '../parts/soundCluster.ts';

suite('A backfill on a cluster from a terminal: a real API server, objects for all else in it', function () {
  this.timeout(180_000);
  const folder = tempFolder();
  let cluster: SoundCluster;

  suiteSetup(async () => {
    cluster = await soundCluster();
    for (const name of ['data', 'state', '.vscode']) mkdirSync(join(folder, name));
    // A profile without a RayCluster, so that the backfill ends immediately after the checks.
    const prod = {
      kubeconfig: cluster.kubeconfig('alice'),
      namespace: names.namespace,
      serviceAccount: names.serviceAccount,
      labelDomain: names.labelDomain,
    };
    const settings = { 'lanceCatalog.cluster.profiles': { prod } };
    writeFileSync(join(folder, '.vscode/settings.json'), JSON.stringify(settings));
    const db = await openDir({ root: join(folder, 'data') });
    await db.createTable('products', [{ id: 1, caption: 'a mug' }]);
    await db.close();
  });

  teardown(() => cluster.restore());

  const backfill = (...args: string[]): Promise<Ran> => {
    const env = { XDG_DATA_HOME: join(folder, 'state'), LANCE_CATALOG: join(folder, 'data') };
    const words = [cliEntry, 'backfill', 'products', 'size', '--sql', 'length(caption)', '--profile', 'prod', ...args];
    return command(process.execPath, words, { cwd: folder, env, seconds: 150 });
  };

  test('is not begun where a check fails that it needs, and says which and what to do', async () => {
    await takeVerb(cluster, names.personRole, 'pods/portforward', 'create');
    const { code, stderr } = await backfill();
    assert.equal(code, 2, stderr);
    assert.match(stderr, /^"prod" is not ready for backfills:\n {2}You may not create pods\/portforward in geneva/);
    assert.match(stderr, /lance-catalog check --profile prod\. To run it anyway, add --yes\./);
  });

  test('goes on past a failed check where that was decided, having said it', async () => {
    await takeVerb(cluster, names.personRole, 'pods/portforward', 'create');
    const { stderr } = await backfill('--yes');
    assert.match(stderr, /^"prod" is not ready for backfills:/);
    assert.doesNotMatch(stderr, /To run it anyway/);
    assert.match(stderr, /RayCluster/, 'what comes after the checks');
  });

  test('is held up by no check of a sound cluster', async () => {
    const { stderr } = await backfill();
    assert.doesNotMatch(stderr, /not ready for backfills/);
    assert.match(stderr, /RayCluster/, 'what comes after the checks');
  });
});
