import assert from 'node:assert/strict';
import { isCatalogError } from '#shared/errors.ts';
import {
  checkKnownPath,
  checkName,
  checkNamespacePath,
  decodeId,
  displayPath,
  encodeId,
  nameProblem,
} from '#shared/names.ts';

const pathOf = (length: number): string[] => Array.from({ length }, () => 'a');

suite('names', () => {
  test('of letters, digits, "_", "-" and "." are fine', () => {
    for (const name of ['a', 'A9', 'with_under-dash.dot', '0', '...', '-', 'a'.repeat(64)]) {
      assert.equal(nameProblem('namespace', name), undefined, name);
    }
  });

  test('of anything else are refused, and the sentence shows the character', () => {
    for (const [name, shown] of [
      ['a b', '" "'],
      ['a/b', '"/"'],
      ['a$b', '"$"'],
      ['ü', '"ü"'],
      ['a\n', String.raw`"\n"`],
      ['💥', '"💥"'],
    ] as const) {
      assert.ok(nameProblem('table', name)?.what.includes(shown), name);
    }
  });

  test('that are empty, only dots or no text are refused', () => {
    for (const name of ['', '.', '..', null, undefined, 7, ['a']]) assert.ok(nameProblem('table', name));
  });

  test('are limited in length, tables more generously', () => {
    const name = 'a'.repeat(65);
    assert.ok(nameProblem('namespace', name)?.what.includes('65'));
    assert.equal(nameProblem('table', name), undefined);
    assert.ok(nameProblem('table', 'a'.repeat(129)));
  });

  test('throw InvalidInput with what to do', () => {
    assert.throws(
      () => checkName('table', 'a b'),
      (error: unknown) => isCatalogError(error, 'InvalidInput') && error.code === 13 && error.hint.startsWith('Use '),
    );
  });

  test('make paths of at most ten', () => {
    checkNamespacePath([]);
    checkNamespacePath(pathOf(10));
    assert.throws(() => checkNamespacePath(pathOf(11)));
    assert.throws(() => checkNamespacePath('a'));
    assert.throws(() => checkNamespacePath(['a', '']));
  });

  test('of a path to be made are checked where they are new', () => {
    checkNamespacePath(['ümlaut', 'a b', 'new']);
    assert.throws(() => checkNamespacePath(['a', 'a b']));
    assert.throws(() => checkNamespacePath(['', 'a']));
  });

  test('that exist may be anything but empty, or half a character', () => {
    checkKnownPath(['ümlaut', 'a b', 'a$b', '.', '💥']);
    assert.throws(() => checkKnownPath(['a', '']));
    assert.throws(() => checkKnownPath([7]));
    assert.throws(() => checkKnownPath(['\ud83d']));
  });

  test('become the identifiers of the contract and come back', () => {
    for (const path of [[], ['a'], ['a', 'b.c', 'd-e'], ['a$b', 'c'], ['a$b', 'c.d', 'e:f']]) {
      const { id, delimiter } = encodeId(path);
      assert.deepEqual(decodeId(id, delimiter), path);
    }
    assert.deepEqual(encodeId(['shop'], 'orders'), { id: 'shop$orders', delimiter: '$' });
    assert.deepEqual(encodeId(['shop'], 'orders', '.'), { id: 'shop.orders', delimiter: '.' });
    assert.deepEqual(encodeId([]), { id: '$', delimiter: '$' });
    assert.deepEqual(decodeId('a.b', '.'), ['a', 'b']);
  });

  test('are joined by "/" for people', () => {
    assert.equal(displayPath(['shop', 'eu'], 'orders'), 'shop/eu/orders');
    assert.equal(displayPath([]), '/');
  });
});
