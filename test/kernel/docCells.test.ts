import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { inRoot } from '../../scripts/paths.ts';
import { readDocExamples, titleOfExample } from '../harness/docExamples.ts';
import { tempFolder } from '../harness/temp.ts';
import { errorOf, run, startKernel } from './support.ts';

// A kernel type-checks every TypeScript block of README.md and docs/ as a cell, with the names of a notebook. A block
// can use the declarations of the blocks above it on its page. Other tests run the blocks.

const pages = ['README.md', ...readdirSync(inRoot('docs')).map((name) => `docs/${name}`)];

/** The kernel checks a cell before it loads its imports, so a cell with this import is checked but does not run. */
const stop = 'checked and not run';

for (const page of pages) {
  const examples = readDocExamples(page).filter(({ language }) => language === 'ts');
  if (examples.length === 0) continue;
  suite(`The TypeScript of ${page}`, function () {
    this.timeout(60_000);
    let kernel: KernelProcess;

    suiteSetup(async () => {
      const folder = tempFolder();
      writeFileSync(join(folder, 'stop.cjs'), `throw new Error('${stop}');\n`);
      kernel = await startKernel({ cwd: folder });
    });
    suiteTeardown(() => kernel.shutdown());

    for (const example of examples) {
      test(`compiles in a cell (line ${example.line}) ${titleOfExample(example)}`, async () => {
        const { outputs } = await run(kernel, `import './stop.cjs';\n${example.text}`);
        const error = errorOf(outputs);
        assert.equal(error?.evalue, stop, error?.traceback.join('\n'));
      });
    }
  });
}
