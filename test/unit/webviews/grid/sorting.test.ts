import assert from 'node:assert/strict';
import { nextOrder, whyUnordered } from '../../../../webviews/grid/sorting.ts';

const up = (column: number) => ({ column, isDescending: false });
const down = (column: number) => ({ column, isDescending: true });

const why = (type: string, name = 'c', blob?: string) =>
  whyUnordered({ name, type, nullable: true, ...(blob !== undefined && { blob }) });

suite('the order of rows', () => {
  test('is ascending, then descending, then none after clicks on one column', () => {
    assert.deepEqual(nextOrder([], 2, false), [up(2)]);
    assert.deepEqual(nextOrder([up(2)], 2, false), [down(2)]);
    assert.deepEqual(nextOrder([down(2)], 2, false), []);
    assert.deepEqual(nextOrder([down(2)], 1, false), [up(1)]);
  });

  test('keeps the other columns and their positions with Shift', () => {
    assert.deepEqual(nextOrder([down(2)], 1, true), [down(2), up(1)]);
    assert.deepEqual(nextOrder([up(2), up(1)], 2, true), [down(2), up(1)]);
    assert.deepEqual(nextOrder([down(2), up(1)], 2, true), [up(1)]);
  });

  test('is not offered for nested types, blobs and names that the engine reads as a path', () => {
    for (const type of [
      'int64',
      'utf8',
      'decimal128(10, 2)',
      'timestamp[us, UTC]',
      'dictionary<int32, utf8>',
      'binary',
    ])
      assert.equal(why(type), undefined);
    assert.match(why('fixed_size_list<float>[3]')!, /vectors/);
    assert.match(why('list<utf8>')!, /lists/);
    assert.match(why('large_list<utf8>')!, /lists/);
    assert.match(why('struct<x: int32>')!, /structs/);
    assert.match(why('map<utf8, utf8>')!, /maps/);
    assert.match(why('large_binary', 'c', 'lance.blob.v2')!, /blobs/);
    for (const name of ['Unit Price', "it's", 'Größe', 'a"b', '__proto__']) assert.equal(why('int64', name), undefined);
    for (const name of ['a.b', 'a`b']) assert.match(why('int64', name)!, /dot or a backtick/);
    assert.match(why('int64', '')!, /no name/);
  });
});
