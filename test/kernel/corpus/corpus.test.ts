import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { tempFolder } from '../../harness/temp.ts';
import { cells, runStep } from '../cells.ts';
import { sampleCatalog, startKernel } from '../support.ts';
import type { Theme } from './corpus.ts';
import { differences } from './differences.ts';
import { failures } from './failures.ts';
import { modules } from './modules.ts';
import { outputs } from './outputs.ts';
import { state } from './state.ts';
import { syntax } from './syntax.ts';
import { values } from './values.ts';
import { waiting } from './waiting.ts';

/** Themes that share a kernel, because starting a kernel takes longest. */
const notebooks: readonly (readonly Theme[])[] = [[values, syntax, outputs], [failures, waiting], [state], [modules]];

for (const themes of notebooks) {
  suite('A notebook of the corpus', function () {
    this.timeout(60_000);
    let kernel: KernelProcess;
    suiteSetup(async () => {
      kernel = await startIn(Object.assign({}, ...themes.map(({ files }) => files)));
    });
    suiteTeardown(() => kernel.shutdown());
    for (const { name, sequences } of themes) {
      suite(name, () => {
        for (const sequence of sequences) cells(sequence.name, () => kernel, ...sequence.steps);
      });
    }
  });
}

suite('What a person expects of a cell otherwise, known as a difference until it', function () {
  this.timeout(60_000);
  let kernel: KernelProcess;
  suiteSetup(async () => {
    kernel = await startIn();
  });
  suiteTeardown(() => kernel.shutdown());
  for (const { name, steps, reason } of differences) {
    test(name, async () => {
      for (const step of steps.slice(0, -1)) await runStep(kernel, step);
      const last = steps.at(-1);
      assert.ok(last);
      const differs = await runStep(kernel, last).then(() => undefined, String);
      assert.match(
        differs ?? '',
        /^AssertionError/,
        `As expected now, so it is no difference any more. It was: ${reason}`,
      );
    });
  }
});

async function startIn(files: Theme['files'] = {}): Promise<KernelProcess> {
  const folder = tempFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return startKernel({ cwd: folder, catalog: { implementation: 'dir', root: await sampleCatalog() } });
}
