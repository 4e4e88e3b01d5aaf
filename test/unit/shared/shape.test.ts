import assert from 'node:assert/strict';
import {
  anyOf,
  bothOf,
  type Check,
  ensureShape,
  isBoolean,
  isCount,
  isFiniteNumber,
  isInteger,
  isNonNegativeNumber,
  isString,
  listOf,
  mapOf,
  nullable,
  oneOf,
  optional,
  shape,
  shapeFor,
} from '#shared/shape.ts';

const values: readonly unknown[] = [undefined, null, true, '', 'a', 0, 1, -1, 1.5, 2 ** 53, Infinity, NaN, 1n, [], {}];

suite('A check of a shape', () => {
  const accepted: readonly [name: string, check: Check, values: readonly unknown[]][] = [
    ['isString', isString, ['', 'a']],
    ['isBoolean', isBoolean, [true]],
    ['isFiniteNumber', isFiniteNumber, [0, 1, -1, 1.5, 2 ** 53]],
    ['isNonNegativeNumber', isNonNegativeNumber, [0, 1, 1.5, 2 ** 53]],
    ['isInteger', isInteger, [0, 1, -1]],
    ['isCount', isCount, [0, 1]],
    ['optional', optional(isCount), [undefined, 0, 1]],
    ['nullable', nullable(isCount), [null, 0, 1]],
    ['oneOf', oneOf('a', null), [null, 'a']],
    ['anyOf', anyOf(isBoolean, isString), [true, '', 'a']],
    ['bothOf', bothOf(isInteger, isNonNegativeNumber), [0, 1]],
    ['listOf', listOf(isString), [[]]],
    ['mapOf', mapOf(isString), [{}]],
    ['shape', shape({}), [{}]],
  ];
  for (const [name, check, expected] of accepted)
    test(`${name} accepts its values and no others`, () => {
      assert.deepEqual(
        values.filter((value) => check(value)),
        expected,
      );
    });

  test('of a list or a map checks every element', () => {
    assert.ok(listOf(isString)(['a', 'b']));
    assert.ok(!listOf(isString)(['a', 1]));
    assert.ok(mapOf(isString)({ a: 'b' }));
    assert.ok(!mapOf(isString)({ a: 'b', c: undefined }));
    assert.ok(mapOf(optional(isString))({ a: 'b', c: undefined }));
    assert.ok(!mapOf(isString)(['a']));
    // JSON.parse creates an own property, which is ordinary data.
    assert.ok(!mapOf(isString)(JSON.parse('{"__proto__": 1}')));
  });

  test('of an object checks the named fields, also inherited ones, and ignores others', () => {
    const check = shapeFor<{ id: string; size?: number }>({ id: isString, size: optional(isCount) });
    assert.ok(check({ id: 'a' }));
    assert.ok(check({ id: 'a', size: 1, more: true }));
    assert.ok(!check({ size: 1 }));
    assert.ok(!check({ id: 'a', size: 'b' }));
    assert.ok(!check(Object.assign(Object.create({ size: 'b' }), { id: 'a' })));
    assert.ok(!check(['a']));
  });
});

suite('A value with an ensured shape', () => {
  test('is returned as it is', () => {
    const value = ['a'];
    assert.equal(
      ensureShape(value, listOf(isString), () => new Error('never')),
      value,
    );
  });

  test('that does not fit ends in the error of its reader, which receives the value', () => {
    assert.throws(
      () => ensureShape(1, isString, (value) => new RangeError(`Expected a string, got ${typeof value}.`)),
      new RangeError('Expected a string, got number.'),
    );
  });
});
