import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { run, sleep, startKernel, valueOf } from '../support.ts';

/** Milliseconds after which the load on the processors ends, even if the test fails. */
const longest = 30_000;

suite('An interrupt on a machine with more busy threads than processors', function () {
  this.timeout(60_000);

  test('cuts off nothing of a kernel whose cell waits', async () => {
    const kernel = await startKernel();
    const work = `for (const end = Date.now() + ${longest}; Date.now() < end;);`;
    // Each turn of this code is short and starts another turn. An interrupt of a turn must also drop the next turn.
    const chain = `let turns = 0;
      void (async () => {
        for (;; turns++) {
          for (let i = 0; i < 500; i++) await null;
          await new Promise((done) => setImmediate(done));
        }
      })();`;
    await run(kernel, chain);
    const others = Array.from({ length: 4 * availableParallelism() }, () => spawn(process.execPath, ['-e', work]));
    try {
      for (let times = 0; times < 16; times++) {
        const waiting = run(kernel, 'await new Promise(() => {})');
        await sleep(50);
        await kernel.interrupt();
        assert.equal((await waiting).reply.status, 'error');
        const goesOn = `turns < (await new Promise((done) => setTimeout(done, 50)), turns)`;
        assert.equal(await valueOf(kernel, goesOn), 'true', `It was cut off by interrupt ${times + 1}.`);
      }
    } finally {
      for (const other of others) other.kill('SIGKILL');
      await kernel.shutdown();
    }
  });
});
