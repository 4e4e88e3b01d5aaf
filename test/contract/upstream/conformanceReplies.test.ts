import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { Int64, Table, tableFromIPC, tableToIPC, vectorFromArray } from '#arrow';
import { type Operation, operations } from '#catalog/contract.ts';
import { dirCapabilities } from '#engine/dir/dirCapabilities.ts';
import { arrowFileMime, arrowStreamMime } from '#shared/mime.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { type PlainServer, startPlainServer } from '../rest/plainServer.ts';
import { makeConformanceRoot } from './conformanceRoot.ts';

type Step = {
  id?: string;
  indexName?: string;
  query?: string;
  json?: unknown;
  arrow?: Uint8Array;
};
type Answer = { operation: Operation; status: number; contentType: string | null; body: unknown };

const more = tableToIPC(new Table({ id: vectorFromArray([7n, 8n], new Int64()) }), 'stream');
const search = { k: 2, vector: { single_vector: [1, 0] }, columns: { column_names: ['id'] } };

/** One request for every operation that a directory supports, in an order in which all succeed. */
const tour: readonly [Operation, Step][] = [
  ['CreateNamespace', { id: 'tour', json: { mode: 'Create', properties: { team: 'data' } } }],
  ['CreateNamespace', { id: 'tour', json: { mode: 'ExistOk' } }],
  ['DescribeNamespace', { id: 'shop', json: { id: ['shop'], identity: { api_key: 'x' }, context: { a: 'b' } } }],
  ['NamespaceExists', { id: 'shop', json: {} }],
  ['ListNamespaces', { id: '%24', query: 'limit=1' }],
  ['ListTables', { id: 'shop', query: 'include_declared=false' }],
  ['ListAllTables', { query: 'limit=3' }],
  ['CreateTable', { id: 'tour%24t', query: 'mode=create&properties=%7B%7D', arrow: more }],
  ['DeclareTable', { id: 'tour%24declared', json: {} }],
  ['DescribeTable', { id: 'tour%24declared', query: 'check_declared=true', json: {} }],
  ['DescribeTable', { id: 'shop%24products', json: {} }],
  ['DescribeTable', { id: 'shop%24products', query: 'load_detailed_metadata=true&with_table_uri=true', json: {} }],
  ['DescribeTable', { id: 'shop%24products', query: 'load_detailed_metadata=true', json: { tag: 'v1' } }],
  ['TableExists', { id: 'shop%24products', json: { version: 1 } }],
  ['CountTableRows', { id: 'shop%24products', json: { predicate: 'id > 1' } }],
  ['QueryTable', { id: 'shop%24products', json: search }],
  ['ExplainTableQueryPlan', { id: 'shop%24products', json: { query: search, verbose: true } }],
  ['AnalyzeTableQueryPlan', { id: 'shop%24products', json: search }],
  ['InsertIntoTable', { id: 'tour%24t', query: 'mode=append', arrow: more }],
  ['MergeInsertIntoTable', { id: 'tour%24t', query: 'on=id&when_not_matched_insert_all=true', arrow: more }],
  ['UpdateTable', { id: 'shop%24products', json: { predicate: 'id = 1', updates: [['price', 'price * 2']] } }],
  ['DeleteFromTable', { id: 'tour%24t', json: { predicate: 'id = 8' } }],
  ['ListTableVersions', { id: 'shop%24products', query: 'descending=true&limit=2' }],
  ['DescribeTableVersion', { id: 'shop%24products', json: { version: 1 } }],
  ['RestoreTable', { id: 'tour%24t', json: { version: 1 } }],
  ['GetTableStats', { id: 'shop%24products', json: {} }],
  ['OptimizeTable', { id: 'tour%24t', json: { older_than_millis: 86_400_000 } }],
  [
    'CreateTableIndex',
    { id: 'shop%24eu%24orders', json: { column: 'embedding', index_type: 'IVF_FLAT', num_partitions: 1 } },
  ],
  ['CreateTableScalarIndex', { id: 'shop%24eu%24orders', json: { column: 'price', index_type: 'BTREE' } }],
  ['ListTableIndices', { id: 'shop%24eu%24orders', json: {} }],
  ['DescribeTableIndexStats', { id: 'shop%24eu%24orders', indexName: 'price_idx', json: {} }],
  ['DropTableIndex', { id: 'shop%24eu%24orders', indexName: 'price_idx' }],
  ['CreateTableTag', { id: 'shop%24products', json: { tag: 'new', version: 1 } }],
  ['UpdateTableTag', { id: 'shop%24products', json: { tag: 'new', version: 2 } }],
  ['GetTableTagVersion', { id: 'shop%24products', json: { tag: 'new' } }],
  ['ListTableTags', { id: 'shop%24products', query: 'limit=1' }],
  ['DeleteTableTag', { id: 'shop%24products', json: { tag: 'new' } }],
  ['CreateTableBranch', { id: 'shop%24products', json: { name: 'new' } }],
  ['ListTableBranches', { id: 'shop%24products' }],
  ['DeleteTableBranch', { id: 'shop%24products', json: { name: 'new' } }],
  ['AlterTableAddColumns', { id: 'shop%24products', json: { new_columns: [{ name: 'twice', expression: 'id * 2' }] } }],
  ['AlterTableAlterColumns', { id: 'shop%24products', json: { alterations: [{ path: 'twice', rename: 'double' }] } }],
  ['UpdateFieldMetadata', { id: 'shop%24products', json: { updates: [{ path: 'double', metadata: { unit: 'kg' } }] } }],
  ['AlterTableDropColumns', { id: 'shop%24products', json: { columns: ['double'] } }],
  ['RenameTable', { id: 'tour%24t', json: { new_table_name: 'u' } }],
  ['DeregisterTable', { id: 'lab%24other', json: {} }],
  ['DropTable', { id: 'tour%24u' }],
  ['DropNamespace', { id: 'doomed', json: { mode: 'Fail', behavior: 'Cascade' } }],
];

