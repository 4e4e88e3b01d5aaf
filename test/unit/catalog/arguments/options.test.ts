import assert from 'node:assert/strict';
import { checkChoice, checkOptions, checkPage, checkVersion, resolveTail } from '#catalog/arguments/options.ts';
import { isCatalogError } from '#shared/errors.ts';

type Options = { namespacePath?: readonly string[] | undefined; version?: number };
const resolve = (...tail: unknown[]) => resolveTail<Options>('openTable', tail, ['namespacePath', 'version']);

const refuses = (call: () => unknown, ...words: string[]): void => {
  assert.throws(call, (error: unknown) => {
    assert.ok(isCatalogError(error, 'InvalidInput'), String(error));
    for (const word of words) assert.ok(error.message.includes(word), `${error.message} does not say ${word}`);
    return true;
  });
};

suite('the last arguments of a call', () => {
  test('may be left out: the root and no options', () => {
    for (const tail of [[], [undefined], [undefined, undefined]]) {
      assert.deepEqual(resolve(...tail), { namespacePath: [], options: {} });
    }
  });

  test('name the namespace as an array or as an option, which come to the same', () => {
    const wanted = { namespacePath: ['a', 'b'], options: { version: 2 } };
    assert.deepEqual(resolve(['a', 'b'], { version: 2 }), wanted);
    assert.deepEqual(resolve({ namespacePath: ['a', 'b'], version: 2 }), wanted);
    assert.deepEqual(resolve(undefined, { namespacePath: ['a', 'b'], version: 2 }), wanted);
    assert.deepEqual(resolve(['a', 'b'], { namespacePath: ['a', 'b'], version: 2 }), wanted);
  });

  test('that name two different namespaces are refused', () => {
    refuses(() => resolve(['a'], { namespacePath: ['b'] }), '[a]', '[b]');
    refuses(() => resolve([], { namespacePath: ['b'] }), 'two namespaces');
  });

  test('with an unknown option are refused, and the known ones are listed', () => {
    refuses(() => resolve({ namespace: ['a'] }), '"namespace"', 'namespacePath, version');
    refuses(() => resolve(['a'], { versoin: 1 }), '"versoin"');
  });

  test('that are no options are refused', () => {
    refuses(() => resolve('a'));
    refuses(() => resolve(7));
    refuses(() => resolve({}, {}), 'got two arguments');
    refuses(() => resolve(['a'], ['b']));
    refuses(() => resolve(['a'], {}, {}), 'too many');
    refuses(() => resolve(['a', '']), 'empty');
    refuses(() => resolve({ namespacePath: 'a' }), 'array');
  });

  test('do not change what the caller gave', () => {
    const path = ['a'];
    const { namespacePath } = resolve(path);
    assert.notEqual(namespacePath, path);
  });
});

suite('options', () => {
  test('of a few words take those alone', () => {
    assert.equal(checkChoice('drop', 'mode', undefined, ['fail', 'skip']), undefined);
    assert.equal(checkChoice('drop', 'mode', 'skip', ['fail', 'skip']), 'skip');
    refuses(() => checkChoice('drop', 'mode', 'Skip', ['fail', 'skip']), '"Skip"', '"fail", "skip"');
  });

  test('that count take whole numbers in their range', () => {
    assert.deepEqual(checkPage('list', {}), { limit: 100, pageToken: undefined });
    assert.deepEqual(checkPage('list', { limit: 1, pageToken: 'x' }), { limit: 1, pageToken: 'x' });
    for (const limit of [0, 1001, 1.5, Number.NaN, '7' as never])
      refuses(() => checkPage('list', { limit }), String(limit));
    assert.equal(checkVersion('open', 3), 3);
    for (const version of [0, -1, 1.5, '1' as never]) refuses(() => checkVersion('open', version), String(version));
    refuses(() => checkOptions('open', 'x', []), 'object');
  });
});
