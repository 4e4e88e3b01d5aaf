import assert from 'node:assert/strict';
import { previewCode } from '../../../extension/notebook/jupyter/kernelCode.ts';
import { errorOf, kernelOfSuite, printed, run, startKernel, valueOf } from '../support.ts';

suite('A kernel for JavaScript', function () {
  this.timeout(60_000);
  const kernel = kernelOfSuite(() => startKernel({ language: 'javascript' }));

  test('completes what a constructor has assigned, and asks for more where code is not complete', async () => {
    await run(kernel(), 'class Hello { constructor(name) { this.name = name } }\nconst hello = new Hello("a")');
    const { matches } = await kernel().complete('hello.', 6);
    assert.ok(
      matches.some(({ text }) => text === 'name'),
      matches.map(({ text }) => text).join(),
    );
    assert.deepEqual(
      (await Promise.all(['hello', 'if (hello) {'].map((code) => kernel().isComplete(code)))).map(
        ({ status }) => status,
      ),
      ['complete', 'incomplete'],
    );
  });

  test('measures code by %timeit and %time', async () => {
    for (const code of [
      '%timeit -n 5 -r 2 1 + 1',
      '%time hello.name',
      '%%timeit -n 5 -r 2\nconst twice = (n) => 2 * n;\ntwice(2)',
    ]) {
      const { reply, outputs } = await run(kernel(), code);
      assert.equal(reply.status, 'ok', `${code} ${JSON.stringify(errorOf(outputs))}`);
      assert.match(printed(outputs), /\d/);
    }
  });

  test('does not look for errors of types, and says so', async () => {
    const { outputs } = await run(kernel(), '%check error');
    assert.equal(printed(outputs), 'off: types are not checked.\n');
    assert.equal(await valueOf(kernel(), 'let n = 1; n = "text"; n'), "'text'");
  });

  test('makes functions for backfills, of what is JavaScript', async () => {
    const code = `const half = (n) => n / 2;
      const halved = udf({ name: 'halved', input: ['id'], output: 'float64' }, ({ id }) => half(Number(id)));
      halved.name`;
    assert.equal(await valueOf(kernel(), code), "'halved'");
  });

  test('shows a table to the editor by code that is JavaScript, whatever the name of its variable', async () => {
    await run(kernel(), 'const table = arrow.tableFromArrays({ a: [1, 2] })');
    const { reply, outputs } = await run(kernel(), previewCode('javascript', 'table'));
    assert.equal(reply.status, 'ok', JSON.stringify(errorOf(outputs)));
    assert.equal(outputs.filter(({ type }) => type === 'display_data').length, 2);
  });
});
