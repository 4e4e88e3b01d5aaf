import assert from 'node:assert/strict';
import { magicNames, usagesOf } from '../../kernel/session/magics/magicNames.ts';
import { inRoot } from '../../scripts/paths.ts';
import { python } from '../harness/python.ts';
import { tempFolder } from '../harness/temp.ts';
import { installedKernel } from './jupyterHome.ts';
import { command } from './support.ts';

type Seen = { out: string; err: string; value: string | null; error: string | null; asked: string[] };
type Case = { cell: string; answers?: string[] } & { [K in keyof Seen]?: RegExp };

/** Every form of every magic once, and what a client of Jupyter sees of it. */
const cases: readonly Case[] = [
  { cell: '%help', out: /%time code/ },
  { cell: '%time 6 * 7', out: /Wall time/, value: /^42$/ },
  { cell: '%%time\n6 * 8', out: /Wall time/, value: /^48$/ },
  { cell: '%timeit -n 2 -r 2 1 + 1', out: /2 runs, 2 loops each/ },
  { cell: '%%timeit -n 2 -r 2\n1 + 1', out: /2 runs, 2 loops each/ },
  { cell: 'let mine = 1\n%who', out: /^mine +number$/m },
  { cell: '%whos', out: /^mine +number +1$/m },
  { cell: '%reset', error: /%reset -f forgets them unasked/ },
  { cell: '%reset', answers: ['y'], asked: /Forget all variables/, out: /forgotten/ },
  { cell: '%env MAGIC=1\n%env MAGIC', out: /^MAGIC=1$/m },
  { cell: '%cd /', out: /^\/$/m },
  { cell: '%cd -', out: /./ },
  { cell: '%pwd', out: /./ },
  { cell: '%check warn\n%check error', out: /^error: /m },
  { cell: '%save saved 1', out: /saved\.ts$/m },
  { cell: '%install nothing-at-all', answers: ['n'], asked: /^Install nothing-at-all/, error: /Nothing was installed/ },
  { cell: '%sh echo out; exit 4', out: /^out$/m, error: /exit code 4/ },
  { cell: '%%sh\necho below', out: /^below$/m },
  { cell: '%%sql\nselect count(*) as n from shop.products', value: /n\n/ },
  { cell: '?db', out: /Catalog/ },
];

suite('Magics in Jupyter', function () {
  this.timeout(120_000);

  test('do there what they do in the editor', async () => {
    const { env } = await installedKernel();
    const given = JSON.stringify(cases.map(({ cell, answers }) => ({ cell, ...(answers && { answers }) })));
    const { code, stdout, stderr } = await command(python(), [inRoot('test/kernel/python/magics.py'), given], {
      env,
      cwd: tempFolder(),
      seconds: 100,
    });
    assert.equal(code, 0, stderr);
    const { completed, cells } = JSON.parse(stdout) as { completed: string[]; cells: Seen[] };
    assert.deepEqual(completed, ['%time', '%%time', '%timeit', '%%timeit']);
    for (const [index, { cell, answers: _, ...expected }] of cases.entries()) {
      const seen = cells[index];
      assert.ok(seen);
      for (const [key, pattern] of Object.entries(expected))
        assert.match(String(seen[key as keyof Seen]), pattern, cell);
      if (!expected.error) assert.equal(seen.error, null, cell);
    }
  });

  test('are all among these', () => {
    const written = cases.map(({ cell }) => cell).join('\n');
    const missing = magicNames
      .flatMap(usagesOf)
      .filter((usage) => !new RegExp(`^${usage.split(' ')[0]}\\b`, 'm').test(written));
    assert.deepEqual(missing, []);
  });
});
