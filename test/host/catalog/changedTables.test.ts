import assert from 'node:assert/strict';
import { tableFromIPC } from '#arrow';
import type { TableData } from '#catalog/table/tableData.ts';
import { isCatalogError } from '#shared/errors.ts';
import type { PanelView } from '#shared/protocol/webviewMessages.ts';
import { viewsCatalog } from '../../../extension/connections/viewsCatalog.ts';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { PanelFailures } from '../../../extension/panels/panelFailure.ts';
import { catalogSource, type TableSource } from '../../../extension/panels/tableSource.ts';
import { ViewSource } from '../../../extension/panels/viewSource.ts';
import { eventually, extensionApi, run, temporaryFolder } from '../support.ts';
import { type CompanyServer, key, startServer } from './server.ts';

const numRows = 3_000;
const rowsOf = (mark: string): TableData =>
  Array.from({ length: numRows }, (_, id) => ({ id, kind: `kind ${id % 7}`, mark }));
const view: PanelView = { where: 'id % 3 <> 0', orderBy: [{ column: 'kind', descending: true }] };

/** The ids of the view, in its order: ties are in the order of the table, which is that of ids. */
const wanted = Array.from({ length: numRows }, (_, id) => id)
  .filter((id) => id % 3 !== 0)
  .toSorted((a, b) => (b % 7) - (a % 7) || a - b);

const { signal } = new AbortController();
const folder = temporaryFolder();
let api: ExtensionApi;
let server: CompanyServer;

const catalogOf = (connection: string) => api.catalogs.get(connection);
const placeOf = (connection: string, table: string) => ({ connection, path: [], table });

/** Another client of the same tables. */
const otherClient = () => api.engine.catalog(folder.path);

/** Creates a table with three versions. */
async function create(name: string, mark = 'first'): Promise<void> {
  const table = await (await otherClient()).createTable(name, rowsOf(mark).slice(0, 1_000) as TableData);
  await table.add(rowsOf(mark).slice(1_000, 2_500) as TableData);
  await table.add(rowsOf(mark).slice(2_500) as TableData);
}

async function drop(name: string): Promise<void> {
  await (await otherClient()).dropTable(name);
}

/** Opens a table, and a view of it. */
async function open(connection: string, table: string): Promise<{ source: TableSource; shown: ViewSource }> {
  const place = placeOf(connection, table);
  const source = catalogSource(place, catalogOf);
  const opened = await source.open(signal);
  const deps = { views: api.views, viewsCatalog: (name: string) => viewsCatalog(api, name) };
  const shown = new ViewSource(deps, { source, place, table: opened }, view);
  await shown.open(signal);
  return { source, shown };
}

/** Returns the ids and marks of all pages. */
async function read(source: TableSource, count: number): Promise<{ ids: number[]; marks: Set<unknown> }> {
  const ids: number[] = [];
  const marks = new Set<unknown>();
  for (let start = 0; start < count; start += 500) {
    const page = tableFromIPC(await source.rows(start, Math.min(count, start + 500), signal));
    ids.push(...[...page.getChild('id')!].map(Number));
    for (const mark of page.getChild('mark')!) marks.add(mark);
  }
  return { ids, marks };
}

async function assertWhole({ shown }: { shown: ViewSource }): Promise<void> {
  const { ids, marks } = await read(shown, wanted.length);
  assert.deepEqual(ids, wanted);
  assert.deepEqual([...marks], ['first']);
  await eventually('all rows are listed', () => !shown.growth.isGrowing);
  assert.equal(shown.growth.numRows, wanted.length);
}

