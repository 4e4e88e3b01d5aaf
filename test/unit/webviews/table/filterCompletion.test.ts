import assert from 'node:assert/strict';
import { completeFilter } from '../../../../webviews/table/filterCompletion.ts';

const columns = ['id', 'name', 'Unit price', 'is_new'].map((name) => ({ name, type: 'utf8', nullable: true }));

/** Returns the completion at the mark `|`. */
function complete(marked: string, isAsked = false) {
  const cursor = marked.indexOf('|');
  const { start, end, suggestions } = completeFilter(marked.replace('|', ''), cursor, columns, isAsked);
  return { range: [start, end], texts: suggestions.map(({ text }) => text) };
}

suite('the completion of a filter', () => {
  test('offers nested fields by their paths, and replaces the whole path', () => {
    const nested = [
      { name: 'address', type: 'struct<…>' },
      { name: 'address.street', type: 'utf8', parent: 0 },
      { name: 'address.`post.box`', type: 'utf8', parent: 0 },
    ];
    const texts = (text: string) => completeFilter(text, text.length, nested, false);
    const { start, end, suggestions } = texts('id > 1 and address.s');
    assert.deepEqual([start, end, suggestions[0]?.text], [11, 20, 'address.street']);
    assert.deepEqual(
      texts('addr').suggestions.map(({ text }) => text),
      ['address', 'address.street', 'address.`post.box`'],
    );
    assert.deepEqual(
      texts('`addr').suggestions.map(({ text }) => text),
      ['`address`'],
    );
  });

  test('offers columns first, then functions and keywords, those that begin with the word before others', () => {
    const { range, texts } = complete('id > 1 and na|');
    assert.deepEqual(
      [range, texts],
      [
        [11, 13],
        ['name', 'isnan('],
      ],
    );
    assert.deepEqual(complete('i|d').texts.slice(0, 3), ['id', 'is_new', 'initcap(']);
  });

  test('replaces the whole word at the cursor, and writes odd names in backticks', () => {
    assert.deepEqual(complete('un|it > 1'), {
      range: [0, 4],
      texts: ['`Unit price`', 'date_trunc(', 'round(', 'trunc('],
    });
    assert.deepEqual(complete('`un|` > 1'), { range: [0, 4], texts: ['`Unit price`'] });
  });

  test('offers nothing in strings, after a whole name, or without a letter unless asked', () => {
    for (const text of ["name = 'na|", "name = 'it''s na|", '|', 'id > 1|', 'name|'])
      assert.deepEqual(complete(text).texts, [], text);
    assert.deepEqual(complete('|', true).texts.slice(0, 4), ['id', 'name', '`Unit price`', 'is_new']);
    assert.ok(complete("name = 'it''s' and na|").texts.includes('name'));
  });
});
