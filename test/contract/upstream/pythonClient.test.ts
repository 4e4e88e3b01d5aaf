import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { tableFromIPC } from '#arrow';
import { connectNamespace } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { type Serving, startServing } from '../serve/serving.ts';

const run = promisify(execFile);

const rows = [
  { id: 1, name: 'mug', price: 9.5, at: new Date('2024-02-29T12:34:56.789Z'), vector: [1, 0] },
  { id: 2, name: 'lamp', price: 59, at: new Date(0), vector: [0, 1] },
  { id: 3, name: null, price: 120, at: null, vector: [1, 1] },
];

type Failed = { error: string };

/** The results of upstream's Python REST client on our server, step by step (python/restClient.py). */
suite("upstream's REST client in Python, on our server", function () {
  this.timeout(90_000);
  let server: Serving;
  let steps: Record<string, unknown>;

  suiteSetup(async () => {
    registerRest();
    server = await startServing(tempFolder());
    const db = await connectNamespace('rest', { uri: server.uri, apiKey: server.key });
    await db.createNamespace(['shop'], { properties: { owner: 'ada' } });
    await db.createTable('products', rows.slice(0, 2), ['shop']);
    await (await db.openTable('products', ['shop'])).add(rows.slice(2));
    await db.createTable('plain', [{ x: 1 }]);
    const program = inRoot('test/contract/python/restClient.py');
    const { stdout } = await run(python(), [program, server.uri, `x-api-key=${server.key}`], { timeout: 80_000 });
    steps = JSON.parse(stdout) as Record<string, unknown>;
  });
  suiteTeardown(() => server?.close());

  const gives: Readonly<Record<string, unknown>> = {
    list_namespaces: ['shop'],
    describe_namespace: { owner: 'ada' },
    namespaces_made_and_dropped: ['shop'],
    namespaces_paged: [['p1', 'p2', 'p3'], 2, null],
    list_tables: ['products'],
    list_all_tables: ['plain', 'shop$products'],
    describe_table: {
      table: 'products',
      namespace: ['shop'],
      version: 2,
      fields: [
        ['id', 'float64', true],
        ['name', 'utf8', true],
        ['price', 'float64', true],
        ['at', 'timestamp', true],
        ['vector', 'fixed_size_list', true],
      ],
    },
    table_exists: true,
    count: [3, 2, 2],
    filtered: [{ name: null }],
    aliased: [{ twice: 4 }],
    nearest: [
      [1, 3],
      [0, 1],
    ],
    create_table: [
      { id: 1, name: 'a', price: 0.5 },
      { id: 2, name: 'b', price: 1.5 },
      { id: 3, name: null, price: 2.5 },
    ],
    insert: 4,
    merge: [1, 1, ['D', 'E']],
    update: [1, ['A']],
    delete: 3,
    versions: [[1, 2, 3, 4, 5], 1],
    tags: [1, { first: 2 }, 0],
    restore: 3,
    branches: [['try'], 0],
    indexes: [
      [
        ['by_name', 'name'],
        ['id_idx', 'id'],
      ],
      3,
      ['id_idx'],
    ],
    stats: [3, 1, true],
    columns: [
      ['id', 'name', 'price', 'double'],
      ['id', 'name', 'price'],
    ],
    plans: [true, true],
    rename: ['products', 'renamed'],
    declared: [true, false],
    deregistered: [true, 3],
    drop_table: ['products'],
  };
  for (const [step, value] of Object.entries(gives)) {
    test(`does ${step.replaceAll('_', ' ')}`, () => assert.deepEqual(steps[step], value));
  }

  test('reads the exact rows that we wrote', () => {
    const { schema, ipc } = steps['all_rows'] as { schema: unknown; ipc: string };
    assert.deepEqual(schema, [
      ['id', 'double'],
      ['name', 'string'],
      ['price', 'double'],
      ['at', 'timestamp[us, tz=UTC]'],
      ['vector', 'fixed_size_list<item: float>[2]'],
    ]);
    const found = tableFromIPC(Buffer.from(ipc, 'base64'))
      .toArray()
      .map(({ id, name, price, at, vector }) => ({
        id: Number(id),
        name: name as unknown,
        price: price as unknown,
        at: at === null ? null : new Date(Number(at)),
        vector: [...(vector as Iterable<number>)],
      }));
    assert.deepEqual(found, rows);
  });

  const failures: Readonly<Record<string, string>> = {
    missing_namespace: 'NamespaceNotFoundError',
    missing_table: 'TableNotFoundError',
    create_table_again: 'TableAlreadyExistsError',
    bad_filter: 'InvalidInputError',
    metadata: 'UnsupportedOperationError',
  };
  for (const [step, kind] of Object.entries(failures)) {
    test(`is told by its own kind of error: ${step.replaceAll('_', ' ')}`, () => {
      const { error } = steps[step] as Failed;
      assert.ok(error.startsWith(`${kind}: `), error);
    });
  }

  test('has no step that nobody compares', () => {
    const compared = [...Object.keys(gives), ...Object.keys(failures), 'all_rows'];
    assert.deepEqual(Object.keys(steps).toSorted(), compared.toSorted());
  });
});
