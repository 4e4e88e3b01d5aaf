import assert from 'node:assert/strict';
import { operations } from '#catalog/contract.ts';
import { matchRoute } from '#engine/server/routes.ts';

suite('addresses of the contract', () => {
  test('are found for every operation of the specification', () => {
    for (const [name, { method, path }] of Object.entries(operations)) {
      const found = matchRoute(method, path.replace('{id}', 'shop%24products').replace('{index_name}', 'by%20id'));
      assert.equal(found.operation, name);
      if (path.includes('{id}')) assert.deepEqual(found.id, ['shop', 'products'], name);
      if (path.includes('{index_name}')) assert.equal(found.indexName, 'by id');
    }
  });

  test("are also those of upstream's service", () => {
    assert.equal(matchRoute('GET', '/v1/tables').operation, 'ListTables');
    assert.deepEqual(matchRoute('GET', '/v1/tables').id, []);
    const created = matchRoute('POST', '/v1/tables/products?mode=overwrite');
    assert.equal(created.operation, 'CreateTable');
    assert.deepEqual(created.id, ['products']);
    assert.equal(created.query.get('mode'), 'overwrite');
    assert.equal(matchRoute('POST', '/v1/tables/shop$products').problem?.kind, 'InvalidInput');
  });

  test("end with a slash in the protocol of LanceDB's remote client", () => {
    const { operation, dialect, id } = matchRoute('POST', '/v1/table/t/query/?delimiter=.');
    assert.deepEqual({ operation, dialect, id }, { operation: 'QueryTable', dialect: 'lancedb', id: ['t'] });
    assert.equal(matchRoute('POST', '/v1/table/t/query').dialect, 'specification');
    assert.equal(matchRoute('GET', '/v1/table/').operation, 'ListTables');
    assert.equal(matchRoute('GET', '/v1/table').operation, 'ListAllTables');
  });

  test('keep names that a URL parser would take for steps', () => {
    assert.deepEqual(matchRoute('POST', '/v1/table/../describe').id, ['..']);
    assert.deepEqual(matchRoute('POST', '/v1/namespace/%2E/drop').id, ['.']);
    assert.deepEqual(matchRoute('POST', '/v1/table/a%2Fb/drop').id, ['a/b']);
  });

  test('take another delimiter, but not an empty one', () => {
    assert.deepEqual(matchRoute('POST', '/v1/table/shop.eu.t/describe?delimiter=.').id, ['shop', 'eu', 't']);
    assert.deepEqual(matchRoute('GET', '/v1/namespace/./list?delimiter=.').id, []);
    assert.equal(matchRoute('POST', '/v1/table/t/describe?delimiter=').problem?.kind, 'InvalidInput');
  });

  test('that are not about a single table are not read as the route of a table', () => {
    assert.equal(matchRoute('POST', '/v1/table/version/batch-create').operation, 'BatchCreateTableVersions');
    assert.equal(matchRoute('POST', '/v1/table/version/create').operation, 'CreateTable');
  });

  test('with another method say which they have', () => {
    const found = matchRoute('DELETE', '/v1/table/t/drop');
    assert.deepEqual(found.allow, ['POST']);
    assert.equal(found.problem?.status, 405);
    assert.equal(found.operation, undefined);
  });

  test('that are unknown are unsupported below /v1 and not found elsewhere', () => {
    assert.equal(matchRoute('POST', '/v1/table/t/frobnicate').problem?.status, 406);
    assert.equal(matchRoute('GET', '/').problem?.status, 404);
    assert.equal(matchRoute('GET', '').problem?.status, 404);
    assert.equal(matchRoute('POST', '/v1/table//query').problem?.status, 406);
  });

  test('with percent signs that stand for nothing are wrong', () => {
    assert.equal(matchRoute('POST', '/v1/table/%E0%A4%A/drop').problem?.kind, 'InvalidInput');
  });
});
