import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from '../../harness/temp.ts';
import { cells } from '../cells.ts';
import { kernelOfSuite, startKernel } from '../support.ts';

suite("Imports of LanceDB's package", function () {
  this.timeout(120_000);
  const notebook = kernelOfSuite();

  cells(
    'get this client where the package is not installed, and say so once',
    notebook,
    {
      cell: `import * as lancedb from "@lancedb/lancedb";
import { Index, makeArrowTable, type Connection, type VectorQuery } from "@lancedb/lancedb";
const store: Connection = await lancedb.connect("memory://");
const table = await store.createTable("items", makeArrowTable([
  { id: 1, name: "mug", vector: [1, 0] },
  { id: 2, name: "lamp", vector: [0, 1] },
]), { mode: "overwrite" });
await table.createIndex("id", { config: Index.btree() });
const near = (table.search([1, 0]) as VectorQuery).distanceType("l2").limit(1);
(await near.toArray()).map((row) => row["name"])`,
      out: /^"@lancedb\/lancedb" is not installed .* Lance Catalog/,
      value: "[ 'mug' ]",
    },
    {
      cell: '[lancedb.connect === connect, (await import("@lancedb/lancedb")).Index === Index, require("@lancedb/lancedb").connect === connect]',
      value: '[ true, true, true ]',
    },
    {
      cell: 'await table.setLsmWriteSpec({ specType: "unsharded" })',
      error: /This client has no LSM writes/,
    },
    { cell: 'lancedb.embedding.getRegistry()', error: /compute the vectors/ },
    { cell: 'await lancedb.tokenize("red mugs")', error: /table\.tokenize\(text, \{ column/ },
    { cell: 'await store.cloneTable("copy", "items")', error: /db\.copy\(\[name\]/ },
    { cell: 'lancedb.permutationBuilder(table)', error: /This client has no permutations/ },
    {
      cell: 'await lancedb.connect("db://my-db", { apiKey: "x" })',
      error: /NotSupported<"For a server, call connectNamespace\(\\?"rest/,
    },
    {
      cell: 'await lancedb.connect({ uri: "db://my-db", hostOverride: "https://db.test" })',
      error: /^(?!.*overload)[^]*NotSupported<"For a server, call connectNamespace\(\\?"rest/,
    },
    {
      cell: `import { type AddDataOptions, type IndexOptions, type ListTablesResponse, type SchemaLike } from "@lancedb/lancedb";
const adding: Partial<AddDataOptions> = { mode: "append" };
const indexing: Partial<IndexOptions> = { replace: true };
const page: ListTablesResponse = await store.listTables({ limit: 1 });
const columns: SchemaLike = await table.schema();
[adding.mode, indexing.replace, page.tables.length, columns.fields.length]`,
      value: "[ 'append', true, 1, 3 ]",
    },
    {
      cell: `import { type RetryConfig } from "@lancedb/lancedb";
const retry: RetryConfig = { retries: 3 };`,
      error: /NotSupported<"Write the number of retries/,
    },
    {
      cell: `import { LanceSchema } from "@lancedb/lancedb/embedding";
LanceSchema({})`,
      error: /NotSupported<"This client has no registry of embedding functions: compute the vectors/,
    },
    {
      cell: 'import "@lancedb/lancedb/embedding/openai"; 1',
      out: /"@lancedb\/lancedb\/embedding\/openai" is not installed .* compute the vectors/,
      value: '1',
    },
    { cell: 'new lancedb.VectorColumnOptions()', error: /NotSupported<"Pass a plain object: \{ vectorColumns/ },
    { cell: 'lancedb.OAuthFlowType.ClientCredentials', error: /NotSupported<"Pass the token of a server/ },
    { cell: '[lancedb.VectorQuery === lancedb.Query, table instanceof Object]', value: '[ true, true ]' },
    { cell: '%check off', out: /off/ },
    {
      cell: 'await lancedb.connect("db://my-db", { apiKey: "x" })',
      error: /no option "apiKey".*For a server, call connectNamespace\("rest"/,
    },
    {
      cell: 'await lancedb.connect("db://my-db")',
      error: /"db:\/\/" is not the address.*connectNamespace\("rest"/,
    },
    {
      cell: 'import { getRegistry } from "@lancedb/lancedb/embedding"; getRegistry().get("openai")',
      out: /"@lancedb\/lancedb\/embedding" is not installed/,
      error: /no getRegistry\(\).*compute the vectors/,
    },
    { cell: 'new lancedb.Session()', error: /no class "Session".*Leave the session out/ },
    {
      cell: 'lancedb.embedding.getRegistry()',
      error: /Unsupported|no embedding.*Compute the vectors|compute the vectors/,
    },
    { cell: 'await lancedb.tokenize("red mugs")', error: /no tokenize\(\).*table\.tokenize\(text, \{ column/ },
    { cell: 'await store.cloneTable("copy", "items")', error: /no cloneTable\(\).*db\.copy\(\[name\]/ },
    { cell: '(await store.copy(["items"], { path: ["copy"] })).tables.length', value: '1' },
    { cell: 'await table.setLsmWriteSpec({})', error: /add\(\) commits/ },
    { cell: '%check error', out: /error/ },
  );
});

suite("Code of LanceDB's package in cells", function () {
  this.timeout(120_000);
  const folder = tempFolder();
  const notebook = kernelOfSuite(() => startKernel({ cwd: folder }));

  cells(
    'compiles and runs with its arguments unchanged',
    notebook,
    {
      cell: `import * as lancedb from "@lancedb/lancedb";
import { Field, FixedSizeList, Float32, Int32, Schema, Utf8 } from "apache-arrow";
const store = await lancedb.connect("store");
const schema = new Schema([
  new Field("id", new Int32()),
  new Field("vector", new FixedSizeList(2, new Field("item", new Float32(), true)), true),
]);
const first = await store.createEmptyTable("first", schema, { existOk: true, mode: "create" });
await first.add(lancedb.makeArrowTable([{ id: 1, vector: [1, 2] }], { schema }));
await first.addColumns(new Field("x", new Float32(), true));
await first.addColumns([new Field("y", new Utf8(), true)]);
await first.addColumns([{ name: "twice", valueSql: "cast((id * 2) as int)" }]);
await first.alterColumns([{ path: "x", dataType: "double" }, { path: "y", rename: "note", nullable: true }]);
(await first.schema()).fields.map(({ name }) => name).join()`,
      out: /is not installed[^]*\nCreated the folder ".*store" for a new catalog\.\n$/,
      value: "'id,vector,x,note,twice'",
    },
    {
      cell: `await first.update({ where: "id = 1", values: { note: "a" } });
await first.update(new Map([["id", "id + 1"]]), { where: "id > 0" });
await first.mergeInsert("id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute([{ id: 9, vector: [3, 4], twice: 18 }]);
await first.checkout(1);
const before = await first.countRows();
await first.checkoutLatest();
const tags = await first.tags();
await tags.create("v1", 1);
[before, await first.countRows(), (await tags.list()).v1.version]`,
      value: '[ 0, 2, 1 ]',
    },
    {
      cell: `const rows = Array.from({ length: 300 }, (_, i) => ({ id: i, text: "a mug " + i, vector: [i, 1, 2, 3] }));
const items = await store.createTable({ name: "items", data: rows, mode: "overwrite" });
await items.createIndex("vector", { config: lancedb.Index.ivfPq({ numPartitions: 2, numSubVectors: 2 }) });
await items.createIndex("text", { config: lancedb.Index.fts() });
const near = items.search([1, 1, 2, 3]) as lancedb.VectorQuery;
const found = await near.distanceType("l2").nprobes(10).refineFactor(10).limit(2).toArray();
const words = await items.search("mug", "fts", "text").select(["id"]).limit(2).toArray();
const last = await items.query().filter("id > 10").orderBy({ columnName: "id", ascending: false }).limit(3).toArray();
let count = 0;
for await (const batch of items.query().limit(3)) count += batch.numRows;
[found.length, words.length, last.length, count, (await items.indexStats("vector_idx")).numIndexedRows]`,
      value: '[ 2, 2, 3, 3, 300 ]',
    },
  );
});

suite("Imports of LanceDB's package where it is installed", function () {
  this.timeout(120_000);
  const folder = tempFolder();
  const place = join(folder, 'node_modules', '@lancedb', 'lancedb');
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), '{"name":"@lancedb/lancedb","main":"i.js","types":"i.d.ts"}');
  writeFileSync(join(place, 'i.js'), 'exports.connect = () => "installed";');
  writeFileSync(join(place, 'i.d.ts'), 'export declare function connect(): string;');
  const notebook = kernelOfSuite(() => startKernel({ cwd: folder }));

  cells('get the package', notebook, {
    cell: 'import { connect as open } from "@lancedb/lancedb"; open()',
    value: "'installed'",
  });
});
