import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dataFolder } from '../../kernel/client/personFolders.ts';
import { tempFolder } from '../harness/temp.ts';
import { run, startKernel, until } from './support.ts';

suite('What cells import', function () {
  this.timeout(60_000);

  test('is kept compiled for later kernels, though this one may be killed', async () => {
    const home = tempFolder();
    // A run of tests has a cache of its own.
    const env = { HOME: home, XDG_DATA_HOME: join(home, 'data'), NODE_COMPILE_CACHE: '' };
    // Texts of a program are found again in what it was compiled to.
    const marker = 'text of a package that a cell imports';
    const file = join(home, 'node_modules/marked/index.js');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `exports.text = '${marker}';`);
    const cache = join(dataFolder({ env, platform: process.platform, home }), 'compile-cache');
    // One that is being written has another name, with a dot.
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
});
