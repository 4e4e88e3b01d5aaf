import assert from 'node:assert/strict';
import { CatalogNames, type NamedCatalog } from '#catalog/catalogNames.ts';
import type { Naming } from '#shared/catalogConfig.ts';

/** Stands in for a catalog. The tests check how often it is called, and how its names are used. */
function catalogStandIn(tables: string[], fail = () => false): NamedCatalog & { calls: string[] } {
  const calls: string[] = [];
  const columns = [
    { name: 'id', type: 'int64', nullable: false },
    { name: 'unit price', type: 'double', nullable: true },
    { name: 'a`b', type: 'utf8', nullable: true },
  ];
  return {
    calls,
    listTables: async (path = []) => {
      calls.push(`tables of ${Array.isArray(path) ? path.join('/') : ''}`);
      if (fail()) throw new Error('not now');
      return { tables };
    },
    listNamespaces: async () => ({ namespaces: ['eu'] }),
    describeTable: async (name: string) => ({ name, namespacePath: [], version: 1, numRows: 0, columns }),
  };
}

const tables: Naming['what'] = { kind: 'table', catalog: 'db', namespacePath: [] };
const columns = (isSql: boolean): Naming['what'] => ({
  kind: 'column',
  table: { catalog: 'db', name: 't', namespacePath: [] },
  isSql,
});

const columnOf = (variable: string): Naming['what'] => ({ kind: 'column', table: { variable }, isSql: false });

const textsOf = async (names: CatalogNames, what: Naming['what'], quote: Naming['quote'] = "'") =>
  (await names.fitting({ what, quote })).map(({ text }) => text);

const held = async (variable: string) => (variable === 't' ? [{ name: 'id', type: 'int64' }] : undefined);

suite('names of a catalog', () => {
  test('are escaped for the string they are written in', async () => {
    const names = new CatalogNames({ catalog: async () => catalogStandIn(["it's", 'a"b', 'c`${d}', 'e\\f']) });
    assert.deepEqual(await textsOf(names, tables), ["it\\'s", 'a"b', 'c`${d}', 'e\\\\f']);
    assert.deepEqual(await textsOf(names, tables, '"'), ["it's", 'a\\"b', 'c`${d}', 'e\\\\f']);
    assert.deepEqual(await textsOf(names, tables, '`'), ["it's", 'a"b', 'c\\`\\${d}', 'e\\\\f']);
  });

  test('are quoted where they stand in SQL, and nowhere else', async () => {
    const names = new CatalogNames({ catalog: async () => catalogStandIn([]) });
    assert.deepEqual(await textsOf(names, columns(false)), ['id', 'unit price', 'a`b']);
    assert.deepEqual(await textsOf(names, columns(true)), ['id', '`unit price`', '`a``b`']);
  });

  test('are asked for once while a person types', async () => {
    const catalog = catalogStandIn(['a']);
    const names = new CatalogNames({ catalog: async () => catalog });
    await Promise.all([textsOf(names, tables), textsOf(names, tables)]);
    await textsOf(names, tables);
    assert.deepEqual(catalog.calls, ['tables of ']);
  });

  test('are none, without an error, while the catalog fails, and asked for again', async () => {
    let isDown = true;
    const catalog = catalogStandIn(['a'], () => isDown);
    const names = new CatalogNames({ catalog: async () => catalog });
    assert.deepEqual(await textsOf(names, tables), []);
    isDown = false;
    assert.deepEqual(await textsOf(names, tables), ['a']);
  });

  test('are empty for a variable that is not a catalog', async () => {
    const names = new CatalogNames({ catalog: async () => undefined });
    assert.deepEqual(await textsOf(names, tables), []);
  });

  test('are not awaited after the user has continued to type', async () => {
    const names = new CatalogNames({ catalog: () => new Promise(() => {}) });
    const gone = new AbortController();
    const asked = names.fitting({ what: tables, quote: "'" }, gone.signal);
    gone.abort();
    assert.deepEqual(await asked, []);
  });

  test('are found by the value of a variable where values are known', async () => {
    const names = new CatalogNames({ catalog: async () => undefined, columns: held });
    assert.deepEqual(await textsOf(names, columnOf('t')), ['id']);
    assert.deepEqual(await textsOf(names, columnOf('other')), []);
  });
});
