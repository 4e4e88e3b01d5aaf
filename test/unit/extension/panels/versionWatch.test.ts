import assert from 'node:assert/strict';
import { VersionWatch } from '../../../../extension/panels/versionWatch.ts';

/** Looks that the test ends itself. */
function world() {
  const looks: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const lost: unknown[] = [];
  const controller = new AbortController();
  const look = (): Promise<void> => new Promise((resolve, reject) => looks.push({ resolve, reject }));
  const watch = new VersionWatch(look, { signal: controller.signal, onLost: (error) => lost.push(error) });
  const nextLook = async (count: number): Promise<void> => {
    while (looks.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  return { looks, lost, watch, controller, nextLook };
}

suite('the watch of a version', () => {
  test('looks once for many rows, and again after rows that were read meanwhile, a second later', async () => {
    const { looks, lost, watch, nextLook } = world();
    watch.checkSoon();
    watch.checkSoon();
    await nextLook(1);
    const started = performance.now();
    watch.checkSoon();
    looks[0]!.resolve();
    const reason = new Error('gone');
    await nextLook(2);
    assert.ok(performance.now() - started > 900);
    looks[1]!.reject(reason);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(lost, [reason]);
    assert.equal(looks.length, 2);
  });

  test('ends with its panel', async () => {
    const { looks, lost, watch, controller, nextLook } = world();
    watch.checkSoon();
    await nextLook(1);
    controller.abort();
    looks[0]!.reject(new Error('gone'));
    watch.checkSoon();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual([looks.length, lost], [1, []]);
  });
});
