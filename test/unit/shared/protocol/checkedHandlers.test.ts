import assert from 'node:assert/strict';
import { checkedHandlers } from '#shared/protocol/rpc.ts';

suite('Handlers behind checks', () => {
  const calls: number[] = [];
  const { twice } = checkedHandlers<{ twice: [number, number] }>(
    { twice: (value) => (calls.push(value), 2 * value) },
    { twice: (value) => typeof value === 'number' },
    'this test',
  );
  const { signal } = new AbortController();

  test('answer what has the shape that they take', async () => {
    assert.equal(await twice(3, signal), 6);
  });

  test('refuse what has another, and are not called with it', () => {
    calls.length = 0;
    const sent = 'three' as unknown as number;
    assert.throws(() => twice(sent, signal), /^TypeError: The request "twice" to this test has invalid parameters\.$/);
    assert.deepEqual(calls, []);
  });
});
