import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { snapshotVariable } from '#processes/startSnapshot.ts';
import { cacheFolder, dataFolder } from '#processes/userFolders.ts';
import { tempFolder } from '../../harness/temp.ts';
import { run, startKernel, until, valueOf } from '../support.ts';

suite('What cells import', function () {
  this.timeout(60_000);

  test('is kept compiled for later kernels, though this one may be killed', async () => {
    const home = tempFolder();
    // Clear `NODE_COMPILE_CACHE`, which a test run sets, so that the kernel uses the cache in its own folder.
    const env = { HOME: home, XDG_DATA_HOME: join(home, 'data'), NODE_COMPILE_CACHE: '' };
    // Strings of a program are also in its compiled form.
    const marker = 'text of a package that a cell imports';
    const file = join(home, 'node_modules/marked/index.js');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `exports.text = '${marker}';`);
    const cache = join(dataFolder({ env, platform: process.platform, home }), 'compile-cache');
    // A file that is still being written has another name, with a dot.
    const isKept = () =>
      readdirSync(cache, { recursive: true, withFileTypes: true })
        .filter((each) => each.isFile() && !each.name.includes('.'))
        .some((each) => readFileSync(join(each.parentPath, each.name)).includes(marker));
    const kernel = await startKernel({ cwd: home, env, typeCheck: 'off' });
    try {
      await run(kernel, "import { text } from 'marked'; text.length");
      await until('the compiled package', isKept);
    } finally {
      await kernel.shutdown();
    }
  });

  for (const [when, waits] of [
    ['when nothing runs', true],
    ['at the end of one that never waited', false],
  ] as const)
    test(`has its declarations outlined for later kernels, which check cells by them: ${when}`, async () => {
      const home = tempFolder();
      const env = { HOME: home, XDG_CACHE_HOME: join(home, 'cache'), [snapshotVariable]: 'off' };
      const records = join(cacheFolder({ env, platform: process.platform, home }), 'declarations');
      const write = (name: string, text: string) => {
        const file = join(home, 'node_modules/outlined', name);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
      };
      write('package.json', '{"name": "outlined", "version": "1.0.0", "main": "index.js", "types": "index.d.ts"}');
      write('index.js', 'exports.count = (list) => list.length;');
      write('index.d.ts', "export { count } from './count';\n");
      write('count.d.ts', '/** Counts. */\nexport declare function count(list: readonly unknown[]): number;\n');
      const isOutlined = () =>
        existsSync(records) &&
        readdirSync(records).some((each) => readFileSync(join(records, each), 'utf8').includes('count.d.ts'));
      for (const life of ['first', 'second']) {
        const kernel = await startKernel({ cwd: home, env });
        try {
          assert.equal(await valueOf(kernel, "import { count } from 'outlined'; count([1, 2])"), '2', life);
          const refused = String(await valueOf(kernel, 'const text: string = count([]);'));
          assert.match(refused, /Type 'number' is not assignable to type 'string'/, life);
          if (waits) await until('the outlines', isOutlined);
        } finally {
          await kernel.shutdown();
        }
        await until('the outlines', isOutlined);
      }
    });
});