suite('a shown table that changes', () => {
  suiteSetup(async () => {
    api = await extensionApi();
    server = await startServer(folder.path);
    await api.connections.add('local', folder.path);
    await api.connections.addServer({ name: 'company', uri: server.address, secrets: { apiKey: key } });
  });
  suiteTeardown(async () => {
    for (const { name } of api.connections.list()) await api.connections.remove(name);
    await server.stop();
    folder.remove();
  });

  for (const connection of ['local', 'company']) {
    suite(connection === 'local' ? 'in a directory' : 'on a server', () => {
      const name = `t_${connection}`;
      setup(() => create(name));
      teardown(async () => {
        api.panels.dispose();
        await drop(name).catch(() => undefined);
      });

      test('keeps the rows of its view while rows are added, updated and deleted, and files are joined', async () => {
        const opened = await open(connection, name);
        const table = await (await otherClient()).openTable(name);
        await table.add(rowsOf('later'));
        await table.update({ where: 'id < 100', values: { mark: 'later', kind: 'a' } });
        await table.delete('id % 2 = 0');
        await assertWhole(opened);
        await table.optimize();
        await assertWhole(opened);
        await opened.shown.confirm(signal);
      });

      test('keeps its rows after the process of views and the table engine were killed', async () => {
        const opened = await open(connection, name);
        await assertWhole(opened);
        process.kill(await eventually('the process of views', () => api.views.runningPid), 'SIGKILL');
        await eventually('its end is said', () => /has ended. It starts again/.test(opened.shown.growth.note));
        await assertWhole(opened);
        assert.equal(opened.shown.growth.note, '');
        process.kill((await api.engine.pid())!, 'SIGKILL');
        try {
          await assertWhole(opened);
        } finally {
          // After a second end within five minutes the engine would not start again.
          await run('lanceCatalog.engine.restart');
        }
        await assertWhole(opened);
      });

      test('says that its version was removed', async () => {
        const { source, shown } = await open(connection, name);
        const table = await (await otherClient()).openTable(name);
        await table.delete('id = 1');
        await table.optimize({ cleanupOlderThan: new Date() });
        const failures = new PanelFailures(api.connections);
        for (const one of [source, shown]) {
          const error = await failureOf(() => read(one, 1_000));
          assert.ok(isCatalogError(error, 'VersionNotFound'), String(error));
          const lost = await failures.lost(one, error);
          assert.deepEqual(
            [lost?.title, lost?.actions],
            ['This version no longer exists', ['showNewest', 'chooseVersion']],
          );
          assert.ok(isCatalogError(await failureOf(() => one.confirm!(signal)), 'VersionNotFound'));
        }
      });

      test('says that it was dropped', async () => {
        const { source, shown } = await open(connection, name);
        await drop(name);
        const failures = new PanelFailures(api.connections);
        for (const one of [source, shown]) {
          const lost = await failures.lost(one, await failureOf(() => read(one, 1_000)));
          assert.equal(lost?.title, 'The table no longer exists');
          assert.match(lost.message, new RegExp(`^"${name}" was dropped or renamed`));
        }
      });

      test('never shows the rows of a table that was created again as its own', async () => {
        const { source, shown } = await open(connection, name);
        const panel = await api.panels.preview(source);
        const { version } = await panel.table;
        await panel.rows(0, 500, signal);
        await shown.confirm(signal);
        await drop(name);
        await create(name, 'second');
        const other = await catalogOf(connection).then((one) => one.openTable(name));
        assert.equal(await other.version(), version, 'a version of the same number');
        assert.ok(isCatalogError(await failureOf(() => shown.confirm(signal)), 'ConcurrentModification'));
        // The panel may have noticed it by itself, because it checks its version some time after it has read rows.
        await panel.rows(500, 1_000, signal).catch(() => undefined);
        await eventually('the panel says so', () => panel.hasFailed);
        const lost = await new PanelFailures(api.connections).lost(shown, await failureOf(() => shown.confirm(signal)));
        assert.match(lost?.message ?? '', /was dropped and created again after it was opened here/);
        await panel.show(catalogSource(placeOf(connection, name), catalogOf));
        assert.equal(panel.hasFailed, false);
        assert.equal(
          tableFromIPC(await panel.rows(0, 1, signal))
            .getChild('mark')
            ?.get(0),
          'second',
        );
      });
    });
  }

  test('has its view again after its server was stopped and started', async () => {
    await create('t_stopped');
    const opened = await open('company', 't_stopped');
    await assertWhole(opened);
    const { port } = new URL(server.address);
    await server.stop();
    const error = await failureOf(() => read(opened.shown, 500));
    assert.ok(isCatalogError(error, 'ServiceUnavailable'), String(error));
    assert.equal(await new PanelFailures(api.connections).lost(opened.shown, error), undefined);
    assert.equal(opened.shown.growth.numRows, wanted.length);
    server = await startServer(folder.path, Number(port));
    await assertWhole(opened);
    await drop('t_stopped');
  });
});

async function failureOf(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error('The call did not fail.');
}
