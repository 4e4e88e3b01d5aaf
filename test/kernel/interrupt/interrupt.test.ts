import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KernelProcess } from '#processes/kernelProcess.ts';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { tempFolder } from '../../harness/temp.ts';
import { errorOf, kernelEntry, printed, run, sleep, startKernel, until, valueOf } from '../support.ts';
import { endless } from './endlessCells.ts';

suite('An interrupt', function () {
  this.timeout(60_000);
  let kernel: KernelProcess;
  suiteSetup(async () => {
    kernel = await startKernel();
    await run(kernel, 'let state = 0');
  });
  suiteTeardown(() => kernel.shutdown());

  for (const [index, [name, code]] of Object.entries(endless).entries()) {
    test(`ends ${name} and keeps the state`, async () => {
      const outputs: KernelOutput[] = [];
      const cell = kernel.execute(`state = ${index + 1}; console.log('runs'); ${code}`, (output) =>
        outputs.push(output),
      );
      await until('the cell to run', () => printed(outputs) !== '');
      await sleep(100);
      assert.equal((await kernel.interrupt()).status, 'ok');
      await cell;
      assert.equal(errorOf(outputs)?.ename, 'Interrupted');
      assert.equal(await valueOf(kernel, 'state'), String(index + 1));
    });
  }

  test('ends a loop in a timer after its cell is done, and keeps the state', async () => {
    const outputs: KernelOutput[] = [];
    const late = kernel.onOrphanOutput((output) => outputs.push(output));
    await run(kernel, `state = 50; setTimeout(() => { console.log('runs'); while (true) {} }, 20)`);
    await until('the timer to run', () => printed(outputs) !== '');
    late.dispose();
    assert.equal((await kernel.interrupt()).status, 'ok');
    assert.equal(await valueOf(kernel, 'state + 1'), '51');
  });

  test('of a blocking call is reported as failed, and works when the call has ended', async () => {
    const mark = join(tempFolder(), 'go');
    const wait = `until [ -e ${mark} ]; do sleep 0.1; done`;
    const outputs: KernelOutput[] = [];
    const blocked = kernel.execute(
      `import { execSync } from 'node:child_process'; console.log('runs'); execSync(${JSON.stringify(wait)})`,
      (output) => outputs.push(output),
    );
    await until('the cell to run', () => printed(outputs) !== '');
    assert.equal((await kernel.interrupt()).status, 'failed');
    writeFileSync(mark, '');
    assert.equal((await blocked).status, 'error');
    assert.equal(await valueOf(kernel, 'typeof state'), "'number'");
  });

  test('while a module is loaded lets it be loaded again', async () => {
    const file = join(tempFolder(), 'slow.cjs');
    writeFileSync(file, `console.log('loads'); while (globalThis.isSlow) {} exports.whole = true;`);
    const outputs: KernelOutput[] = [];
    const load = `require(${JSON.stringify(file)}).whole`;
    const cell = kernel.execute(`(globalThis as any).isSlow = true; ${load}`, (output) => outputs.push(output));
    await until('the module to load', () => printed(outputs) !== '');
    assert.equal((await kernel.interrupt()).status, 'ok');
    await cell;
    assert.equal(await valueOf(kernel, `(globalThis as any).isSlow = false; ${load}`), 'true');
  });

  test('drops the cells that wait', async () => {
    const cells = [run(kernel, 'await new Promise(() => {})'), run(kernel, 'state = -1')];
    await sleep(200);
    await kernel.interrupt();
    const [, second] = await Promise.all(cells);
    assert.equal(second?.reply.status, 'aborted');
  });

  test('comes by aborting the signal of an execution', async () => {
    const stop = new AbortController();
    const reply = kernel.execute('while (true) {}', () => {}, { signal: stop.signal });
    await sleep(200);
    stop.abort();
    assert.equal((await reply).status, 'error');
  });

  test('of nothing is answered at once', async () => {
    assert.equal((await kernel.interrupt()).status, 'ok');
  });

  test('while the compiler works leaves a compiler that works', async () => {
    const wide = `${Array.from({ length: 3000 }, (_, i) => `const n${i} = { a: ${i}, b: [${i}] };`).join('\n')}\nwhile (true) {}`;
    const cell = run(kernel, wide);
    await sleep(60);
    assert.equal((await kernel.interrupt()).status, 'ok');
    await cell;
    assert.equal(await valueOf(kernel, 'const after: number = 5; after'), '5');
  });
});

suite('A kernel whose Node refuses the interrupt flag', function () {
  this.timeout(30_000);
  let kernel: KernelProcess;

  suiteSetup(async () => {
    const path = join(tempFolder(), 'node');
    // Node exits with 9 for an unknown option.
    writeFileSync(
      path,
      `#!/bin/sh\ncase "$*" in *--no-force-async-hooks-checks*) exit 9;; esac\nexec '${process.execPath}' "$@"\n`,
      { mode: 0o755 },
    );
    kernel = await KernelProcess.start({
      entry: kernelEntry,
      node: { path, env: {} },
      cwd: tempFolder(),
      catalog: null,
    });
  });
  suiteTeardown(() => kernel.dispose());

  test('starts without it, and says that it can not interrupt', async () => {
    assert.equal(kernel.handshake.canInterrupt, false);
    assert.equal(await valueOf(kernel, '1 + 1'), '2');
  });

  test('still gives up a hanging await', async () => {
    const cell = run(kernel, 'await new Promise(() => {})');
    await sleep(300);
    assert.equal((await kernel.interrupt()).status, 'ok');
    assert.equal(errorOf((await cell).outputs)?.ename, 'Interrupted');
  });

  test('answers that a loop goes on', async () => {
    const outputs: KernelOutput[] = [];
    kernel.execute(`console.log('runs'); while (true) {}`, (output) => outputs.push(output)).catch(() => {});
    await until('the cell to run', () => printed(outputs) !== '');
    assert.equal((await kernel.interrupt()).status, 'failed');
  });
});
