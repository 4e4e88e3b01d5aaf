import assert from 'node:assert/strict';
import { History } from '../../../kernel/session/history.ts';

suite('The history of a kernel', () => {
  const history = new History();
  for (const [index, code] of ['6*7', 'let a = 1', '6*8', 'let a = 1'].entries()) history.add(index + 1, code);

  test('gives the last entries', () => {
    assert.deepEqual(history.tail(1), [[0, 4, 'let a = 1']]);
    assert.deepEqual(history.tail(0), []);
  });

  test('gives a range without its end, and nothing of another session', () => {
    assert.deepEqual(
      history.range(0, 2, 4).map(([, line]) => line),
      [2, 3],
    );
    assert.deepEqual(history.range(1, 0, null), []);
  });

  test('finds what a glob matches as a whole', () => {
    assert.deepEqual(
      history.search('6*').map(([, line]) => line),
      [1, 3],
    );
    assert.deepEqual(history.search('6?'), []);
    assert.deepEqual(history.search('let ? = *', { unique: true }), [[0, 4, 'let a = 1']]);
    assert.deepEqual(history.search('*', { n: 1 }), [[0, 4, 'let a = 1']]);
  });

  test('answers a glob of many stars at once', () => {
    const long = new History();
    long.add(1, 'a'.repeat(5000));
    const before = process.cpuUsage();
    assert.deepEqual(long.search(`${'*a'.repeat(30)}*b`), []);
    // What it costs and not how long it takes, which is up to whatever else runs here.
    assert.ok(process.cpuUsage(before).user < 1_000_000);
  });
});
