import assert from 'node:assert/strict';
import { tableFromArrays } from '#arrow';
import { tableText } from '#session/display/tableText.ts';

suite('A table as text', () => {
  test('has control characters of values and names escaped, which a terminal would obey', () => {
    const table = tableFromArrays({ 'na\u009Bme': ['\u001B]0;title\u0007', 'a\tb\n c', 'nul\0 del\u007F'] });
    const [head, title, spaces, others] = tableText(table, 3)
      .split('\n')
      .map((line) => line.trimEnd());
    assert.deepEqual([head, title, spaces, others], ['na\\x9bme', '\\x1b]0;title\\x07', 'a b c', 'nul\\x00 del\\x7f']);
  });
});
