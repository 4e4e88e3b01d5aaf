import assert from 'node:assert/strict';
import { fieldPathText, parseFieldPath, quotedFieldPath } from '#shared/fieldPath.ts';

suite('The path of a nested field', () => {
  const paths = [['address', 'zip'], ['a', 'b.c'], ['`', '``'], ['a b', 'Größe', '"x"'], ['order'], ['1x', '_y']];

  test('is read back as it was written, quoted or not', () => {
    for (const path of paths) {
      assert.deepEqual(parseFieldPath(fieldPathText(path)), path);
      assert.deepEqual(parseFieldPath(quotedFieldPath(path)), path);
    }
  });

  test('has plain words without quotes', () => {
    assert.equal(fieldPathText(['address', 'zip', 'b.c', '1x', 'a`b']), 'address.zip.`b.c`.`1x`.`a``b`');
    assert.equal(quotedFieldPath(['address', 'zip']), '`address`.`zip`');
  });

  test('is also the name of a column, but no text with an open quote or without a name', () => {
    assert.deepEqual(parseFieldPath('Odd name'), ['Odd name']);
    for (const text of ['', '.', 'a.', '.a', 'a..b', 'a`b', '`a', 'a.``', '`a`b'])
      assert.equal(parseFieldPath(text), undefined, text);
  });
});
