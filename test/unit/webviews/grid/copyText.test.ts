import assert from 'node:assert/strict';
import { type CopiedCells, copyText } from '../../../../webviews/grid/copyText.ts';

const cells: CopiedCells = {
  names: ['id', 'note "a"', 'id'],
  rows: [
    [
      { text: '9007199254740993', kind: 'number' },
      { text: 'two\nlines, a | and a \t', kind: 'text' },
      { text: '', kind: 'null' },
    ],
    [
      { text: 'NaN', kind: 'number' },
      { text: 'say "hi"', kind: 'text' },
      { text: 'true', kind: 'boolean' },
    ],
  ],
};

suite('Copied cells', () => {
  test('as tab-separated text, with quotes where a field has tabs, line breaks or quotes', () => {
    assert.equal(copyText(cells, 'tsv'), '9007199254740993\t"two\nlines, a | and a \t"\t\nNaN\t"say ""hi"""\ttrue');
  });

  test('as CSV with a header', () => {
    assert.equal(
      copyText(cells, 'csv'),
      'id,"note ""a""",id\r\n9007199254740993,"two\nlines, a | and a \t",\r\nNaN,"say ""hi""",true',
    );
  });

  test('as JSON with exact integers, both columns of one name, and what JSON has no number for as text', () => {
    const text = copyText(cells, 'json');
    assert.ok(text.includes('"id": 9007199254740993, "note \\"a\\"": "two\\nlines, a | and a \\t", "id": null'));
    assert.ok(text.includes('"id": "NaN"'));
    assert.equal((JSON.parse(text) as unknown[]).length, 2);
  });

  test('as Markdown, where bars and line breaks stay in their cell', () => {
    assert.deepEqual(copyText(cells, 'markdown').split('\n'), [
      '| id | note "a" | id |',
      '| --- | --- | --- |',
      '| 9007199254740993 | two<br>lines, a \\| and a \t |  |',
      '| NaN | say "hi" | true |',
    ]);
  });
});
