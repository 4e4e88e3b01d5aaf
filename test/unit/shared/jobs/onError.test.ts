import assert from 'node:assert/strict';
import { onErrorOfWords, readOnError } from '#shared/jobs/backfill.ts';

suite('What is done with rows that fail', () => {
  test('is read from what a person writes', () => {
    assert.deepEqual(['fail', 'null', 'skip'].map(onErrorOfWords), [
      { mode: 'fail' },
      { mode: 'null' },
      { mode: 'skip' },
    ]);
    assert.deepEqual(onErrorOfWords({ retry: 3 }), { mode: 'retry', attempts: 3 });
  });

  test('is read from JSON of ours', () => {
    for (const json of [{ mode: 'null' }, { mode: 'retry', attempts: 2 }]) assert.deepEqual(readOnError(json), json);
  });

  test('is nothing where it is written in any other way', () => {
    const words = ['retry', 'mode', { retry: 0 }, { retry: 1.5 }, { retry: '3' }, { retry: 3, pause: 1 }, [], null];
    assert.deepEqual(words.map(onErrorOfWords).filter(Boolean), []);
    const jsons = ['fail', { mode: 'retry' }, { mode: 'retry', attempts: 0 }, { mode: 'never' }, null];
    assert.deepEqual(jsons.map(readOnError).filter(Boolean), []);
  });
});
