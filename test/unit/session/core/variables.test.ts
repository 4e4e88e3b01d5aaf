import assert from 'node:assert/strict';
import { listVariables } from '#session/core/variables.ts';

class CatalogStandIn {
  readonly location: string;
  constructor(location: string) {
    this.location = location;
  }
  openTable(): void {}
  createTable(): void {}
  listNamespaces(): void {}
}

suite('The list of variables', () => {
  test('shows a catalog by its directory or address, without credentials', () => {
    const locals = {
      here: new CatalogStandIn('/data/shop'),
      there: new CatalogStandIn('https://name:secret@example.com/api?key=secret'),
    };
    assert.deepEqual(
      listVariables(locals, {}).variables.map(({ name, type, preview }) => [name, type, preview]),
      [
        ['here', 'Catalog', '/data/shop'],
        ['there', 'Catalog', 'https://example.com/api'],
      ],
    );
  });
});
