import assert from 'node:assert/strict';
import { packBits } from '#catalog/lancedb/packBits.ts';

suite('packBits', () => {
  test('puts the first bit into the lowest of the first byte', () => {
    assert.deepEqual(packBits([1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]), [0b1000_0001, 0b0000_0010]);
    assert.deepEqual(packBits([]), []);
    assert.throws(() => packBits([1, 0, 1]), /Pass a multiple of 8/);
  });
});
