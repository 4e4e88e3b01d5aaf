import assert from 'node:assert/strict';
import { problemSpan } from '../../../../webviews/table/filterProblem.ts';

suite('The place of a wrong filter', () => {
  test('is the word that the message is about, also if a string or a function has the same', () => {
    for (const [filter, message, marked] of [
      ['amoun > 1', 'Table "t" has no column "amoun". It has: id, amount.', 'amoun'],
      ["note = 'amoun' AND amoun = 1", 'Table "t" has no column "amoun". It has: note.', 'amoun', 19],
      ['lower(lower) = 1', 'Table "t" has no column "lower". It has: id.', 'lower', 6],
      ['`Odd one` = 1', 'Table "t" has no column "Odd one". It has: id.', '`Odd one`'],
      ["t = 'foo' AND foo(x) > 1", "Error parsing function: Error during planning: Invalid function 'foo'.", 'foo', 14],
      ['isnan(t)', "Error during planning: Function 'isnan' requires Numeric, but received String", 'isnan'],
      ['x > > 1', 'The filter "x > > 1" can\'t be parsed (Expected: an expression, found: >).', undefined],
      ['x > ) 1', 'The filter "x > ) 1" can\'t be parsed (it closes a parenthesis that is not open).', ')'],
      ['(x > (1', 'The filter "(x > (1" can\'t be parsed (it has a parenthesis that is not closed).', '(', 5],
      ['x > 1 AND', 'The filter "x > 1 AND" can\'t be parsed (Expected: an expression, found: EOF).', 'AND'],
      ["x > 1 AND t = 'ab", 'The filter "…" can\'t be parsed (it has a \' that is not closed).', "'ab"],
      [
        "x > 1 AND id = 'a'",
        'Error resolving filter expression x > 1 AND id = \'a\': Invalid user input: Received literal Utf8("a") and could not convert',
        "'a'",
      ],
      ['id = 1.5', "Received literal Float64(1.5) and could not convert to literal of type 'Int64'.", '1.5'],
      ['day > 5', 'the filter "day > 5" compares a date with a value of another type.', undefined],
      ['id = 1', 'The server did not answer.', undefined],
    ] as const) {
      const span = problemSpan(filter, message);
      assert.equal(span && filter.slice(span.start, span.end), marked, filter);
    }
    assert.deepEqual(problemSpan("note = 'amoun' AND amoun = 1", 'has no column "amoun"'), { start: 19, end: 24 });
  });
});
