import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { createInterrupter } from '#session/worker/interrupt.ts';

/** A time within the grace period. If several threads run, the process uses this much processor time even sooner. */
const answeredMs = 12;

suite('The grace of an interrupt', () => {
  test('is as long while other threads of the process are busy', async () => {
    const threads = Array.from(
      { length: Math.max(2, availableParallelism()) },
      () => new Worker('for (;;);', { eval: true }),
    );
    try {
      let cuts = 0;
      const lock = { begin: () => Promise.resolve(void cuts++), end: () => {} };
      const interrupter = createInterrupter(false, lock);
      interrupter.mayStop();
      await new Promise((done) => setTimeout(done, 200));
      for (let times = 0; times < 20; times++) {
        let isAsked = false;
        const ping = () => {
          const sent = performance.now();
          return () => performance.now() - sent > answeredMs;
        };
        assert.ok(
          await interrupter.interrupt(
            ping,
            () => void (isAsked = true),
            () => isAsked,
          ),
        );
      }
      assert.equal(cuts, 0);
    } finally {
      await Promise.all(threads.map((thread) => thread.terminate()));
    }
  });
});
