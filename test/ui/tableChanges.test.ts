import assert from 'node:assert/strict';
import type { Catalog } from '#catalog/catalog.ts';
import type { Table } from '#catalog/table/table.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { frameWith, reloadWindow, runCommand } from '../harness/workbench.ts';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { expand, openCatalog, treeRow } from './parts/catalogWindow.ts';

suite('A comparison of two versions of a table, in a window', function () {
  this.timeout(180_000);
  let window: Window;
  let table: Table;
  let first: number;
  let db: Catalog;
  let rows: number;

  suiteSetup(async () => {
    window = await openWindow();
    db = await openDir({ root: window.catalog });
    table = await db.openTable('products', { namespacePath: ['shop'] });
    first = await table.version();
    rows = await table.countRows();
    await table.update({ where: 'id IN (5, 7)', values: { name: 'another name' } });
    await table.delete('id = 3');
    await table.add(await table.query().where('id = 9').toArrow());
    await table.update({ where: `_rowid IN (${await lastRowId(table)})`, values: { id: 1_000_000 } });
  });

  suiteTeardown(() => window?.close());

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  /** Chooses a row of the list that is open, once it is there. */
  async function choose(text: string | RegExp, typed = ''): Promise<void> {
    const { page } = window;
    const input = page.locator('.quick-input-widget input.input');
    await input.waitFor();
    if (typed !== '') await input.fill(typed);
    await page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first().click();
  }

  const bar = async () => (await frameWith(window.page, '.lance-changes-bar')).locator('.lance-changes-bar');

  async function comparesRows(): Promise<void> {
    const shown = await bar();
    await shown.getByText(`${(rows + 1).toLocaleString('en')} rows compared`).waitFor();
    const kinds = await shown.locator('.lance-changes-kind').allTextContents();
    assert.deepEqual(kinds, ['All 4', '+1 added', '−1 removed', '~2 changed']);
    const frame = await frameWith(window.page, '.lance-changes-bar');
    await frame.locator('.lance-row').nth(3).waitFor();
  }

  test('shows added, removed and changed rows with their marks, after a choice of version and key', async () => {
    const { page } = window;
    await openCatalog(page);
    await expand(page, 'Connection sample', 'Namespace shop', 'Table products in shop');
    await treeRow(page, 'Table products in shop').click();
    const frame = await frameWith(page, '.lance-compare-button');
    await frame.locator('.lance-compare-button').click();
    await choose(`Version ${first}`, String(first));
    await choose('int64');
    await comparesRows();
    const changed = frame.locator('[role=gridcell].lance-change-cell');
    await changed.first().waitFor();
    assert.match((await changed.first().getAttribute('aria-description')) ?? '', /^changed from /);
    assert.equal(await changed.first().locator('del').count(), 1);
    await shoot(window, 'changes-all');
  });

  test('shows the rows of a kind, and the comparison again after a reload', async () => {
    const { page } = window;
    await (await bar()).getByRole('button', { name: /removed/ }).click();
    const frame = await frameWith(page, '.lance-changes-bar');
    await frame.locator('.lance-toolbar-count').getByText('1 difference', { exact: true }).waitFor();
    await reloadWindow(page);
    const again = await frameWith(page, '.lance-changes-bar');
    await again.locator('.lance-toolbar-count').getByText('1 difference', { exact: true }).waitFor();
    await again.locator('[aria-pressed=true]').getByText('1 removed').waitFor();
    await shoot(window, 'changes-removed');
  });

  test('is left by its button', async () => {
    const frame = await frameWith(window.page, '.lance-changes-bar');
    await frame.getByRole('button', { name: 'Leave Comparison' }).click();
    await frame.locator('.lance-changes-bar').waitFor({ state: 'detached' });
    await frame
      .locator('.lance-toolbar')
      .getByText(`${rows.toLocaleString('en')} rows`)
      .waitFor();
  });

  test('is of another table, whose namespace and key are chosen in lists', async () => {
    const { page } = window;
    await db.createNamespace(['copies'], { mode: 'exist_ok' });
    const copied = await db.openTable('products', { namespacePath: ['shop'], version: first });
    await db.createTable('old-products', await copied.query().toArrow(), { namespacePath: ['copies'] });
    const frame = await frameWith(page, '.lance-compare-button');
    await frame.locator('.lance-toolbar-count').click();
    await runCommand(page, 'Lance Catalog: Compare With…');
    await choose('Another table…');
    await choose('..');
    await choose('copies');
    await choose('old-products');
    await choose('id');
    const compared = await bar();
    await compared.getByText(/^copies\/old-products, version 1 → shop\/products, version \d+, by id$/).waitFor();
    await comparesRows();
    await shoot(window, 'changes-other-table');
    await compared.getByRole('button', { name: 'Leave Comparison' }).click();
    await compared.waitFor({ state: 'detached' });
  });
});

/** Returns the id of the last row of a table. */
async function lastRowId(table: Table): Promise<number> {
  const ids = await table.query().select(['id']).withRowId().toArray();
  return Number(ids.at(-1)?._rowid);
}
