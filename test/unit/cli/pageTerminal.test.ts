import assert from 'node:assert/strict';
import { splitIntoPages } from '../../../kernel/cli/pageTerminal.ts';

suite('Pages of a text in a terminal', () => {
  const size = { rows: 5, columns: 20 };

  test('have each line, and no more rows than the terminal', () => {
    const text = Array.from({ length: 11 }, (_, line) => `line ${line}`).join('\n');
    const pages = splitIntoPages(text, size);
    assert.equal(pages.join('\n'), text);
    assert.deepEqual(
      pages.map((page) => page.split('\n').length),
      [4, 4, 3],
    );
  });

  test('count the rows that a long line takes, also with tabs and wide characters', () => {
    for (const line of ['x'.repeat(200), '\t'.repeat(30), '界'.repeat(100)]) {
      const pages = splitIntoPages(line, size);
      assert.equal(pages.join('\n').replaceAll('\n', ''), line);
      assert.ok(pages.length >= 3);
    }
  });
});
