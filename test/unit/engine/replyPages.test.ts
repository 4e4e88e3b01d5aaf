import assert from 'node:assert/strict';
import { isCatalogError } from '#shared/errors.ts';
import { pageOfList } from '#engine/replyPages.ts';

suite('pages of a list', () => {
  const list = ['a', 'b', 'c', 'd', 'e'];
  const page = (limit: number | undefined, pageToken?: string) =>
    pageOfList(list, (name) => name, { limit, pageToken });

  test('go on behind their token, and the last one has none', () => {
    assert.deepEqual(page(2), { entries: ['a', 'b'], page_token: 'b' });
    assert.deepEqual(page(2, 'b'), { entries: ['c', 'd'], page_token: 'd' });
    assert.deepEqual(page(2, 'd'), { entries: ['e'] });
    assert.deepEqual(page(5), { entries: list });
    assert.deepEqual(page(undefined), { entries: list });
  });

  test('of another list are refused', () => {
    assert.throws(
      () => page(2, 'x'),
      (error) => isCatalogError(error, 'InvalidInput') && /page_token/.test(error.message),
    );
  });

  test('have a whole number of entries from 1', () => {
    for (const limit of [0, -1, 1.5, Number.NaN]) {
      assert.throws(
        () => page(limit),
        (error) => isCatalogError(error, 'InvalidInput'),
      );
    }
  });
});
