import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { CatalogNames, type NamedCatalog } from '#catalog/names/catalogNames.ts';
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
  (await names.fitting({ what, quote })).names.map(({ text }) => text);

const held = async (variable: string) => (variable === 't' ? [{ name: 'id', type: 'int64' }] : undefined);

const sqlAny = (...namespacePath: string[]): Naming['what'] => ({
  kind: 'sqlAnyTable',
  catalog: 'db',
  namespacePath,
});

const inside = (...namespacePath: string[]): Naming['what'] => ({
  kind: 'sqlTable',
  catalog: 'db',
  namespacePath,
  isPath: false,
});

const namesOf = (names: Record<string, string[]>) => {
  const catalog = treeStandIn(names);
  return { catalog, names: new CatalogNames({ catalog: async () => catalog }) };
};

const tableNamed = (name: string) => ({ catalog: 'db', name, namespacePath: [] });

const columnsOf = (...all: string[]): Naming['what'] => ({
  kind: 'sqlColumn',
  catalog: 'db',
  tables: all.map(tableNamed),
});

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

  test('are none, without an error, while the catalog fails, and asked for again some seconds later', async () => {
    mock.timers.enable({ apis: ['Date'] });
    try {
      let isDown = true;
      const catalog = catalogStandIn(['a'], () => isDown);
      const names = new CatalogNames({ catalog: async () => catalog });
      for (let letter = 0; letter < 5; letter++) assert.deepEqual(await textsOf(names, tables), []);
      assert.equal(catalog.calls.length, 1);
      isDown = false;
      mock.timers.tick(5000);
      assert.deepEqual(await textsOf(names, tables), ['a']);
    } finally {
      mock.timers.reset();
    }
  });

  test('are empty for a variable that is not a catalog', async () => {
    const names = new CatalogNames({ catalog: async () => undefined });
    assert.deepEqual(await textsOf(names, tables), []);
  });

  test('are not awaited after the user has continued to type', async () => {
    const names = new CatalogNames({ catalog: () => new Promise(() => {}) });
    const gone = new AbortController();
    const asked = names.fitting({ what: tables, quote: "'" }, { signal: gone.signal });
    gone.abort();
    assert.deepEqual((await asked).names, []);
  });

  test('are found by the value of a variable where values are known', async () => {
    const names = new CatalogNames({ catalog: async () => undefined, columns: held });
    assert.deepEqual(await textsOf(names, columnOf('t')), ['id']);
    assert.deepEqual(await textsOf(names, columnOf('other')), []);
  });

  suite('of all namespaces', () => {
    const any: Naming['what'] = { kind: 'anyTable', catalog: 'db', isClosed: true };
    test('are written as the arguments of a call', async () => {
      const { names } = namesOf({ '': ['users'], shop: ["it's"], 'shop/eu': ['orders'] });
      const texts = ["users'", "it\\'s', ['shop']", "orders', ['shop', 'eu']"];
      assert.deepEqual(await textsOf(names, any), texts);
      const { names: shown } = await names.fitting({ what: { ...any, isClosed: false }, quote: '"' });
      assert.deepEqual(
        shown.map(({ name, text, filter }) => [name, text, filter]),
        [
          ['users', 'users', 'users'],
          ["shop.it's", `it's", ["shop"]`, "shop.it's"],
          ['shop.eu.orders', 'orders", ["shop", "eu"]', 'shop.eu.orders'],
        ],
      );
    });

    test('are written for a query, in quotes where they need them', async () => {
      const { names } = namesOf({ '': ['users', 'order'], shop: ['a b'], 'shop/eu': ['orders'], 'x-y': ['"'] });
      const all = ['users', '"order"', 'shop."a b"', '"x-y".""""', '"shop/eu".orders'];
      assert.deepEqual(await textsOf(names, sqlAny(), ''), all);
      assert.deepEqual(await textsOf(names, sqlAny('shop', 'eu'), ''), ['"shop/eu".orders']);
    });

    test('are compared with the typed text as it is written', async () => {
      const { names } = namesOf({ shop: ['products'] });
      const filterOf = async (typed: string) =>
        (await names.fitting({ what: any, quote: "'" }, { typed })).names.map(({ filter }) => filter);
      assert.deepEqual(await filterOf('shop.p'), ['shop.products']);
      assert.deepEqual(await filterOf('shop/p'), ['shop/products']);
    });

    test('are asked for once while a person types, and again after the catalog changed', async () => {
      const { catalog, names } = namesOf({ '': ['users'], shop: ['products'] });
      for (const typed of ['', 'p', 'pr']) await names.fitting({ what: sqlAny(), quote: '' }, { typed });
      assert.equal(catalog.calls, 4);
      names.clear();
      await textsOf(names, sqlAny());
      assert.equal(catalog.calls, 8);
    });

    test('are those of the namespaces that can be listed', async () => {
      const { catalog, names } = namesOf({ '': ['users'], closed: ['secret'], shop: ['products'] });
      const { listTables } = catalog;
      catalog.listTables = async (path) => {
        if (Array.isArray(path) && path[0] === 'closed') throw new Error('not allowed');
        return listTables(path);
      };
      const found = await names.fitting({ what: sqlAny(), quote: '' });
      assert.deepEqual(
        found.names.map(({ text }) => text),
        ['users', 'shop.products', 'closed', 'shop'],
      );
      assert.ok(found.isPartial);
    });

    test('are the first thousand, and then those that fit what is typed', async () => {
      const many = Array.from({ length: 2500 }, (_, index) => `t${index}`);
      const { names } = namesOf({ big: many });
      const first = await names.fitting({ what: sqlAny(), quote: '' });
      assert.deepEqual([first.names.length, first.isPartial], [1000, true]);
      const narrowed = await names.fitting({ what: sqlAny(), quote: '' }, { typed: 'T249' });
      assert.equal(narrowed.isPartial, false);
      assert.equal(narrowed.names[0]?.text, 'big.t249');
      assert.equal(narrowed.names.length, 11);
      const inOne = await names.fitting(
        { what: { ...tables, namespacePath: ['big'] }, quote: "'" },
        { typed: 't2499' },
      );
      assert.deepEqual(
        inOne.names.map(({ text }) => text),
        ['t2499'],
      );
    });

    test('end with a limit of requests where there are very many namespaces', async () => {
      const { catalog, names } = namesOf(
        Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`n${index}`, ['t']])),
      );
      const { names: found, isPartial } = await names.fitting({ what: sqlAny(), quote: '' });
      assert.ok(isPartial);
      assert.ok(found.some(({ text, kind }) => text === 'n899' && kind === 'namespace'));
      assert.ok(catalog.calls <= 200, `${catalog.calls} requests`);
    });
  });

  test('of a query are also those of other catalogs, after those of the catalog itself', async () => {
    const catalogs = {
      company: treeStandIn({ '': ['users'], 'shop/eu': ['orders'], shop: ['products'] }),
      shop: treeStandIn({ '': ['hidden'] }),
    };
    const other = async (name: string) => catalogs[name as keyof typeof catalogs];
    const db = treeStandIn({ '': ['own'], shop: ['mine'] });
    const names = new CatalogNames({
      catalog: async () => db,
      otherNames: async () => ['company', 'shop', 'a b'],
      other,
    });
    assert.deepEqual(await textsOf(names, sqlAny(), ''), ['own', 'shop.mine', 'company', 'shop', '"a b"']);
    // A namespace of the catalog comes before another catalog with its name.
    assert.deepEqual(await textsOf(names, inside('shop'), ''), ['mine']);
    assert.deepEqual(await textsOf(names, inside('company'), ''), ['users', 'shop']);
    const whole = ['company.shop.products', 'company."shop/eu".orders'];
    assert.deepEqual(await textsOf(names, sqlAny('company', 'shop'), ''), whole);
    const { names: typed } = await names.fitting(
      { what: sqlAny('company', 'shop'), quote: '' },
      { typed: 'company.shop.pr' },
    );
    assert.equal(typed[0]?.filter, 'company.shop.products');
    assert.deepEqual(await textsOf(names, inside('nothing'), ''), []);
    const table = { catalog: 'db', name: 'products', namespacePath: ['company', 'shop'] };
    catalogs.company.describeTable = async (name, options) => {
      const { namespacePath = [] } = options && 'namespacePath' in options ? options : {};
      const column = { name: `column of ${namespacePath.join('/')}`, type: 'int64', nullable: true };
      return { name, namespacePath, version: 1, numRows: 0, columns: [column] };
    };
    assert.deepEqual(await textsOf(names, { kind: 'sqlColumn', catalog: 'db', tables: [table] }, ''), [
      '"column of shop"',
    ]);
  });

  test('are read once for each table of a query', async () => {
    const catalog = catalogStandIn([]);
    let described = 0;
    const { describeTable } = catalog;
    catalog.describeTable = async (name: string) => (described++, describeTable(name));
    const names = new CatalogNames({ catalog: async () => catalog });
    assert.deepEqual(await textsOf(names, columnsOf('a'), ''), ['id', '"unit price"', '"a`b"']);
    assert.deepEqual(await textsOf(names, columnsOf('a', 'b'), ''), ['id', '"unit price"', '"a`b"']);
    assert.equal(described, 2);
  });
});

