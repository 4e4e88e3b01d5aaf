import assert from 'node:assert/strict';
import { pageOfList } from '#engine/server/requestBody.ts';
import { isCatalogError } from '#shared/errors.ts';

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

  test('continue after an entry that no longer exists', () => {
    assert.deepEqual(page(2, 'bb'), { entries: ['c', 'd'], page_token: 'd' });
    assert.deepEqual(page(2, 'x'), { entries: [] });
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
