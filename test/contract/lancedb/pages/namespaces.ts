import * as lancedb from '@lancedb/lancedb';

const db = await lancedb.connectNamespace('dir', { root: pageUri });

await db.createNamespace(['garden'], { mode: 'exist_ok' });
await db.createNamespace(['garden', 'beds'], { mode: 'exist_ok' });
await db.createNamespace(['garden', 'tools'], { mode: 'exist_ok' });
pageResults.push({
  'a namespace that exists, with exist_ok': await db.createNamespace(['garden'], { mode: 'exist_ok' }).then(
    () => 'kept',
    () => 'refused',
  ),
});
await db.createTable('item', [{ id: 1, vector: [0.1, 0.2], name: 'leek' }], ['garden', 'beds'], { mode: 'create' });
await db.createTable('item', [{ id: 2, vector: [0.3, 0.4], name: 'spade' }], ['garden', 'tools'], { mode: 'create' });
pageResults.push({ 'namespaces of the root': (await db.listNamespaces()).namespaces });
pageResults.push({ 'namespaces below': (await db.listNamespaces(['garden'])).namespaces.toSorted() });
pageResults.push({ 'tables of one': await db.tableNames(['garden', 'beds']) });
pageResults.push({ 'tables of another': await db.tableNames(['garden', 'tools']) });
pageResults.push({ 'tables of the root': await db.tableNames() });
pageResults.push({ 'a page of tables': (await db.listTables(['garden', 'beds'])).tables });

const beds = await db.openTable('item', ['garden', 'beds']);
const tools = await db.openTable('item', ['garden', 'tools']);
pageResults.push({ 'rows of one': await beds.query().toArray() });
pageResults.push({ 'rows of another': await tools.query().toArray() });
await beds.add([{ id: 3, vector: [0.5, 0.6], name: 'chard' }]);
pageResults.push({ 'rows after the addition': [await beds.countRows(), await tools.countRows()] });
pageResults.push({ 'nearest in a namespace': await beds.search([0.5, 0.6]).limit(1).toArray() });
await db.createTable('item', [{ id: 9, vector: [1, 2], name: 'kale' }], ['garden', 'beds'], { mode: 'overwrite' });
const replaced = await db.openTable('item', ['garden', 'beds']);
pageResults.push({ 'rows of the replaced table': await replaced.query().toArray() });
await db.createEmptyTable('empty', await tools.schema(), ['garden', 'tools']);
pageResults.push({ 'tables with an empty one': (await db.tableNames(['garden', 'tools'])).toSorted() });

await db.createNamespace(['garden', 'paths'], { mode: 'create', properties: { owner: 'Ines' } });
pageResults.push({ 'a description': (await db.describeNamespace(['garden', 'paths'])).properties });
pageResults.push({
  'a second create': await db.createNamespace(['garden', 'paths']).then(
    () => 'created',
    () => 'refused',
  ),
});
pageResults.push({
  'a drop of a full namespace': await db.dropNamespace(['garden']).then(
    () => 'dropped',
    (error: Error) => /not empty/.test(error.message),
  ),
});
await db.dropNamespace(['garden', 'paths'], { mode: 'skip' });
pageResults.push({
  'a drop of a missing namespace, with skip': await db.dropNamespace(['garden', 'none'], { mode: 'skip' }).then(
    () => 'skipped',
    () => 'refused',
  ),
});
await db.dropTable('empty', ['garden', 'tools']);
await db.dropAllTables(['garden', 'tools']);
pageResults.push({ 'tables after the drops': await db.tableNames(['garden', 'tools']) });
await db.dropNamespace(['garden', 'tools']);
pageResults.push({ 'namespaces after the drops': (await db.listNamespaces(['garden'])).namespaces });
await db.dropTable('item', ['garden', 'beds']);
await db.dropNamespace(['garden', 'beds']);
await db.dropNamespace(['garden']);
pageResults.push({ 'namespaces at the end': (await db.listNamespaces()).namespaces });
pageResults.push({
  'a folder that does not exist': await lancedb.connectNamespace('dir', { root: `${pageUri}/missing` }).then(
    () => 'created',
    () => 'refused',
  ),
});
