import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { kernelOfSuite, run, valueOf } from '../support.ts';

const cells = 300;
/** The number of objects if every tenth cell leaked one. */
const few = 30;
const windowMs = 1000;

/** Returns code that collects garbage and then counts the objects of a kind that every cell creates. */
const left = (what: string): string => `require('node:v8').queryObjects(${what})`;
/** Code that counts listeners, timers and loaded modules. */
const open = `[
  process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  process.getActiveResourcesInfo().length,
  Object.keys(require.cache).length,
]`;

suite('A long life of a kernel', function () {
  this.timeout(180_000);
  const kernel = kernelOfSuite();

  test('leaves nothing of cells that are over', async () => {
    const runSome = async (times: number) => {
      for (let i = 0; i < times; i++) await run(kernel(), i % 3 === 0 ? `let again = ${i}; again` : 'await 1; 1 + 1');
    };
    const numberOf = async (code: string) => Number(await valueOf(kernel(), code));
    await runSome(few);
    const before = await valueOf(kernel(), open);
    await runSome(cells);
    assert.equal(await valueOf(kernel(), open), before);
    for (const what of [`require('node:vm').Script`, 'AbortSignal']) {
      const number = await numberOf(left(what));
      assert.ok(number < few, `${number} of ${what} after ${cells} cells`);
    }
  });

  test('wakes for nothing when nothing runs', async function () {
    // Only Linux counts how often a thread wakes.
    if (process.platform !== 'linux') return this.skip();
    const pid = Number(await valueOf(kernel(), 'process.pid'));
    const seen: number[] = [];
    // Work after a cell, such as a note on disk and V8's garbage collection, takes some seconds.
    while (seen.length < 90) {
      const before = wakings(pid);
      await sleep(windowMs);
      seen.push(wakings(pid) - before);
      if (seen.at(-1)! <= 2) return;
    }
    assert.fail(`It woke so often in each second: ${seen.join(', ')}`);
  });
});

/** Returns how often the threads of a process have voluntarily gone to sleep, which is once for each time they wake. */
function wakings(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).reduce((sum, task) => {
    const status = readFileSync(`${tasks}/${task}/status`, 'utf8');
    return sum + Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  }, 0);
}
