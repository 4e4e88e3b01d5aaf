import assert from 'node:assert/strict';
import { parseVectorType, type VectorType } from '#shared/vectorTypes.ts';
import { parseVector } from '../../../../webviews/table/typedVector.ts';

const typeOf = (text: string): VectorType => {
  const type = parseVectorType(text);
  assert.ok(type, text);
  return type;
};
const four = typeOf('fixed_size_list<float>[4]');
const one = typeOf('fixed_size_list<double>[1]');
const bytes = typeOf('fixed_size_list<uint8>[2]');
const lists = typeOf('list<fixed_size_list<float>[2]>');

const problemOf = (typed: string, type = four): string => {
  const parsed = parseVector(typed, type, 2_000);
  return 'problem' in parsed ? parsed.problem : JSON.stringify(parsed);
};

suite('A typed vector', () => {
  for (const typed of [
    '[1, 2.5, -3e-2, 4]',
    '1 2.5 -0.03 4',
    '1;2.5; -0.03,4',
    '[1. 2.5\n -0.03 4.]',
    'array([1, 2.5, -0.03, 4], dtype=float32)',
    'np.array([1,2.5,-0.03,4])',
  ])
    test(`is read from ${JSON.stringify(typed)}`, () =>
      assert.deepEqual(parseVector(typed, four, 10), { vectors: [[1, 2.5, -0.03, 4]] }));

  test('is a row if it is one number, also with marks of thousands, and a vector in brackets', () => {
    assert.deepEqual(parseVector(' 7 ', four, 10), { row: 6 });
    assert.deepEqual(parseVector('1,234', four, 2_000), { row: 1_233 });
    assert.deepEqual(parseVector('7', one, 10), { row: 6 });
    assert.deepEqual(parseVector('[7]', one, 10), { vectors: [[7]] });
    assert.deepEqual(parseVector('100 200', bytes, 10), { vectors: [[100, 200]] });
    assert.match(problemOf('0'), /Expected a row number from 1 to 2,000, got "0"/);
  });

  test('is a list of vectors for a column of lists', () => {
    assert.deepEqual(parseVector('[[1, 2], [3, 4]]', lists, 10), {
      vectors: [
        [1, 2],
        [3, 4],
      ],
    });
    assert.deepEqual(parseVector('[1, 2]', lists, 10), { vectors: [[1, 2]] });
    assert.equal(problemOf('[[1, 2], [3]]', lists), 'Expected 2 numbers, got 1.');
  });

  test('says what is wrong', () => {
    assert.equal(problemOf(''), 'Expected a row number or 4 numbers, got nothing.');
    assert.equal(problemOf('1 2 3'), 'Expected 4 numbers, got 3.');
    assert.equal(problemOf('[1, x, 3, 4]'), 'Expected numbers, got "x" at position 2.');
    assert.equal(problemOf('[1,,3,4]'), 'Expected numbers, got "" at position 2.');
    assert.match(problemOf('[1, NaN, 3, 4]'), /^The vector has NaN at position 2/);
    assert.match(problemOf('[1, 1e999, 3, 4]'), /^The vector has Infinity at position 2/);
    assert.equal(problemOf('[1, 256]', bytes), 'Expected whole numbers from 0 to 255, got 256.');
  });

  test('has no type if the engine can not search it', () => {
    for (const type of ['list<float>', 'fixed_size_list<int8>[4]', 'list<fixed_size_list<uint8>[4]>', 'utf8'])
      assert.equal(parseVectorType(type), undefined, type);
  });
});
