import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { type DocExample, readDocExamples, titleOfExample } from '../../harness/docExamples.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { cliEntry, command, errorOf, run, startKernel } from '../support.ts';

// Every example of docs/backfills.md, in order: files are written, cells run in one notebook, commands run in a shell.

const examples = readDocExamples('docs/backfills.md');

const has = ({ words }: DocExample, word: string): boolean => words.includes(word);

suite('Every example of docs/backfills.md', function () {
  this.timeout(180_000);
  const folder = tempFolder();
  const bin = join(folder, 'bin');
  const env = {
    XDG_DATA_HOME: join(folder, 'state'),
    LANCE_CATALOG: '',
    PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
  };
  let kernel: KernelProcess;

  suiteSetup(async () => {
    for (const path of [bin, env.XDG_DATA_HOME]) mkdirSync(path);
    const program = join(bin, 'lance-catalog');
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${cliEntry}' "$@"\n`);
    chmodSync(program, 0o755);
    kernel = await startKernel({ cwd: folder, env });
  });
  suiteTeardown(() => kernel.shutdown());

  test('is there', () => {
    assert.ok(examples.filter(({ language }) => language === 'sh').length > 8);
    assert.ok(examples.filter(({ language }) => language === 'ts').length > 4);
  });

  for (const [index, example] of examples.entries()) {
    const { language, text, words } = example;
    const file = words.find((word) => word.startsWith('file='))?.slice('file='.length);
    // Skip examples with the id of a job that does not exist. Skip examples on Ray, because
    // test/cluster/ray/kuberayNotebook.test.ts runs these.
    if (has(example, 'shown') || has(example, 'ray')) continue;
    test(`does what it says (${index + 1}) ${titleOfExample(example)}`, async () => {
      if (file !== undefined) return writeFileSync(join(folder, file), text);
      if (language === 'ts') {
        const { outputs, reply } = await run(kernel, text);
        return assert.equal(reply.status, 'ok', errorOf(outputs)?.traceback.join('\n'));
      }
      assert.equal(language, 'sh', 'what this example is for');
      const withPython = text.replaceAll('--catalog', `--python '${python()}' --catalog`);
      const { code, stderr } = await command(
        'bash',
        ['-euo', 'pipefail', '-c', has(example, 'python') ? withPython : text],
        {
          cwd: folder,
          env,
          seconds: 120,
        },
      );
      assert.equal(code, 0, stderr);
    });
  }
});