suite('what our server answers', function () {
  this.timeout(120_000);
  let server: PlainServer;
  const answers: Answer[] = [];
  const of = (operation: Operation) => answers.filter((answer) => answer.operation === operation);

  suiteSetup(async () => {
    const root = tempFolder();
    await makeConformanceRoot(root);
    server = await startPlainServer(root);
    for (const [operation, step] of tour) answers.push(await ask(operation, step));
    const [{ body }] = of('DeregisterTable') as [Answer];
    const { location } = body as { location: string };
    answers.push(await ask('RegisterTable', { id: 'lab%24again', json: { location } }));
  });
  suiteTeardown(() => server.close());

  async function ask(operation: Operation, { id = '', indexName = '', query, json, arrow }: Step): Promise<Answer> {
    const { method, path } = operations[operation];
    const address = path.replace('{id}', id).replace('{index_name}', indexName);
    const response = await fetch(`${server.uri}${address}${query === undefined ? '' : `?${query}`}`, {
      method,
      ...(json !== undefined && { body: JSON.stringify(json), headers: { 'content-type': 'application/json' } }),
      ...(arrow && { body: new Uint8Array(arrow), headers: { 'content-type': arrowStreamMime } }),
    });
    const contentType = response.headers.get('content-type');
    if (contentType === arrowFileMime) {
      const rows = tableFromIPC(new Uint8Array(await response.arrayBuffer()));
      return { operation, status: response.status, contentType, body: rows.numRows };
    }
    const text = await response.text();
    return { operation, status: response.status, contentType, body: text === '' ? null : JSON.parse(text) };
  }

  test('is a success for every operation that a directory has', () => {
    const failed = answers.filter(({ status }) => status >= 300);
    assert.deepEqual(failed, []);
    const asked = new Set(answers.map(({ operation }) => operation));
    const left = Object.entries(dirCapabilities).filter(
      ([name, can]) => can === 'yes' && !asked.has(name as Operation),
    );
    assert.deepEqual(left, []);
    assert.deepEqual(server.failures, []);
  });

  test('fits the schemas of the specification to the last field', () => {
    const document = inRoot('test/fixtures/namespace-spec/lance-namespace-spec-0.11.1.yaml');
    const checked = spawnSync(python(), [inRoot('test/contract/python/checkReplies.py'), document], {
      // The specification does not have the operation "OptimizeTable".
      input: JSON.stringify(answers.filter(({ operation }) => operation !== 'OptimizeTable')),
      encoding: 'utf8',
    });
    assert.equal(checked.status, 0, checked.stderr);
    assert.deepEqual(JSON.parse(checked.stdout), []);
  });

  test('says what the specification asks to be said though it requires none of it', () => {
    const detailed = of('DescribeTable')[2]!.body as Record<string, unknown>;
    for (const field of ['table', 'namespace', 'version', 'location', 'table_uri', 'schema', 'stats', 'metadata']) {
      assert.ok(field in detailed, `DescribeTable has no ${field}.`);
    }
    assert.equal((of('DescribeTable')[0]!.body as { is_only_declared: boolean }).is_only_declared, true);
    assert.equal(of('CountTableRows')[0]!.body, 2);
    assert.equal(of('QueryTable')[0]!.body, 2);
    const { indexes } = of('ListTableIndices')[0]!.body as { indexes: { index_uuid: string }[] };
    for (const { index_uuid } of indexes) assert.match(index_uuid, /^[0-9a-f-]{36}$/);
    const { fragment_stats } = of('GetTableStats')[0]!.body as { fragment_stats: { lengths: { max: number } } };
    assert.ok(fragment_stats.lengths.max > 0);
    const { tags } = of('ListTableTags')[0]!.body as { tags: Record<string, { manifestSize: number }> };
    assert.ok(tags['new']!.manifestSize > 0);
  });

  test('has no keys of the storage, also for who asks for them', async () => {
    const asked = await ask('DescribeTable', { id: 'shop%24products', json: { vend_credentials: true } });
    assert.equal(asked.status, 200);
    for (const { body } of [...answers, asked]) assert.ok(!JSON.stringify(body).includes('storage_options'));
  });

  test('is that an operation is not offered, for those that a directory has not', async () => {
    const missing = Object.entries(dirCapabilities).flatMap(([name, can]) => (can === 'no' ? [name as Operation] : []));
    for (const operation of missing) {
      const { status, body } = await ask(operation, { id: 'nope', json: {} });
      assert.deepEqual([operation, status, (body as { code: number }).code], [operation, 406, 0]);
    }
  });

  test('goes on from page to page, namespaces before tables', async () => {
    const seen: string[] = [];
    let token = '';
    for (let pages = 0; pages < 10; pages++) {
      const { body } = await ask('ListNamespaces', { id: 'shop', query: `limit=1${token}` });
      const page = body as { namespaces: string[]; tables: string[]; page_token?: string };
      seen.push(...page.namespaces.map((name) => `${name}/`), ...page.tables);
      if (page.page_token === undefined) break;
      token = `&page_token=${encodeURIComponent(page.page_token)}`;
    }
    assert.deepEqual(seen, ['eu/', 'products']);
  });

  test('refuses what it would have to leave out', async () => {
    const named = { id: 'tour%24made', query: `properties=${encodeURIComponent('{"a":"b"}')}`, arrow: more };
    assert.equal((await ask('CreateTable', named)).status, 400);
    assert.equal((await ask('TableExists', { id: 'tour%24made', json: {} })).status, 404);
    for (const filter of ['when_matched_update_all_filt', 'when_not_matched_by_source_delete_filt']) {
      const query = `on=id&when_not_matched_insert_all=true&${filter}=true`;
      const { status, body } = await ask('MergeInsertIntoTable', { id: 'shop%24products', query, arrow: more });
      assert.equal(status, 400, JSON.stringify(body));
    }
  });

  test('refuses what it can not do before it looks for the table', async () => {
    assert.equal((await ask('UpdateTableSchemaMetadata', { id: 'tour%24nope', json: {} })).status, 406);
  });

  test('goes on with all tables behind a namespace that was dropped', async () => {
    await ask('CreateNamespace', { id: 'mid', json: {} });
    const token = Buffer.from(JSON.stringify({ path: ['mid', 'gone'] })).toString('base64url');
    const before = await ask('ListAllTables', { query: `page_token=${token}` });
    await ask('DropNamespace', { id: 'mid', json: {} });
    const after = await ask('ListAllTables', { query: `page_token=${token}` });
    assert.equal(after.status, 200, JSON.stringify(after.body));
    assert.deepEqual(after.body, { tables: ['shop$products', 'shop$eu$orders', 'tour$declared'] });
    assert.deepEqual(before.body, after.body);
  });

  test('lists all tables of all namespaces, page by page', async () => {
    const whole = (await ask('ListAllTables', {})).body as { tables: string[] };
    assert.deepEqual(whole.tables.toSorted(), [
      'lab$again',
      'lab$products',
      'notes',
      'shop$eu$orders',
      'shop$products',
      'tour$declared',
    ]);
    const paged: string[] = [];
    let token = '';
    for (let pages = 0; pages < 20; pages++) {
      const { body } = await ask('ListAllTables', { query: `limit=1${token}` });
      const page = body as { tables: string[]; page_token?: string };
      paged.push(...page.tables);
      if (page.page_token === undefined) break;
      token = `&page_token=${page.page_token}`;
    }
    assert.deepEqual(paged, whole.tables);
  });
});