const pageOf = (all: string[], pageToken: string | undefined) => {
  const start = Number(pageToken ?? 0);
  const isLast = start + 1000 >= all.length;
  return { list: all.slice(start, start + 1000), ...(!isLast && { pageToken: String(start + 1000) }) };
};
const pathText = (path: unknown): string => (Array.isArray(path) ? path.join('/') : '');

/** Stands in for a catalog with namespaces, to count its calls and to have more names than a test can create. */
function treeStandIn(names: Record<string, string[]>): NamedCatalog & { calls: number } {
  const paths = Object.keys(names);
  const catalog = {
    calls: 0,
    listTables: async (path: unknown, options?: { pageToken?: string | undefined }) => {
      catalog.calls++;
      const { list, ...more } = pageOf(names[pathText(path)] ?? [], options?.pageToken);
      return { tables: list, ...more };
    },
    listNamespaces: async (path: unknown) => {
      catalog.calls++;
      const parent = pathText(path);
      const start = parent === '' ? '' : `${parent}/`;
      const below = paths.filter((each) => each !== parent && each.startsWith(start));
      return { namespaces: [...new Set(below.map((each) => each.slice(start.length).split('/')[0] ?? ''))] };
    },
    describeTable: () => Promise.reject(new Error('not in this test')),
  };
  return catalog;
}
