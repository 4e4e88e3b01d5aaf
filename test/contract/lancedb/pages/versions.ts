import * as lancedb from '@lancedb/lancedb';

const db = await lancedb.connect(pageUri);
const table = await db.createTable(
  'recipes',
  [
    { id: 1, cook: 'Lena', dish: 'Plum cake' },
    { id: 2, cook: 'Marek', dish: 'Beet soup' },
    { id: 3, cook: 'Lena', dish: 'Rye bread' },
  ],
  { mode: 'overwrite' },
);
const numbers = async () => (await table.listVersions()).map(({ version }) => version).toSorted((a, b) => a - b);
pageResults.push({ 'versions after the create': await numbers() });
pageResults.push({ 'version after the create': await table.version() });

await table.update({ where: "cook = 'Lena'", values: { cook: 'Lena Novak' } });
pageResults.push({ 'rows that were updated': await table.countRows("cook = 'Lena Novak'") });
await table.add([
  { id: 4, cook: 'Lena Novak', dish: 'Poppy rolls' },
  { id: 5, cook: 'Marek', dish: 'Dumplings' },
]);
pageResults.push({ 'versions after the changes': await numbers() });
const versions = await table.listVersions();
pageResults.push({ 'times are dates': versions.every(({ timestamp }) => timestamp instanceof Date) });
pageResults.push({
  'rows in the metadata of versions': versions.map(({ version, metadata }) => [version, metadata?.['total_rows']]),
});
const latest = await table.version();
pageResults.push({ 'version after the changes': latest });

await table.checkout(1);
pageResults.push({ 'rows of the first version': await table.query().toArray() });
pageResults.push({ 'version that is checked out': await table.version() });
await table.checkoutLatest();
pageResults.push({ 'rows of the latest version': await table.countRows() });
await table.checkout(latest);
await table.restore();
pageResults.push({ 'versions after the restore': await numbers() });
pageResults.push({ 'rows after the restore': await table.countRows() });
await table.delete("cook = 'Marek'");
pageResults.push({ 'rows after the deletion': await table.countRows() });
await table.checkout(1);
await table.restore();
pageResults.push({ 'rows of the restored first version': await table.query().toArray() });
await table.checkoutLatest();
pageResults.push({ 'latest version': await table.version() });

// Names of versions.
const tags = await table.tags();
await tags.create('first', 1);
await tags.create('edited', await table.version());
const listed = await tags.list();
pageResults.push({ 'tags by name': Object.keys(listed).toSorted() });
pageResults.push({ 'version in the list': listed['first']?.version });
pageResults.push({ 'version of a tag': await tags.getVersion('first') });
await tags.update('first', 2);
await table.checkout('first');
pageResults.push({ 'version of the moved tag': await table.version() });
pageResults.push({ 'rows of the tag': await table.countRows("cook = 'Lena Novak'") });
await tags.delete('edited');
await table.checkoutLatest();
pageResults.push({ 'tags that remain': Object.keys(await tags.list()) });

// Branches.
const branches = await table.branches();
const trial = await branches.create('trial');
await trial.add([{ id: 9, cook: 'Ada', dish: 'Pickles' }]);
pageResults.push({ 'rows of the branch': await trial.countRows() });
pageResults.push({ 'rows of the main branch': await table.countRows() });
pageResults.push({ 'branches by name': Object.keys(await branches.list()) });
pageResults.push({ 'names of the branches': [trial.currentBranch(), table.currentBranch()] });
const again = await branches.checkout('trial');
const direct = await db.openTable('recipes', undefined, { branch: 'trial' });
pageResults.push({ 'rows of the opened branch': [await again.countRows(), await direct.countRows()] });
await trial.update({ where: 'id = 1', values: { dish: 'Plum tart' } });
const merged = await table
  .mergeInsert('id')
  .whenMatchedUpdateAll()
  .whenNotMatchedInsertAll()
  .execute(await trial.toArrow());
pageResults.push({ 'rows that were merged': [merged.numInsertedRows, merged.numUpdatedRows] });
pageResults.push({
  'rows after the merge': await table.query().orderBy({ columnName: 'id', ascending: true }).toArray(),
});
await branches.delete('trial');
pageResults.push({ 'branches that remain': Object.keys(await branches.list()) });

// A second object sees what the first one writes.
const reader = await db.openTable('recipes');
await table.add([{ id: 20, cook: 'Ada', dish: 'Jam' }]);
await reader.checkoutLatest();
pageResults.push({ 'rows of a second object': await reader.countRows() });
