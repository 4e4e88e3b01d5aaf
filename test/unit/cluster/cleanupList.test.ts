import assert from 'node:assert/strict';
import { CleanupList } from '#cluster/cleanupList.ts';

suite('What a run has made for a moment', () => {
  test('is removed at its end, what was made last first', async () => {
    const leftovers = new CleanupList();
    const removed: string[] = [];
    for (const name of ['object', 'pod'])
      leftovers.add(name, () => {
        removed.push(name);
        return Promise.resolve();
      });
    assert.deepEqual(await leftovers.removeAll(), []);
    assert.deepEqual(removed, ['pod', 'object']);
  });

  test('is removed once, however often that is asked for', async () => {
    const leftovers = new CleanupList();
    let times = 0;
    const one = leftovers.add('pod', () => Promise.resolve(void times++));
    await Promise.all([one.remove(), one.remove()]);
    await leftovers.removeAll();
    assert.deepEqual([times, one.isGone], [1, true]);
  });

  test('is reported if it remains after a second attempt', async () => {
    const leftovers = new CleanupList();
    let times = 0;
    const one = leftovers.add('The pod a/b', () => Promise.reject(new Error(`no ${++times}`)));
    await assert.rejects(one.remove(), /no 1/);
    assert.deepEqual(await leftovers.removeAll(), ['The pod a/b may still exist: no 2']);
  });

  test('is not looked for where it is known not to be', async () => {
    const leftovers = new CleanupList();
    leftovers.add('pod', () => Promise.reject(new Error('asked'))).forget();
    assert.deepEqual(await leftovers.removeAll(), []);
  });
});
