import assert from 'node:assert/strict';
import { openDir } from '#engine/dir/dirCatalog.ts';
import type { Frame, Page } from 'playwright-core';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { frameWith, reloadWindow, runCommand } from '../harness/workbench.ts';
import { expand, openCatalog, treeRow } from './parts/catalogWindow.ts';

const patience = 90_000;
const cell = '[role=gridcell]:not([aria-busy])';
const panel = (page: Page) => frameWith(page, '.lance-grid');
const bar = (frame: Frame) => frame.getByRole('group', { name: 'Nearest rows' });
const barText = (frame: Frame, text: string | RegExp) =>
  bar(frame).filter({ hasText: text }).waitFor({ timeout: patience });

/** Returns the distances that are drawn, from the first row. */
const distances = (frame: Frame): Promise<number[]> =>
  frame
    .locator('.lance-row .lance-pinned [role=gridcell]:not([aria-busy])')
    .allInnerTexts()
    .then((texts) => texts.map(Number));

// All tests use one window, in order. Each test continues where the previous test ended, as a user does.
suite('Finding nearest rows in a window', function () {
  this.timeout(180_000);
  let window: Window;

  suiteSetup(async () => {
    window = await openWindow();
    const { page } = window;
    const db = await openDir({ root: window.catalog });
    const products = await db.openTable('products', { namespacePath: ['shop'] });
    await products.createIndex('embedding', { type: 'IVF_FLAT', distanceType: 'cosine', numPartitions: 2 });
    await products.createIndex('description', { type: 'FTS' });
    await db.close();
    await openCatalog(page);
    await expand(page, 'Connection sample', 'Namespace shop');
    await treeRow(page, 'Table products in shop').click();
    await (await panel(page)).locator(cell).first().waitFor({ timeout: patience });
  });

  suiteTeardown(() => window?.close());

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-nearest-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  test('a cell finds the rows near its vector by the index of the column, itself first', async () => {
    const { page } = window;
    const frame = await panel(page);
    await frame.locator('.lance-row .lance-vector').nth(4).click({ button: 'right' });
    await frame.getByRole('menuitem', { name: 'Find Nearest Rows', exact: true }).click();
    await barText(frame, /nearest to row 5 by embedding/);
    await frame
      .locator('.lance-row .lance-pinned [role=gridcell]:not([aria-busy])')
      .first()
      .waitFor({ timeout: patience });
    assert.equal(await bar(frame).getByRole('combobox', { name: 'Distance' }).inputValue(), 'cosine');
    assert.equal(await bar(frame).getByRole('combobox', { name: 'Way to search' }).inputValue(), 'index');
    await barText(frame, /\d ms/);
    const found = await distances(frame);
    assert.ok(found.length > 5 && Math.abs(found[0]!) < 1e-5, String(found[0]));
    assert.deepEqual(
      found,
      found.toSorted((a, b) => a - b),
    );
    await frame.locator('.lance-toolbar-count', { hasText: /^100 of / }).waitFor({ timeout: patience });
    await shoot(window, 'nearest-index');
  });

  test('every row is compared on request, with a filter before the search', async () => {
    const { page } = window;
    const frame = await panel(page);
    await bar(frame).getByRole('combobox', { name: 'Way to search' }).selectOption('exact');
    await bar(frame).getByRole('combobox', { name: 'Number of rows' }).selectOption('10');
    await frame.locator('.lance-toolbar-count', { hasText: /^10 of / }).waitFor({ timeout: patience });
    await frame.getByRole('combobox', { name: 'Filter' }).fill('id > 5');
    await page.keyboard.press('Enter');
    await frame.waitForFunction(
      () => {
        const first = document.querySelector<HTMLElement>('.lance-row .lance-pinned [role=gridcell]:not([aria-busy])');
        return first !== null && Number(first.innerText) > 0.001;
      },
      undefined,
      { timeout: patience },
    );
    assert.equal(await bar(frame).getByRole('combobox', { name: 'Way to search' }).inputValue(), 'exact');
    await shoot(window, 'nearest-exact');
  });

  test('a text is searched by its index, and the nearest rows are those that have it', async () => {
    const { page } = window;
    const frame = await panel(page);
    const line = frame.locator('.lance-footer');
    const text = frame.getByRole('searchbox', { name: 'Search text' });
    await bar(frame).getByRole('combobox', { name: 'Number of rows' }).selectOption('10000');
    await frame.locator('.lance-toolbar-count', { hasText: /^[\d,]{3,} of / }).waitFor({ timeout: patience });
    await text.fill('oak');
    await text.press('Enter');
    await line.getByText('Full-text index on description: whole words').waitFor({ timeout: patience });
    await barText(frame, /found; rows that the filter or the search for text excludes or whose vector/);
    await frame.locator('.lance-row .lance-pinned [role=gridcell]:not([aria-busy])').first().waitFor();
    const found = await distances(frame);
    assert.ok(found.length > 0);
    assert.deepEqual(
      found,
      found.toSorted((a, b) => a - b),
    );
    await shoot(window, 'nearest-text');
    await frame.getByRole('button', { name: 'Index: search all text instead' }).click();
    await line.getByText('Searched the text of').waitFor({ timeout: patience });
    await text.fill('');
    await text.press('Enter');
    await line.getByText('Searched the text of').waitFor({ state: 'hidden', timeout: patience });
    await bar(frame).getByRole('combobox', { name: 'Number of rows' }).selectOption('10');
    await frame.locator('.lance-toolbar-count', { hasText: /^10 of / }).waitFor({ timeout: patience });
  });

  test('Copy as Code writes the search, and it is there after the window was reloaded', async () => {
    const { page } = window;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await runCommand(page, 'Lance Catalog: Copy as Code…');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'TypeScript' }).first().click();
    await page.locator('.statusbar-item', { hasText: 'Copied as TypeScript' }).waitFor({ timeout: patience });
    const code = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(code, /\{ column: "embedding", distanceType: "cosine", bypassVectorIndex: true \}/);
    assert.match(code, /\.where\("id > 5"\)/);
    assert.match(code, /\.limit\(10\)/);
    await reloadWindow(page);
    const frame = await panel(page);
    await barText(frame, /nearest to row 5 by embedding/);
    await frame.locator('.lance-toolbar-count', { hasText: /^10 of / }).waitFor({ timeout: patience });
    await bar(frame).getByRole('button', { name: 'Leave the Search' }).click();
    await bar(frame).waitFor({ state: 'hidden', timeout: patience });
    await shoot(window, 'nearest-left');
  });
});
