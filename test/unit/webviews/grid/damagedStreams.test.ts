import assert from 'node:assert/strict';
import { Worker } from 'node:worker_threads';
import type { DamagedStreamsInput, DamagedStreamsResult } from './damagedStreams.ts';

const count = 10_000;
const timeLimitMs = 60_000;

/** Runs the worker within limits of time and memory. @throws Error with the seed of the stream at which it ended */
async function runWorker(): Promise<DamagedStreamsResult> {
  const progress = new Int32Array(new SharedArrayBuffer(4));
  const workerData: DamagedStreamsInput = { count, progress };
  const worker = new Worker(new URL('damagedStreams.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: 200 },
  });
  const at = (): string => `at seed ${Atomics.load(progress, 0)}`;
  try {
    return await new Promise<DamagedStreamsResult>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`The decoder hangs ${at()}.`)), timeLimitMs);
      worker.on('message', (result: DamagedStreamsResult) => {
        clearTimeout(timer);
        resolve(result);
      });
      worker.on('error', (cause) => reject(new Error(`The decoder ended ${at()}: ${String(cause)}`, { cause })));
      worker.on('exit', () => reject(new Error(`The decoder ended ${at()}.`)));
    });
  } finally {
    await worker.terminate();
  }
}

suite('Damaged pages', function () {
  this.timeout(timeLimitMs + 10_000);

  test(`of ${count.toLocaleString('en-US')} cut and changed streams each gives rows or one error, in bounded memory`, async () => {
    const before = process.resourceUsage().maxRSS;
    const { rows, failed, undrawable, wrong } = await runWorker();
    assert.deepEqual(wrong, []);
    assert.equal(rows + failed + undrawable, count);
    // Without damage nearly all would be rows, and with too much of it nearly all errors.
    assert.ok(rows > 1_000 && failed > 1_000, `${rows} with rows, ${failed} failed, ${undrawable} not drawable`);
    const grown = (process.resourceUsage().maxRSS - before) / 1_024;
    assert.ok(grown < 300, `the process grew by ${Math.round(grown)} MB`);
  });
});
