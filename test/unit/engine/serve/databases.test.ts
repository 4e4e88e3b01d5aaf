import assert from 'node:assert/strict';
import { databasesOf } from '#engine/serve/databases.ts';
import { isCatalogError } from '#shared/errors.ts';

suite('the databases of a server', () => {
  test('are its root when none is named', () => {
    assert.deepEqual(databasesOf('/data', []), [{ name: 'default', root: '/data', isUnnamed: true }]);
  });

  test('are folders below the root, or roots of their own', () => {
    assert.deepEqual(databasesOf('s3://bucket/all/', ['shop', 'eu=/data/eu', 'us=s3://other/us']), [
      { name: 'shop', root: 's3://bucket/all/shop' },
      { name: 'eu', root: '/data/eu' },
      { name: 'us', root: 's3://other/us' },
    ]);
  });

  for (const [what, root, given] of [
    ['nothing to serve', undefined, []],
    ['a name twice', '/data', ['a', 'a=/b']],
    ['a name twice but for capital letters', '/data', ['eu', 'EU=/b']],
    ['a name that leaves the root', '/data', ['..']],
    ['a name with a slash', '/data', ['a/b']],
    ['a database without a root', undefined, ['a']],
    ['an empty root', '/data', ['a=']],
  ] as const) {
    test(`are refused for ${what}`, () => {
      assert.throws(
        () => databasesOf(root, given),
        (error) => isCatalogError(error, 'InvalidInput'),
      );
    });
  }
});
