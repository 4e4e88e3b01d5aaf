import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { readThreadTimes } from '#session/worker/interrupt.ts';

const computeFor = (milliseconds: number): void => {
  for (const end = performance.now() + milliseconds; performance.now() < end;);
};

suite('The work of the main thread', () => {
  test('is what it has computed since, or waited to compute', () => {
    const turns = readThreadTimes();
    const since = performance.now();
    computeFor(100);
    const { usedMs, waitedMs } = turns();
    const passedMs = performance.now() - since;
    assert.ok(usedMs > 10 && usedMs < passedMs + 20, `${usedMs} ms in ${passedMs} ms`);
    assert.ok(waitedMs >= 0 && usedMs + waitedMs > passedMs - 20, `${usedMs} and ${waitedMs} ms in ${passedMs} ms`);
  });

  test('is none while it rests', async () => {
    const turns = readThreadTimes();
    await sleep(200);
    const { usedMs, waitedMs } = turns();
    assert.ok(usedMs + waitedMs < 100, `${usedMs} and ${waitedMs} ms`);
  });

  test('is not that of other threads, where they can be told apart', async function () {
    if (process.platform !== 'linux') this.skip();
    const turns = readThreadTimes();
    const code = 'for (const end = performance.now() + 400; performance.now() < end;);';
    const other = new Worker(code, { eval: true });
    await new Promise((resolve) => other.once('exit', resolve));
    assert.ok(turns().usedMs < 200, `${turns().usedMs} ms`);
  });
});
