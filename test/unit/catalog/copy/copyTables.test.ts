import assert from 'node:assert/strict';
import type { Catalog } from '#catalog/catalog.ts';
import { copyTables } from '#catalog/copy/copyTables.ts';
import { identityOfRoot } from '#catalog/identity.ts';

/** Stands in for a catalog with endless content, because no real catalog can have endless content. */
function endlessCatalogStandIn(namespaces: readonly string[], tables: readonly string[]): Catalog {
  const catalog: Partial<Catalog> = {
    implementation: 'rest',
    location: 'http://127.0.0.1:1',
    // Limit the depth, because a path that is too deep would be refused for another reason.
    listNamespaces: (path = []) => Promise.resolve({ namespaces: path.length < 5 ? [...namespaces] : [] }),
    tableNames: () => Promise.resolve([...tables]),
  };
  return catalog as Catalog;
}

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);

suite('A copy of a catalog that never ends', function () {
  this.timeout(20_000);
  for (const [what, source] of [
    ['namespaces', endlessCatalogStandIn(many(1_000), [])],
    ['tables', endlessCatalogStandIn(['n'], many(60_000))],
  ] as const) {
    test(`is refused for its ${what} before anything is created`, async () => {
      const target: Partial<Catalog> = {
        createNamespace: () => assert.fail('a namespace was created'),
        namespaceExists: () => assert.fail('the target was asked'),
      };
      const copied = copyTables({ catalog: source, identity: identityOfRoot('/r', {}) }, [], {
        catalog: target as Catalog,
        path: ['copy'],
      });
      await assert.rejects(copied, {
        message: `Can't copy the catalog: it has more than 100000 ${what}. Copy its namespaces or tables in several calls.`,
      });
    });
  }
});
