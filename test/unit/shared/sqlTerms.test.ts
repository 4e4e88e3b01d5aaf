import assert from 'node:assert/strict';
import { joinTerms, splitAlternatives, splitTerms, withoutParentheses } from '#shared/sqlTerms.ts';

const termsOf = (where: string): string[] => splitTerms(where).map(({ text }) => text);

suite('The terms of a filter', () => {
  test('are split at AND, but not within parentheses, strings, names, comments and BETWEEN', () => {
    for (const [where, terms] of [
      ['', []],
      ['  -- all', []],
      ['a = 1', ['a = 1']],
      ["a = 1 AND b = ' and '", ['a = 1', "b = ' and '"]],
      ['a = 1 and (b = 2 AND c = 3)', ['a = 1', '(b = 2 AND c = 3)']],
      ['a BETWEEN 1 AND 2 AND b', ['a BETWEEN 1 AND 2', 'b']],
      ['a NOT between 1 and 2 aNd b between 3 AND 4', ['a NOT between 1 and 2', 'b between 3 AND 4']],
      ['`x and y` = 1 AND "and" = 2', ['`x and y` = 1', '"and" = 2']],
      ['a /* and */ = 1 AND b -- and c\n AND d', ['a /* and */ = 1', 'b', 'd']],
      [
        "a IN (1, 2) AND NOT starts_with(b, 'it''s AND') AND c",
        ['a IN (1, 2)', "NOT starts_with(b, 'it''s AND')", 'c'],
      ],
      ['meta.and = 1 AND meta.or = 2', ['meta.and = 1', 'meta.or = 2']],
      ['v = [1, 2] AND sand > 1', ['v = [1, 2]', 'sand > 1']],
    ] as const)
      assert.deepEqual(termsOf(where), terms, where);
  });

  test('are one if they can not be split for certain', () => {
    for (const where of [
      'a AND b OR c',
      'CASE WHEN a AND b THEN c END AND d',
      'a AND b; c AND d',
      'a AND (b AND c',
      'a) AND b',
      "a = 'x AND b",
      'a AND /* b AND c',
      'a AND',
      'AND a',
      'a BETWEEN 1 AND',
      'a BETWEEN 1',
    ])
      assert.deepEqual(termsOf(where), [where]);
  });

  test('are joined with their meaning', () => {
    for (const [terms, where] of [
      [['a OR b'], 'a OR b'],
      [['a OR b', 'c AND d'], '(a OR b) AND c AND d'],
      [['a BETWEEN 1 AND 2', 'b'], 'a BETWEEN 1 AND 2 AND b'],
      [['a -- x', 'b'], '(a -- x\n) AND b'],
      [['CASE WHEN a THEN b END', 'c'], '(CASE WHEN a THEN b END) AND c'],
    ] as const)
      assert.equal(joinTerms(terms), where);
  });

  test('have alternatives and parentheses', () => {
    assert.deepEqual(
      splitAlternatives('a OR b AND c or (d OR e)')?.map(({ text }) => text),
      ['a', 'b AND c', '(d OR e)'],
    );
    assert.equal(splitAlternatives('(a OR b)'), undefined);
    assert.equal(withoutParentheses('(a OR (b))'), 'a OR (b)');
    assert.equal(withoutParentheses('(a) OR (b)'), '(a) OR (b)');
    assert.equal(withoutParentheses("(a = ')')"), "a = ')'");
  });
});
