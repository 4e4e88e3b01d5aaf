import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { launchChromium, type Size } from '../harness/browser.ts';
import { wideSchema, wideStreamOf } from './parts/gridRows.ts';
import type { Served } from './parts/pages.ts';
import { inPanelPage, PanelHostStandIn, servePanel, tableOf } from './parts/panelHostStandIn.ts';
import type { ThemeName } from './parts/themes.ts';

const shots = join(import.meta.dirname, '../../test-results/gridColumns');

const list = (page: Page) => page.getByRole('listbox', { name: /^Columns/ });
const option = (page: Page, name: string) => page.getByRole('option', { name: new RegExp(`^${name}, `) });
const head = (page: Page, name: string) => page.locator('.lance-header', { hasText: name });

suite('The list of columns of the grid, in a browser', function () {
  this.timeout(60_000);
  let server: Served;
  let browser: Browser;

  suiteSetup(async () => {
    await mkdir(shots, { recursive: true });
    server = await servePanel();
    browser = await launchChromium();
  });

  suiteTeardown(async () => {
    await browser?.close();
    server?.close();
  });

  /** Opens a panel with the list of its columns, and runs the test on it. */
  async function withList(
    {
      numColumns,
      size = { width: 1200, height: 600 },
      theme = 'dark',
    }: Partial<{ size: Size; theme: ThemeName }> & {
      numColumns?: number;
    },
    run: (page: Page) => Promise<void>,
  ): Promise<void> {
    await inPanelPage(browser, size, async (page) => {
      const wide = numColumns === undefined ? {} : { key: 'wide', columns: columnsOf(wideSchema(numColumns)) };
      const host = new PanelHostStandIn(page, tableOf(1000, { ...wide, ...(numColumns && { selectsColumns: true }) }));
      if (numColumns !== undefined)
        host.rows = (start, end, columns = []) => wideStreamOf(start, end, numColumns, columns);
      try {
        await host.open(server.url, theme);
        await page.locator('[role=gridcell]').first().waitFor();
        const loaded = () => page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
        assert.ok(
          (await loaded()).every((name) => !name.endsWith('gridColumns.js')),
          'it is not in the first paint',
        );
        await page.locator('[role=grid]').focus();
        await page.keyboard.press('Control+Shift+O');
        await list(page).waitFor();
        await run(page);
      } finally {
        host.close();
      }
    });
  }

  test('shows and hides by keyboard, goes to a column, and Escape returns to the rows', () =>
    withList({}, async (page) => {
      await page.keyboard.type('sco');
      await page.getByText('1 of 9 columns').waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Space');
      await page.getByRole('option', { name: 'score', checked: false }).waitFor();
      await page.getByRole('button', { name: '1 column hidden' }).waitFor();
      await head(page, 'score').waitFor({ state: 'detached' });
      await page.keyboard.press('Enter');
      await head(page, 'score').waitFor();
      await page.locator('[role=gridcell].lance-active[aria-colindex="5"]').waitFor();
      await page.keyboard.press('Escape');
      await list(page).waitFor({ state: 'detached' });
      await page.keyboard.press('ArrowRight');
      await page.locator('[role=gridcell].lance-active[aria-colindex="6"]').waitFor();
    }));

  test('moves columns by keys and by dragging, pins them, and shows only those that were found', () =>
    withList({}, async (page) => {
      const names = () => page.locator('.lance-header .lance-name').allTextContents();
      const isFirst = (name: string) =>
        page.waitForFunction(
          (first) => document.querySelector('.lance-header .lance-name')?.textContent === first,
          name,
        );
      await option(page, 'name').hover();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Alt+ArrowDown');
      await isFirst('name');
      await page.keyboard.press('p');
      await isFirst('id');
      const [from, to] = [await option(page, 'score').boundingBox(), await option(page, 'name').boundingBox()];
      await page.mouse.move(from!.x + 60, from!.y + 12);
      await page.mouse.down();
      await page.mouse.move(to!.x + 60, to!.y + 3, { steps: 5 });
      await page.screenshot({ path: join(shots, 'drag.png') });
      await page.mouse.up();
      await page.waitForFunction(
        () =>
          [...document.querySelectorAll('.lance-header .lance-name')].findIndex(
            (one) => one.textContent === 'score',
          ) === 1,
      );
      await page.getByLabel('Kind of columns').selectOption({ label: 'Text' });
      await page.getByRole('button', { name: 'Only Found' }).click();
      await page.waitForFunction(() => document.querySelectorAll('.lance-header').length === 1);
      assert.deepEqual(await names(), ['name']);
      await page.getByRole('button', { name: 'Reset Columns' }).click();
      await isFirst('id');
    }));

  test('of 2,000 columns it has elements for those in the view, and goes to the last one', () =>
    withList({ numColumns: 2000 }, async (page) => {
      await list(page).focus();
      assert.ok((await page.getByRole('option').count()) < 60);
      await page.keyboard.press('End');
      await page.locator('[role=option][aria-posinset="2000"].lance-active').waitFor();
      await page.keyboard.press('Enter');
      await page.locator('[role=gridcell].lance-active[aria-colindex="2001"]').waitFor();
    }));

  for (const theme of ['dark', 'light', 'highContrast'] as const)
    test(`is drawn in the colors of the ${theme} theme, also in 700 pixels`, () =>
      withList({ theme, size: { width: 700, height: 600 } }, async (page) => {
        await option(page, 'price').click();
        await list(page).focus();
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('Space');
        await page.getByRole('button', { name: '1 column hidden' }).waitFor();
        await page.screenshot({ path: join(shots, `${theme}.png`) });
        const [rows, columns] = [
          await page.locator('[role=grid]').boundingBox(),
          await page.getByRole('region', { name: 'Columns' }).boundingBox(),
        ];
        assert.ok(rows!.x + rows!.width <= columns!.x + 1, 'the list covers no rows');
      }));
});
