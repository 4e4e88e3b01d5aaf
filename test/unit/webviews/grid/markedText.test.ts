import assert from 'node:assert/strict';
import { markedParts, markedText } from '../../../../webviews/grid/markedText.ts';

suite('The marks of characters that can not be seen', () => {
  test('are none in ordinary strings', () => {
    for (const text of ['a b', 'Grüße, 東京', 'नमस्ते', 'می\u200Cخواهم', '👩\u200D👩\u200D👧'])
      assert.equal(markedParts(text), undefined, text);
  });

  for (const [text, marked] of [
    ['', '""'],
    [' a  b\t', '·a  b→'],
    ['   ', '···'],
    ['a\r\nb', 'a␍↵b'],
    ['\u202Ea\u2066b', '⟨U+202E⟩a⟨U+2066⟩b'],
    ['a\u200Bb\uFEFF', 'a⟨U+200B⟩b⟨U+FEFF⟩'],
    ['\u001B[31m\u0000', '⟨U+001B⟩[31m⟨U+0000⟩'],
    ['\u00A0a', '⟨U+00A0⟩a'],
  ] as const)
    test(`are in ${JSON.stringify(text)}`, () => assert.equal(markedText(text), marked));

  test('are few elements, however many such characters a string has', () => {
    const parts = markedParts('a\u0001'.repeat(2_000))!;
    assert.ok(parts.length < 70, `${parts.length} parts`);
    assert.equal(parts.map((part) => part.text).join(''), 'a⟨U+0001⟩'.repeat(2_000));
  });
});
