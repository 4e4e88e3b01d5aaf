import assert from 'node:assert/strict';
import { join } from 'node:path';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { installedKernel } from '../jupyter/jupyterHome.ts';
import { command } from '../support.ts';
import { counting, magicCases, type MagicSeen, unwrittenMagics } from './magicCases.ts';
import { registryStandIn } from './registryStandIn.ts';

suite('Magics in Jupyter', function () {
  this.timeout(180_000);
  let registry: Awaited<ReturnType<typeof registryStandIn>>;
  suiteSetup(async () => {
    registry = await registryStandIn([counting('1.0.0', 1), counting('2.0.0', 2)]);
  });
  suiteTeardown(() => registry.close());

  test('do there what they do in the editor', async () => {
    const { env } = await installedKernel();
    const folder = tempFolder();
    const cases = magicCases(registry.url, join(tempFolder(), 'cache'));
    const given = JSON.stringify(cases.map(({ cell, answers }) => ({ cell, ...(answers && { answers }) })));
    const { code, stdout, stderr } = await command(python(), [inRoot('test/kernel/python/magics.py'), given], {
      env: { ...env, SHELL: '/bin/sh' },
      cwd: folder,
      seconds: 150,
    });
    assert.equal(code, 0, stderr);
    const { completed, cells } = JSON.parse(stdout) as { completed: string[]; cells: MagicSeen[] };
    assert.deepEqual(completed, ['%time', '%%time', '%timeit', '%%timeit']);
    for (const [index, { cell, answers: _, ...expected }] of cases.entries()) {
      const seen = cells[index];
      assert.ok(seen);
      if (!expected.error) assert.equal(seen.error, null, cell);
      for (const [key, pattern] of Object.entries(expected))
        assert.match(String(seen[key as keyof MagicSeen]), pattern, cell);
    }
  });

  test('are all among these, with all their options', () => {
    assert.deepEqual(unwrittenMagics(magicCases('', '')), []);
  });
});
