import assert from 'node:assert/strict';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { errorOf, run, startKernel, valueOf } from './support.ts';

suite('A cell that asks the person of an editor', function () {
  this.timeout(60_000);
  const asked: string[] = [];
  const answers: (string | null)[] = [];
  let kernel: KernelProcess;

  suiteSetup(async () => {
    kernel = await startKernel({
      ask: ({ prompt, password }) => {
        asked.push(`${prompt}${password ? '(password)' : ''}`);
        return Promise.resolve(answers.shift() ?? null);
      },
    });
  });
  suiteTeardown(() => kernel.shutdown());

  test('gets what is typed by input, and by prompt and confirm without await', async () => {
    answers.push('Ada', '', 'yes', 'nope');
    const code = `[await input('Who? ', { password: true }), prompt('City', 'Oslo'), confirm('Go'), confirm('Go')].join()`;
    assert.equal(await valueOf(kernel, code), `'Ada,Oslo,true,false'`);
    assert.deepEqual(asked, ['Who? (password)', 'City [Oslo] ', 'Go [y/N] ', 'Go [y/N] ']);
  });

  test('fails with a sentence at its own line when the person cancels input, and gets null of prompt', async () => {
    const error = errorOf((await run(kernel, `// asks\nawait input('Who? ')`)).outputs);
    assert.match(error?.evalue ?? '', /was canceled.*Run the cell again/);
    assert.ok(
      error?.traceback.some((line) => /:2:\d+\)?$/.test(line)),
      error?.traceback.join('\n'),
    );
    assert.equal(await valueOf(kernel, `prompt('Who?') === null`), 'true');
  });

  test('gets an error if an answer is too long for prompt, and continues', async () => {
    answers.push('x'.repeat(2 << 20), 'x'.repeat(2 << 20));
    assert.match(String(await valueOf(kernel, `prompt('Much?')`)), /longer than 1 MB/);
    assert.equal(await valueOf(kernel, `(await input('Much?')).length`), String(2 << 20));
  });

  test('has its comms closed, since an editor knows no targets', async () => {
    const code = `const line = comms.open('x'); await new Promise((closed) => line.on('close', closed)); line.isOpen`;
    assert.equal(await valueOf(kernel, code), 'false');
  });
});

suite('A cell that prompts without a user', function () {
  this.timeout(60_000);
  let kernel: KernelProcess;
  suiteSetup(async () => {
    kernel = await startKernel();
  });
  suiteTeardown(() => kernel.shutdown());

  test('fails with a sentence, awaited or not', async () => {
    for (const code of [`await input('Who? ')`, `prompt('Who?')`, `confirm('Sure?')`])
      assert.match(
        String(await valueOf(kernel, code)),
        /the program that runs it does not support input\. Run the cell in a notebook editor/,
        code,
      );
  });
});
