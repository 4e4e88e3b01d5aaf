import assert from 'node:assert/strict';
import { Bool, Field, FixedSizeList, Float32, Int64, List, Schema, Struct, Table, Utf8, vectorFromArray } from '#arrow';
import { batchLength, fixedWidth, sampledWidth } from '#engine/batches/batchLength.ts';

suite('the rows of a batch', () => {
  test('are as many as make two megabytes, in powers of two', () => {
    assert.equal(batchLength({ bytes: 64, isFixed: true }), 32_768);
    assert.equal(batchLength({ bytes: 80, isFixed: true }), 16_384);
    assert.equal(batchLength({ bytes: 1024, isFixed: false }), 2048);
  });

  test('are never more than 65,536, and never fewer than one', () => {
    assert.equal(batchLength({ bytes: 1, isFixed: true }), 65_536);
    assert.equal(batchLength({ bytes: 0, isFixed: true }), 65_536);
    assert.equal(batchLength({ bytes: 3072, isFixed: false }), 512);
    assert.equal(batchLength({ bytes: 1_000_000, isFixed: false }), 2);
    assert.equal(batchLength({ bytes: 100_000_000, isFixed: false }), 1);
  });

  test('are at most 8,192 where rows differ in width, because a sample may have missed the wide ones', () => {
    assert.equal(batchLength({ bytes: 1, isFixed: false }), 8_192);
  });

  test('are all rows of a page that has some megabytes, and the rows of the engine in a page of narrow rows', () => {
    assert.equal(batchLength({ bytes: 80_000, isFixed: true }, 50), 50);
    assert.equal(batchLength({ bytes: 80_000, isFixed: true }, 0), 1);
    assert.equal(batchLength({ bytes: 1_000_000, isFixed: false }, 500), 2);
    assert.equal(batchLength({ bytes: 64, isFixed: true }, 500), undefined);
    assert.equal(batchLength({ bytes: 64, isFixed: true }, 5_000), 32_768);
  });

  test('are known from types of one width', () => {
    const vector = new FixedSizeList(128, new Field('item', new Float32()));
    const point = new Struct([new Field('x', new Float32()), new Field('y', new Float32())]);
    const fields = [
      new Field('id', new Int64()),
      new Field('v', vector),
      new Field('p', point),
      new Field('b', new Bool()),
    ];
    assert.equal(fixedWidth(new Schema(fields)), 8 + 512 + 8 + 1);
    for (const type of [new Utf8(), new List(new Field('item', new Int64()))]) {
      assert.equal(fixedWidth(new Schema([...fields, new Field('w', type)])), undefined);
    }
  });

  test('are guessed from a sample of the others', () => {
    const text = 'x'.repeat(1000);
    const texts = vectorFromArray([text, text, text, text], new Utf8());
    const { batches } = new Table({ id: vectorFromArray([1n, 2n, 3n, 4n], new Int64()), texts });
    const width = sampledWidth(batches);
    assert.ok(width > 1000 && width < 1200, String(width));
    assert.equal(sampledWidth([]), 0);
  });
});
