import assert from 'node:assert/strict';
import type { Capabilities, Capability } from '#catalog/catalog.ts';
import { type Operation, operations } from '#catalog/contract.ts';
import { CatalogError } from '#shared/errors.ts';
import { abilitiesOf } from '../../../../extension/connections/abilityRules.ts';
import { serverErrorAction } from '../../../../extension/connections/failureMessage.ts';
import { columnsProblem, schemaOf } from '../../../../extension/explorer/columnText.ts';
import { countContents, formatContents } from '../../../../extension/explorer/contents.ts';
import { abilityNames } from '../../../../extension/explorer/node.ts';

const capabilities = (known: Partial<Record<Operation, Capability>>): Capabilities => ({
  ...(Object.fromEntries(Object.keys(operations).map((name) => [name, 'unknown'])) as Record<Operation, Capability>),
  ...known,
});

suite('what the tree offers', () => {
  test('is everything that the catalog did not refuse', () => {
    assert.deepEqual([...abilitiesOf(capabilities({}))], [...abilityNames]);
    const found = abilitiesOf(capabilities({ RenameTable: 'no', DropTable: 'yes', CreateNamespace: 'no' }));
    assert.deepEqual([...found], ['dropNamespace', 'createTable', 'optimizeTable', 'dropTable']);
  });

  test('after a failure is the key where the server asks who one is, else another try', () => {
    assert.equal(serverErrorAction(new CatalogError('Unauthenticated', 'Who?', '')), 'key');
    assert.equal(serverErrorAction(new CatalogError('PermissionDenied', 'Not you.', '')), 'key');
    assert.equal(serverErrorAction(new CatalogError('ServiceUnavailable', 'Nobody is there.', '')), 'retry');
    assert.equal(serverErrorAction(new TypeError('odd')), 'retry');
  });
});

suite('the columns of a new table', () => {
  test('are names with types', () => {
    const { fields } = schemaOf('id int64, note STRING ,embedding vector[3], at timestamp');
    assert.deepEqual(
      fields.map(({ name, type }) => `${name}: ${type}`),
      ['id: Int64', 'note: Utf8', 'embedding: FixedSizeList[3]<Float32>', 'at: Timestamp<MICROSECOND, UTC>'],
    );
    assert.ok(fields.every(({ nullable }) => nullable));
  });

  for (const [text, says] of [
    ['', /a name and a type/],
    ['id int64,', /a name and a type/],
    ['id', /"id" needs a type/],
    ['id int64 note', /comma after "id int64"/],
    ['id int64, Unit Price float64', /name without spaces and a type, got "Unit Price float64"/],
    ['id int65', /got "int65"\. Use one of int8/],
    ['id vector[0]', /got "vector\[0\]"\. Use one of int8/],
    ['id vector[9999999]', /got "vector\[9999999\]"\. Use one of int8/],
    ['id constructor', /got "constructor"\. Use one of int8/],
    ['a.b int64', /letters, digits and "_" that does not start with a digit, got "a\.b"/],
    ['id int64, id string', /Two columns have the name "id"/],
  ] as const) {
    test(`are refused with a sentence: ${JSON.stringify(text)}`, () => {
      assert.match(columnsProblem(text) ?? '', says);
      assert.throws(() => schemaOf(text), { name: 'CatalogError' });
    });
  }
});

suite('what a cascading drop would take', () => {
  const { signal } = new AbortController();
  const tree: Record<string, { namespaces: string[]; tables: string[] }> = {
    shop: { namespaces: ['eu', 'us'], tables: ['products'] },
    'shop/eu': { namespaces: ['north'], tables: ['orders', 'returns'] },
    'shop/us': { namespaces: [], tables: [] },
    'shop/eu/north': { namespaces: [], tables: ['orders'] },
  };
  const at = (path: readonly string[] = []) => tree[path.join('/')] ?? { namespaces: [], tables: [] };

  test('is counted over pages and at every depth', async () => {
    const catalog = {
      listNamespaces: (path?: readonly string[]) => Promise.resolve({ namespaces: at(path).namespaces }),
      listTables: (path?: readonly string[], options: { pageToken?: string | undefined } = {}) => {
        const from = Number(options.pageToken ?? 0);
        const { tables } = at(path);
        const page = tables.slice(from, from + 1);
        return Promise.resolve({ tables: page, ...(from + 1 < tables.length && { pageToken: String(from + 1) }) });
      },
    };
    assert.deepEqual(await countContents(catalog, ['shop'], signal), { tables: 4, namespaces: 3, isMore: false });
  });

  test('is counted to an end where the same page comes again and again', async () => {
    const catalog = {
      listNamespaces: () => Promise.resolve({ namespaces: [] }),
      listTables: () => Promise.resolve({ tables: ['a'], pageToken: 'again' }),
    };
    assert.deepEqual(await countContents(catalog, ['shop'], signal), { tables: 2, namespaces: 0, isMore: false });
  });

  test('is not counted beyond what anybody reads', async () => {
    let asked = 0;
    const catalog = {
      listNamespaces: () => Promise.resolve({ namespaces: [] }),
      listTables: () =>
        Promise.resolve({ tables: Array.from({ length: 1000 }, () => 'a'), pageToken: String(asked++) }),
    };
    assert.equal((await countContents(catalog, ['shop'], signal)).isMore, true);
    assert.equal(asked, 10);
  });

  test('is said in words', () => {
    assert.equal(formatContents({ tables: 1, namespaces: 0, isMore: false }), '1 table');
    assert.equal(formatContents({ tables: 1200, namespaces: 1, isMore: false }), '1 namespace and 1,200 tables');
    assert.equal(formatContents({ tables: 10_000, namespaces: 0, isMore: true }), 'more than 10,000 tables');
  });
});
