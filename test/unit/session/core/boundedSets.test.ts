import assert from 'node:assert/strict';
import { RecentTexts } from '#session/core/boundedSets.ts';

suite('Texts that were kept last', () => {
  test('are limited in number, and the oldest are removed first', () => {
    const texts = new RecentTexts<number>({ count: 2, chars: 100 });
    for (const key of [1, 2, 3]) texts.set(key, `text ${key}`);
    assert.deepEqual(texts.entries, [
      [2, 'text 2'],
      [3, 'text 3'],
    ]);
    assert.ok(!texts.has(1));
  });

  test('are limited in text, but always keep the last one', () => {
    const texts = new RecentTexts<number>({ count: 100, chars: 10 });
    for (const key of [1, 2, 3]) texts.set(key, 'xxxx');
    assert.deepEqual(
      texts.entries.map(([key]) => key),
      [2, 3],
    );
    texts.set(4, 'x'.repeat(50));
    assert.deepEqual(texts.entries, [[4, 'x'.repeat(50)]]);
    texts.set(5, 'y');
    assert.deepEqual(texts.entries, [[5, 'y']]);
  });

  test('are counted once under a key that comes again', () => {
    const texts = new RecentTexts<number>({ count: 100, chars: 10 });
    for (let i = 0; i < 10; i++) texts.set(1, 'xxxx');
    texts.set(2, 'xxxx');
    assert.deepEqual(
      texts.entries.map(([key]) => key),
      [1, 2],
    );
  });
});
