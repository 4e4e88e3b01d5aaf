import assert from 'node:assert/strict';
import { guessCaption, isImageColumn } from '../../../../webviews/grid/galleryColumns.ts';

const columns = (...named: readonly [name: string, type: string][]) => named.map(([name, type]) => ({ name, type }));

suite('Columns of the gallery', () => {
  test('bytes and blobs may be images, lists of them are not', () => {
    for (const type of ['binary', 'large_binary', 'binary_view', 'fixed_size_binary[16]', 'blob'])
      assert.equal(isImageColumn({ type }), true, type);
    for (const type of ['utf8', 'list<binary>', 'struct<bytes: binary>', 'fixed_size_list<float>[4]'])
      assert.equal(isImageColumn({ type }), false, type);
  });

  test('the caption is a column that describes the row', () => {
    const named = columns(
      ['id', 'int64'],
      ['path', 'utf8'],
      ['image', 'binary'],
      ['caption', 'utf8'],
      ['title', 'utf8'],
    );
    assert.equal(guessCaption(named), 3);
  });

  test('without a describing name it is the path, else the first string, else the id, else the row', () => {
    assert.equal(guessCaption(columns(['lang', 'utf8'], ['file_name', 'large_utf8'])), 1);
    assert.equal(guessCaption(columns(['lang', 'utf8'], ['country', 'utf8'])), 0);
    assert.equal(guessCaption(columns(['width', 'int32'], ['photo_id', 'int64'])), 1);
    assert.equal(guessCaption(columns(['width', 'int32'], ['image', 'binary'])), undefined);
  });

  test('lists of strings make no caption', () => {
    assert.equal(guessCaption(columns(['captions', 'list<utf8>'], ['image', 'binary'])), undefined);
  });
});
