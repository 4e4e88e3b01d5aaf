import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { openDir } from '#engine/dir/dirCatalog.ts';
import type { Table, VersionInfo } from '#catalog/table/table.ts';
import { ageVersions } from '../contract/tables/agedVersions.ts';
import { frameWith, reloadWindow, runCommand } from '../harness/workbench.ts';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { expand, openCatalog, treeRow } from './parts/catalogWindow.ts';

const rowsText = (count: number): string => `${count.toLocaleString('en')} rows`;

suite('The versions of a table, in a window', function () {
  this.timeout(180_000);
  let window: Window;
  let table: Table;
  let first: number;
  let rows: number;

  suiteSetup(async () => {
    window = await openWindow();
    const db = await openDir({ root: window.catalog });
    table = await db.openTable('products', { namespacePath: ['shop'] });
    first = await table.version();
    rows = await table.countRows();
    // Before the panel reads it: it takes a version whose time has changed for that of a table that was created again.
    await age(await table.listVersions());
  });

  suiteTeardown(() => window?.close());

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  /** Makes versions a month old. */
  async function age(versions: readonly VersionInfo[]): Promise<void> {
    const { location } = await (await openDir({ root: window.catalog })).describeTable('products', ['shop']);
    ageVersions(location!, versions, 30);
  }

  const panel = () => frameWith(window.page, '.lance-version-button');

  async function chooseVersion(typed: string): Promise<void> {
    const { page } = window;
    const frame = await panel();
    await frame.locator('.lance-version-button').click();
    const input = page.locator('.quick-input-widget input.input');
    await input.waitFor();
    await input.fill(typed);
    const row = page.locator('.quick-input-list .monaco-list-row.focused', { hasText: `Version ${typed}` });
    await row.waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
  }

  test('a newer version is offered when the panel is shown again', async () => {
    const { page } = window;
    await openCatalog(page);
    await expand(page, 'Connection sample', 'Namespace shop', 'Table products in shop');
    await treeRow(page, 'Table products in shop').click();
    const frame = await panel();
    await frame.locator('.lance-version-button').getByText(`Version ${first}`, { exact: true }).waitFor();
    assert.equal(await frame.locator('.lance-version-bar').count(), 0);
    await table.delete('id = 3');
    await runCommand(page, 'File: New Untitled Text File');
    await runCommand(page, 'View: Close Editor');
    const shown = await panel();
    await shown
      .locator('.lance-version-bar')
      .getByText(`Version ${first + 1} is available`)
      .waitFor();
    await shown.locator('.lance-toolbar').getByText(rowsText(rows)).waitFor();
    await shoot(window, 'versions-available');
    await shown.getByRole('button', { name: 'Show', exact: true }).click();
    await shown
      .locator('.lance-toolbar')
      .getByText(rowsText(rows - 1))
      .waitFor();
    await shown.locator('.lance-version-bar').waitFor({ state: 'detached' });
  });

  test('a chosen version is read-only, and stays after a reload', async () => {
    const { page } = window;
    await table.tags().create('gold', first);
    await chooseVersion(String(first));
    const frame = await panel();
    const bar = `Version ${first} of ${first + 1} · read-only`;
    await frame.locator('.lance-version-bar').getByText(bar).waitFor();
    await frame.locator('.lance-toolbar').getByText(rowsText(rows)).waitFor();
    await page.locator('.tab', { hasText: `products, version ${first} (sample)` }).waitFor();
    await shoot(window, 'versions-chosen');
    await reloadWindow(page);
    const restored = await panel();
    await restored.locator('.lance-version-bar').getByText(bar).waitFor();
    await restored.locator('.lance-toolbar').getByText(rowsText(rows)).waitFor();
  });

  test('a chosen version that was removed is said, with the way to the newest', async () => {
    const { page } = window;
    // The checks that follow the rows of the reload have ended: that after the restart finds out.
    await pause(2500);
    if ('gold' in (await table.tags().list())) await table.tags().delete('gold');
    await table.delete('id = 4');
    const versions = await table.listVersions();
    await age(versions.slice(0, -1).filter(({ version }) => version > first));
    await table.optimize({ olderThan: '7d' });
    // A running engine still has the version open. The panel, which has all rows, looks at its version on the next one.
    await runCommand(page, 'Lance Catalog: Restart Lance Engine');
    const frame = await frameWith(page, '.lance-message');
    await frame.getByText(`Version ${first} no longer exists`).waitFor();
    await shoot(window, 'versions-removed');
    await frame.getByRole('button', { name: 'Show Newest' }).click();
    const shown = await panel();
    await shown
      .locator('.lance-toolbar')
      .getByText(rowsText(rows - 2))
      .waitFor();
  });

  test('the table in the panel becomes a cell of a notebook', async () => {
    const { page } = window;
    await runCommand(page, 'Lance Catalog: Insert as Notebook Cell');
    const cell = page.locator('.notebook-editor .cell', { hasText: 'openTable("products"' });
    await cell.first().waitFor();
    await shoot(window, 'versions-cell');
  });
});
