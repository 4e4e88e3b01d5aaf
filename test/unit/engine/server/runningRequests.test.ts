import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { RunningRequests } from '#engine/server/runningRequests.ts';

/** Returns whether a promise has resolved by the next turn of the event loop. */
async function hasResolved(promise: Promise<void>): Promise<boolean> {
  let is = false;
  void promise.then(() => (is = true));
  await setImmediate();
  return is;
}

suite('the requests that a server runs', () => {
  test('are all waited for, or only those that make changes', async () => {
    const running = new RunningRequests();
    running.start(true);
    running.start(false);
    running.start(false);
    assert.equal(running.count, 3);
    const [all, writes] = [running.ended('all'), running.ended('writes')];
    running.end(false);
    assert.deepEqual([await hasResolved(all), await hasResolved(writes)], [false, false]);
    running.end(true);
    assert.deepEqual([await hasResolved(all), await hasResolved(writes)], [false, true]);
    running.end(false);
    assert.equal(await hasResolved(all), true);
    assert.equal(running.count, 0);
  });

  test('are not waited for if there are none', async () => {
    const running = new RunningRequests();
    assert.equal(await hasResolved(running.ended('all')), true);
    running.start(false);
    assert.equal(await hasResolved(running.ended('writes')), true);
    assert.equal(await hasResolved(running.ended('all')), false);
  });
});
