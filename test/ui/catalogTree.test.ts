import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { eventually } from '../contract/eventually.ts';
import { runCli } from '../harness/runCli.ts';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { frameWith, openWorkbench, reloadWindow, runCommand } from '../harness/workbench.ts';
import { chooseInMenu, collapse, expand, openCatalog, openMenu, switchTheme, treeRow } from './parts/catalogWindow.ts';
import { counts, notebookOf, openNotebook, patience, runCell } from './parts/notebookWindow.ts';

// All tests use one window, in order, as a user works in it.
suite('The catalog view in a window', function () {
  this.timeout(2 * patience);
  let window: Window;
  let copy: string;

  suiteSetup(async () => {
    window = await openWindow();
    copy = join(dirname(window.catalog), 'team', 'shop');
    cpSync(window.catalog, copy, { recursive: true });
  });

  suiteTeardown(() => window?.close());

  teardown(async function () {
    if (existsSync(`${copy}-away`)) renameSync(`${copy}-away`, copy);
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  const pathBox = (): ReturnType<Page['locator']> =>
    window.page.locator('.quick-input-widget', { hasText: 'Add Directory' });

  test('has all the room, and says that a connection is from a setting', async () => {
    const { page } = window;
    await openCatalog(page);
    await expand(page, 'Connection sample', 'Namespace shop', 'Namespace eu');
    assert.equal(await page.locator('.pane-header', { hasText: /Cluster Checks|Jobs/ }).count(), 0);
    const row = await treeRow(page, 'Connection sample').innerText();
    assert.match(row, /…\/.*catalog · setting/);
    await openMenu(page, treeRow(page, 'Connection sample'), 'Open Connection Settings');
    await shoot(window, 'tree-menu');
    await page.keyboard.press('Escape');
  });

  test('adds a directory whose path was pasted, and keeps a misspelled path', async () => {
    const { page } = window;
    await page
      .getByRole('tab', { name: /Explorer/ })
      .first()
      .click();
    await runCommand(page, 'Lance Catalog: Add Directory');
    const input = pathBox().locator('input.input');
    await input.waitFor();
    await input.fill(`${copy}x`);
    await pathBox()
      .locator('.monaco-list-row', { hasText: `Use ${copy}x` })
      .waitFor();
    await page.keyboard.press('Enter');
    await pathBox().locator('.monaco-list-row', { hasText: 'No folder at' }).waitFor();
    await shoot(window, 'tree-add-misspelled');
    assert.equal(await input.inputValue(), `${copy}x`);
    await input.fill(copy);
    await page.keyboard.press('Enter');
    const name = page.locator('.quick-input-widget', { hasText: 'Name shown in the tree' });
    await name.waitFor();
    await page.keyboard.press('Enter');
    const row = page.locator('.pane-body .monaco-list-row.selected[aria-label^="Connection shop"]');
    await row.waitFor({ timeout: patience });
    assert.match(await row.innerText(), /…\/team\/shop/);
  });

  test('shows tables that a cell makes, renames and drops', async () => {
    const { page, folder } = window;
    const sources = [
      `await db.createTable('fresh', [{ id: 1 }], { namespacePath: ['shop', 'eu'] });`,
      `await db.renameTable('fresh', 'fresher', { namespacePath: ['shop', 'eu'] });`,
      `await db.dropTable('fresher', { namespacePath: ['shop', 'eu'] });`,
    ];
    writeFileSync(join(folder, 'makes.ipynb'), notebookOf(sources, 'sample'));
    await openNotebook(page, 'makes.ipynb');
    await openCatalog(page);
    await treeRow(page, 'Table orders in shop/eu').waitFor();
    await runCell(page, 0);
    await counts(page, 0, 1);
    await treeRow(page, 'Table fresh in shop/eu').waitFor();
    await runCell(page, 1);
    await treeRow(page, 'Table fresher in shop/eu').waitFor();
    await runCell(page, 2);
    await treeRow(page, 'Table fresher in shop/eu').waitFor({ state: 'detached' });
  });

  test('shows a table that a command in a terminal makes', async () => {
    const { page, catalog } = window;
    await treeRow(page, 'Table orders in shop/eu').waitFor();
    await copyTable(catalog, 'shop/eu/returns', 'shop/eu/copied');
    await treeRow(page, 'Table copied in shop/eu').waitFor();
  });

  test('shows what another program has changed while the view was hidden', async () => {
    const { page, catalog } = window;
    await page
      .getByRole('tab', { name: /Explorer/ })
      .first()
      .click();
    await treeRow(page, 'Table copied in shop/eu').waitFor({ state: 'hidden' });
    const other = await openDir({ root: catalog });
    for (const [name, ...namespacePath] of [['brought', 'shop', 'eu'], ['brought']] as const)
      await other.createTable(name, [{ id: 1 }], { namespacePath });
    await other.dropTable('copied', { namespacePath: ['shop', 'eu'] });
    await openCatalog(page);
    await treeRow(page, 'Table brought in shop/eu').waitFor();
    await treeRow(page, 'Table copied in shop/eu').waitFor({ state: 'detached' });
    await page.locator('.pane-body .monaco-list-row[aria-label="Table brought"]').waitFor();
    for (const [name, ...namespacePath] of [['brought', 'shop', 'eu'], ['brought']] as const)
      await other.dropTable(name, { namespacePath });
    await treeRow(page, 'Table brought').waitFor({ state: 'detached' });
  });

  test('goes on at the first new row after more rows were loaded with the keyboard', async () => {
    const { page, catalog } = window;
    const other = await openDir({ root: catalog });
    await other.createNamespace(['many']);
    for (let at = 0; at < 105; at++) await other.createNamespace(['many', `n${String(at).padStart(3, '0')}`]);
    await collapse(page, 'Namespace shop');
    await treeRow(page, 'Namespace many').waitFor();
    await treeRow(page, 'Namespace many').locator('.label-name').click();
    const focused = page.locator('.pane-body .monaco-list-row.focused');
    await focused.and(page.locator('[aria-label^="Namespace many"][aria-expanded="true"]')).waitFor();
    await treeRow(page, 'Namespace n000').waitFor();
    for (let at = 0; at < 101; at++) await page.keyboard.press('ArrowDown');
    await focused.and(page.locator('[aria-label^="Load more"]')).waitFor();
    await page.keyboard.press('Enter');
    await focused.and(page.locator('[aria-label="Namespace n100"]')).waitFor();
    await page.keyboard.press('ArrowDown');
    await focused.and(page.locator('[aria-label="Namespace n101"]')).waitFor();
    await page.keyboard.press('Home');
    await collapse(page, 'Namespace many');
    await expand(page, 'Namespace shop');
    await other.dropNamespace(['many'], { behavior: 'cascade' });
    await treeRow(page, 'Namespace many').waitFor({ state: 'detached' });
  });

  test('lists a directory that the user has added in another window', async () => {
    const { page, browser, server, folder, catalog } = window;
    const added = join(dirname(catalog), 'team', 'added');
    mkdirSync(added, { recursive: true });
    await page
      .getByRole('tab', { name: /Explorer/ })
      .first()
      .click();
    const other = await browser.context.newPage();
    await openWorkbench(other, server, { folder });
    await openCatalog(other);
    await treeRow(other, 'Connection sample').waitFor({ timeout: patience });
    await runCommand(other, 'Lance Catalog: Add Directory');
    const box = other.locator('.quick-input-widget', { hasText: 'Add Directory' });
    await box.locator('input.input').fill(added);
    await box.locator('.monaco-list-row', { hasText: `Use ${added}` }).waitFor();
    await other.keyboard.press('Enter');
    await other.locator('.quick-input-widget', { hasText: 'Name shown in the tree' }).waitFor();
    await other.keyboard.press('Enter');
    await treeRow(other, 'Connection added').waitFor({ timeout: patience });
    await other.close();
    await openCatalog(page);
    await treeRow(page, 'Connection added').waitFor();
    await openMenu(page, treeRow(page, 'Connection added'), 'Remove Connection');
    await chooseInMenu(page, 'Remove Connection');
    await treeRow(page, 'Connection added').waitFor({ state: 'detached' });
  });

  test('lists the commands that drop and rename only for a fitting row', async () => {
    const { page } = window;
    await treeRow(page, 'Connection sample').click();
    assert.deepEqual(await offered(page, 'Drop Table'), []);
    // The click has collapsed the row.
    await expand(page, 'Connection sample');
    await treeRow(page, 'Table orders in shop/eu').click();
    // The palette learns of the selection from the extension host.
    await eventually(async () => assert.deepEqual(await offered(page, 'Drop Table'), ['Lance Catalog: Drop Table…']));
  });

  test('shows the size and location of a table when the pointer is on it', async () => {
    const { page } = window;
    // Move the pointer away first. If it were on the row already, the hover would not start.
    await page.mouse.move(700, 400);
    await treeRow(page, 'Table orders in shop/eu').locator('.monaco-icon-label').hover();
    const hover = page.locator('.monaco-hover', { hasText: 'Table shop/eu/orders' });
    await hover.waitFor();
    await page.locator('.monaco-hover', { hasText: /rows, \d+ columns, version \d+/ }).waitFor();
    await shoot(window, 'tree-hover');
  });

  test('names the catalog in the title of a panel, and reveals a kept tab', async () => {
    const { page } = window;
    const tabs = page.locator('.tabs-container .tab', { hasText: /^(orders|products) \(/ });
    await treeRow(page, 'Table orders in shop/eu').dblclick();
    await tabs.filter({ hasText: 'orders (sample)' }).waitFor();
    await treeRow(page, 'Table returns in shop/eu').click();
    await page.locator('.tabs-container .tab', { hasText: 'returns (sample)' }).waitFor();
    await treeRow(page, 'Table orders in shop/eu').click();
    await page.locator('.tabs-container .tab.active', { hasText: 'orders (sample)' }).waitFor();
    assert.equal(await tabs.filter({ hasText: 'orders' }).count(), 1);
  });

  test('marks the step of the walkthrough that a click on a table has done', async () => {
    const { page } = window;
    await runCommand(page, 'Welcome: Open Walkthrough');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Get Started with Lance Catalog' }).click();
    const step = page.locator('.getting-started-step', { hasText: 'Look at a table' });
    await step.waitFor({ timeout: patience });
    await treeRow(page, 'Table returns in shop/eu').click();
    await page.locator('.tabs-container .tab.active', { hasText: 'returns (sample)' }).waitFor();
    await page.getByRole('tab', { name: 'Welcome' }).click();
    await step.locator('.codicon-getting-started-step-checked').waitFor({ timeout: patience });
    await shoot(window, 'tree-walkthrough');
    await runCommand(page, 'View: Close Editor');
  });

  test('keeps what is expanded and collapsed when the window is reloaded', async () => {
    const { page } = window;
    await expand(page, 'Connection sample', 'Namespace shop', 'Namespace eu', 'Table orders in shop/eu');
    await treeRow(page, 'Column amount').waitFor();
    await collapse(page, 'Namespace eu');
    if ((await treeRow(page, 'Connection shop').getAttribute('aria-expanded')) === 'true')
      await collapse(page, 'Connection shop');
    await reloadWindow(page);
    await openCatalog(page);
    await treeRow(page, 'Namespace eu').waitFor({ timeout: patience });
    const isExpanded = (label: string) => treeRow(page, label).getAttribute('aria-expanded');
    assert.deepEqual(
      await Promise.all(['Connection sample', 'Namespace shop', 'Namespace eu', 'Connection shop'].map(isExpanded)),
      ['true', 'true', 'false', 'false'],
    );
    // The table below the collapsed namespace is still expanded.
    await expand(page, 'Namespace eu');
    await treeRow(page, 'Column amount').waitFor();
    await collapse(page, 'Table orders in shop/eu');
  });

  test('is legible in a narrow side bar, in light and dark', async () => {
    for (const theme of ['Light Modern', 'Dark Modern']) {
      await switchTheme(window.page, theme);
      await openCatalog(window.page);
      await shoot(window, `tree-${theme.split(' ')[0]?.toLowerCase()}`);
    }
  });

  test('offers what to do in a panel whose folder is missing, and goes on when the folder is back', async () => {
    const { page } = window;
    await runCommand(page, 'View: Close All Editors');
    await openCatalog(page);
    await treeRow(page, 'Connection sample').locator('.monaco-tl-twistie').click();
    await expand(page, 'Connection shop', 'Namespace shop');
    await treeRow(page, 'Table products in shop').waitFor();
    renameSync(copy, `${copy}-away`);
    await treeRow(page, 'Table products in shop').click();
    const panel = await frameWith(page, 'h1:has-text("The folder is missing")', patience);
    assert.deepEqual(await panel.locator('button').allInnerTexts(), ['Retry', 'Choose Folder…', 'Remove Connection']);
    await shoot(window, 'panel-missing-folder');
    renameSync(`${copy}-away`, copy);
    await panel.locator('button', { hasText: 'Retry' }).click();
    await frameWith(page, '.lance-grid', patience);
  });

  test('says in a panel that shows rows that its folder is missing, instead of many failed cells', async () => {
    const { page } = window;
    await expand(page, 'Namespace eu');
    await treeRow(page, 'Table orders in shop/eu').click();
    const panel = await frameWith(page, '[role=gridcell]:has-text("for the office")', patience);
    // Before the folder is gone: a grid that asks for more rows meanwhile is replaced by the message.
    await panel.locator('[role=gridcell]', { hasText: 'for the office' }).first().click();
    renameSync(copy, `${copy}-away`);
    await page.keyboard.press('Control+End');
    await frameWith(page, 'h1:has-text("The folder is missing")', patience);
    assert.equal(await panel.locator('.lance-grid').count(), 0);
  });

  test('shows a directory that is in the list already, instead of a second connection', async () => {
    const { page } = window;
    await treeRow(page, 'Connection sample').click();
    await runCommand(page, 'Lance Catalog: Add Directory');
    await pathBox().locator('input.input').fill(`${copy}/`);
    await pathBox()
      .locator('.monaco-list-row', { hasText: `Use ${copy}/` })
      .waitFor();
    await page.keyboard.press('Enter');
    await page
      .locator('.notification-list-item', { hasText: 'This folder is already in the list as "shop".' })
      .waitFor();
    await page
      .locator('.pane-body .monaco-list-row.selected[aria-label^="Connection shop"]')
      .waitFor({ timeout: patience });
    assert.equal(await page.locator('.pane-body .monaco-list-row[aria-label^="Connection shop"]').count(), 1);
    await runCommand(page, 'Notifications: Clear All Notifications');
  });

  test('opens a notebook for a connection, which no cell has to choose', async () => {
    const { page } = window;
    await openMenu(page, treeRow(page, 'Connection shop'), 'New TypeScript Notebook');
    await chooseInMenu(page, 'New TypeScript Notebook');
    await page.locator('.statusbar-item', { hasText: 'db: shop' }).waitFor({ timeout: patience });
    await shoot(window, 'tree-new-notebook');
    await runCommand(page, 'View: Revert and Close Editor');
  });
});

/** Copies a table with the command line, as a user does in a terminal. */
async function copyTable(catalog: string, from: string, to: string): Promise<void> {
  const { code, stderr } = await runCli('copy', from, to, '--from', catalog, '--to', catalog);
  assert.equal(code, 0, stderr);
}

/** Returns the titles of commands in the palette that contain a text. */
async function offered(page: Page, text: string): Promise<string[]> {
  await page.keyboard.press('F1');
  await page.locator('.quick-input-widget input.input').fill(`>Lance Catalog: ${text}`);
  const rows = page.locator('.quick-input-list .monaco-list-row .label-name');
  await page.locator('.quick-input-list .monaco-list-row').first().waitFor();
  const titles = await rows.allInnerTexts();
  await page.keyboard.press('Escape');
  return titles.filter((title) => title.includes(text));
}
