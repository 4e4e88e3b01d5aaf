import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { runExclusive } from '#engine/dir/dirConnection.ts';

suite('calls in turn', () => {
  const order: string[] = [];
  setup(() => order.splice(0));

  const call = (name: string, milliseconds: number) => async (): Promise<string> => {
    order.push(`${name} begins`);
    await pause(milliseconds);
    order.push(`${name} ends`);
    return name;
  };

  test('of one key come one after the other and give what they give', async () => {
    const all = await Promise.all([
      runExclusive('k', call('a', 15)),
      runExclusive('k', call('b', 1)),
      runExclusive('k', call('c', 1)),
    ]);
    assert.deepEqual(all, ['a', 'b', 'c']);
    assert.deepEqual(order, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  test('of other keys do not wait for each other', async () => {
    await Promise.all([runExclusive('k', call('a', 30)), runExclusive('l', call('b', 1))]);
    assert.deepEqual(order, ['a begins', 'b begins', 'b ends', 'a ends']);
  });

  test('go on after one that failed, whose failure is its own', async () => {
    const failing = runExclusive('k', () => Promise.reject(new Error('no')));
    const next = runExclusive('k', call('b', 1));
    await assert.rejects(failing, /no/);
    assert.equal(await next, 'b');
  });
});
