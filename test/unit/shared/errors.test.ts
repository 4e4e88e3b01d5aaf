import assert from 'node:assert/strict';
import { CatalogError, catalogErrorCodes, isAbort, isCatalogError, kindOfCode, messageOf } from '#shared/errors.ts';

suite('catalog errors', () => {
  test('have the codes of the specification, 0 to 23, each once', () => {
    assert.deepEqual(
      Object.values(catalogErrorCodes).toSorted((a, b) => a - b),
      Array.from({ length: 24 }, (_, code) => code),
    );
  });

  test('say what went wrong and what to do next in one message', () => {
    const error = new CatalogError('TableNotFound', 'Table "t" does not exist.', 'List the tables.');
    assert.equal(error.message, 'Table "t" does not exist. List the tables.');
    assert.equal(error.code, 4);
    assert.equal(new CatalogError('Internal', 'It broke.', '').message, 'It broke.');
  });

  test('cross a wire as sentence, code and next step, without their cause', () => {
    const cause = new Error('/home/ada/secret/path');
    const error = new CatalogError('TableNotFound', 'Table "t" does not exist.', 'List the tables.', { cause });
    assert.deepEqual(JSON.parse(JSON.stringify(error)), {
      error: 'Table "t" does not exist.',
      code: 4,
      detail: 'List the tables.',
    });
    assert.equal(error.cause, cause);
  });

  test('are known across bundles by their brand', () => {
    const foreign = { [Symbol.for('lance-catalog.CatalogError')]: true, kind: 'TableNotFound' };
    assert.ok(isCatalogError(foreign, 'TableNotFound'));
    assert.ok(!isCatalogError(foreign, 'Internal'));
    assert.ok(!isCatalogError(new Error('x')));
    assert.ok(!isCatalogError(null));
  });

  test('read from a wire have a known kind, whatever the code', () => {
    assert.equal(kindOfCode(11), 'VersionNotFound');
    for (const code of [24, -1, 1.5, '4', null, undefined]) assert.equal(kindOfCode(code), 'Internal');
  });

  test('are distinguished from cancellations', () => {
    assert.ok(isAbort(new DOMException('x', 'AbortError')));
    assert.ok(isAbort(Object.assign(new Error('x'), { code: 'ABORT_ERR' })));
    assert.ok(!isAbort(new CatalogError('Internal', 'x', '')));
    assert.equal(messageOf('text'), 'text');
    assert.equal(messageOf(new Error('sentence')), 'sentence');
  });
});
