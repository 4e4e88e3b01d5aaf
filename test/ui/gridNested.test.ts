import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { tableToIPC } from '#arrow';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { launchChromium } from '../harness/browser.ts';
import { seriousProblems } from './parts/accessibility.ts';
import { nestedRows, nestedSchema, nestedStream } from './parts/nestedRows.ts';
import { inPage, outputTheme, serveRenderer, type Served } from './parts/pages.ts';
import { inPanelPage, PanelHostStandIn, servePanel, tableOf } from './parts/panelHostStandIn.ts';
import type { ThemeName } from './parts/themes.ts';

const shots = join(import.meta.dirname, '../../test-results/gridNested');

const head = (page: Page, name: string) =>
  page.locator('.lance-header').filter({ has: page.locator('.lance-name', { hasText: new RegExp(`^${name}$`) }) });
const cell = (page: Page, row: number, column: number) =>
  page.locator(`[role=row][aria-rowindex="${row + 2}"] [role=gridcell][aria-colindex="${column + 2}"]`);
const entry = (page: Page, name: string) => page.getByRole('treeitem', { name: new RegExp(`^${name}, `) });

const names = (page: Page) => page.locator('.lance-header .lance-name').allTextContents();

/** Opens the menu of a header and chooses an entry. */
async function choose(page: Page, name: string, label: string): Promise<void> {
  await head(page, name).click({ button: 'right' });
  await page.getByRole('menuitem', { name: label }).click();
  await page.getByRole('menu').waitFor({ state: 'detached' });
}

suite('Fields of structs as columns of the grid, in a browser', function () {
  this.timeout(60_000);
  let server: Served;
  let notebooks: Served;
  let browser: Browser;

  suiteSetup(async () => {
    await mkdir(shots, { recursive: true });
    server = await servePanel();
    notebooks = await serveRenderer(
      'renderer.js',
      '<!doctype html><html lang="en"><title>Notebook</title><body><main id="output"></main></body></html>',
    );
    browser = await launchChromium();
  });

  suiteTeardown(async () => {
    await browser?.close();
    server?.close();
    notebooks?.close();
  });

  async function withPanel(
    change: Partial<PanelTable>,
    run: (page: Page, host: PanelHostStandIn) => Promise<void>,
    { theme = 'dark', width = 1200 }: { theme?: ThemeName; width?: number } = {},
  ): Promise<void> {
    await inPanelPage(browser, { width, height: 480 }, async (page) => {
      const table = tableOf(1000, { key: 'nested', columns: columnsOf(nestedSchema), ...change });
      const host = new PanelHostStandIn(page, table);
      host.rows = (start, end, columns) =>
        columns ? nestedStream(start, end, columns) : tableToIPC(nestedRows(start, end), 'stream');
      host.nestedRows = nestedStream;
      try {
        await host.open(server.url, theme);
        await cell(page, 0, 0).getByText('0', { exact: true }).waitFor();
        await run(page, host);
      } finally {
        host.close();
      }
    });
  }

  test('the menu of a header shows them in the place of their struct, also in depth, and the struct again', () =>
    withPanel({ selectsColumns: true }, async (page, host) => {
      await choose(page, 'address', 'Expand Fields');
      await cell(page, 0, 1).getByText('0 Main Street').waitFor();
      assert.deepEqual(await names(page), [
        'id',
        'address.street',
        'address.zip',
        'address.geo',
        'address.`post.box`',
        'name',
      ]);
      // A null struct has null fields.
      for (const column of [1, 2, 3, 4]) await cell(page, 3, column).locator('.lance-null').waitFor();
      // The struct is no longer read.
      const expanded = host.asked.slice(-2).flatMap(({ columns = [] }) => columns.map((column) => String(column)));
      assert.deepEqual(new Set(expanded), new Set(['0', '2', '1,0', '1,1', '1,2', '1,3']));
      await choose(page, 'address.geo', 'Expand Fields');
      await cell(page, 1, 4).getByText('-0.125').waitFor();
      await cell(page, 2, 3).locator('.lance-null').waitFor();
      await page.screenshot({ path: join(shots, 'expanded.png') });
      await cell(page, 1, 4).click();
      await page.keyboard.press('Enter');
      await page.locator('.lance-detail').getByText('-0.125').waitFor();
      await page.keyboard.press('Escape');
      await choose(page, 'address.geo.lat', 'Collapse address.geo');
      await choose(page, 'address.zip', 'Collapse address');
      await head(page, 'address').waitFor();
      assert.deepEqual(await names(page), ['id', 'address', 'name']);
      // The keyboard stays in the struct.
      await page.locator('.lance-header.lance-active, [role=gridcell].lance-active[aria-colindex="3"]').waitFor();
    }));

  test('a table that is read as a whole has them, too, and they are copied with their paths', () =>
    withPanel({}, async (page, host) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await choose(page, 'address', 'Expand Fields');
      await cell(page, 1, 2).getByText('10001').waitFor();
      assert.ok(host.asked.every(({ columns }) => columns === undefined));
      await cell(page, 0, 1).click();
      await cell(page, 3, 4).click({ modifiers: ['Shift'] });
      await page.keyboard.press('Shift+F10');
      await page.getByRole('menuitem', { name: 'Copy as JSON' }).click();
      const copied: unknown = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
      assert.deepEqual((copied as unknown[]).slice(1, 4), [
        {
          'address.street': '1 Main Street',
          'address.zip': 10_001,
          'address.geo': '{lat: 0.125, lon: -0.125}',
          'address.`post.box`': null,
        },
        {
          'address.street': '2 Main Street',
          'address.zip': 10_002,
          'address.geo': null,
          'address.`post.box`': 'Box 2',
        },
        { 'address.street': null, 'address.zip': null, 'address.geo': null, 'address.`post.box`': null },
      ]);
    }));

  test('they are sorted and filtered by their path', () =>
    withPanel({ selectsColumns: true, hasViews: true }, async (page, host) => {
      const filtered: unknown[] = [];
      host.filterByCell = (params) => {
        filtered.push(params.column);
        return '`address`.`zip` = 10001';
      };
      host.view = (view) =>
        tableOf(1000, { key: 'view', columns: columnsOf(nestedSchema), selectsColumns: true, hasViews: true, view });
      await choose(page, 'address', 'Expand Fields');
      await cell(page, 1, 2).getByText('10001').waitFor();
      await choose(page, 'address.`post.box`', 'Sort Descending');
      await page.locator('.lance-header[aria-sort=descending]', { hasText: 'post.box' }).waitFor();
      await cell(page, 1, 2).getByText('10001').click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Only This Value' }).click();
      await page.locator('.lance-chip', { hasText: 'address.zip' }).waitFor();
      assert.deepEqual(filtered, [[1, 1]]);
      // The chip opens the filter of the field.
      await page.locator('.lance-chip-edit', { hasText: 'address.zip' }).click();
      await page.getByRole('dialog', { name: 'Filter address.zip' }).waitFor();
    }));

  test('the list of columns is a tree, and what is expanded is kept for the table', () =>
    withPanel({ selectsColumns: true }, async (page, host) => {
      await page.locator('[role=grid]').focus();
      await page.keyboard.press('Control+Shift+O');
      await page.getByRole('tree', { name: /^Columns/ }).waitFor();
      // A struct is found by its fields.
      await page.keyboard.type('zip');
      await page.getByText('1 of 3 columns').waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowRight');
      await entry(page, 'address.zip').waitFor();
      await page.getByRole('searchbox').fill('');
      await page.getByText('6 columns').waitFor();
      await page.getByRole('tree').focus();
      await page.keyboard.press('ArrowDown');
      await page.locator('.lance-column-entry.lance-active[aria-expanded=true]').waitFor();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Space');
      await page.getByRole('treeitem', { name: /^address.street/, checked: false }).waitFor();
      await page.locator('.lance-column-entry[aria-checked=mixed]').waitFor();
      await page.screenshot({ path: join(shots, 'list.png') });
      await head(page, 'address.street').waitFor({ state: 'detached' });
      await head(page, 'address.zip').waitFor();
      await page.waitForFunction(() => JSON.stringify(sessionStorage).includes('expanded'));
      await retry(() => assert.deepEqual([host.kept?.expanded, host.kept?.hidden], [['address'], ['address.street']]));
      // A new page has the same columns.
      await host.show(
        tableOf(1000, {
          title: 'again',
          key: 'again',
          columns: columnsOf(nestedSchema),
          selectsColumns: true,
          columnSettings: host.kept!,
        }),
      );
      await head(page, 'address.zip').waitFor();
      assert.deepEqual(await names(page), ['id', 'address.zip', 'address.geo', 'address.`post.box`', 'name']);
      await page.locator('[role=grid]').focus();
      await page.keyboard.press('Control+Shift+O');
      await page.getByRole('tree').waitFor();
      await page.getByRole('tree').focus();
      await page.keyboard.press('End');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('ArrowLeft');
      await head(page, 'address').waitFor();
      assert.deepEqual(await names(page), ['id', 'address', 'name']);
    }));

  for (const theme of ['light', 'dark', 'highContrast'] as const)
    test(`the tree, its columns and the menu of a field are accessible in the ${theme} theme`, () =>
      withPanel(
        { selectsColumns: true, hasViews: true },
        async (page) => {
          await choose(page, 'address', 'Expand Fields');
          await cell(page, 1, 2).getByText('10001').waitFor();
          await page.keyboard.press('Control+Shift+O');
          await page.getByRole('tree').waitFor();
          assert.deepEqual(await seriousProblems(page), [], 'the tree');
          await page.screenshot({ path: join(shots, `tree-${theme}.png`) });
          await page.keyboard.press('Escape');
          await head(page, 'address.geo').click({ button: 'right' });
          await page.getByRole('menuitem', { name: 'Collapse address' }).waitFor();
          assert.deepEqual(await seriousProblems(page), [], 'the menu of a field');
          await page.screenshot({ path: join(shots, `menu-${theme}.png`) });
        },
        { theme, width: theme === 'dark' ? 700 : 1000 },
      ));

  test('an output of a notebook has them', () =>
    inPage(browser, { width: 1000, height: 420 }, async (page) => {
      await page.goto(notebooks.url);
      const stream = Buffer.from(tableToIPC(nestedRows(0, 8), 'stream')).toString('base64');
      await page.evaluate(
        async ([text, properties]) => {
          for (const [name, value] of Object.entries(properties)) document.body.style.setProperty(name, value);
          const { activate } = (await import(`${location.href}renderer.js`)) as {
            activate: (context: unknown) => { renderOutputItem(item: unknown, element: Element): void };
          };
          const renderer = activate({ postMessage: () => {}, onDidReceiveMessage: () => {} });
          const item = { id: 'a', data: () => new TextEncoder().encode(text) };
          renderer.renderOutputItem(item, document.getElementById('output')!);
        },
        [stream, outputTheme('light')] as const,
      );
      await choose(page, 'address', 'Expand Fields');
      await cell(page, 1, 2).getByText('10001').waitFor();
      await cell(page, 3, 2).locator('.lance-null').waitFor();
    }));

  for (const width of [44, 64, 72, 200])
    test(`the buttons of a header cover no name in a column of ${width} pixels`, () =>
      withPanel(
        {
          hasViews: true,
          columnSettings: {
            order: [],
            pinned: [],
            hidden: [],
            rowHeight: 'small',
            widths: ['id', 'address', 'name'].map((name) => ({ name, width })),
          },
        },
        async (page) => {
          for (const name of ['id', 'name', 'address']) {
            await head(page, name).hover();
            await page.locator('.lance-header:hover .lance-menu-button').waitFor();
            const text = await textBox(head(page, name).locator('.lance-name'));
            for (const button of await head(page, name).locator('button').all()) {
              const box = (await button.boundingBox())!;
              const isApart =
                box.x >= text.right ||
                box.x + box.width <= text.left ||
                box.y >= text.bottom - 3 ||
                box.y + box.height <= text.top;
              assert.ok(isApart, `${name}: ${JSON.stringify([text, box])}`);
              const column = (await head(page, name).boundingBox())!;
              assert.ok(box.x >= column.x && box.x + box.width <= column.x + column.width, `${name} is inside`);
            }
          }
          await head(page, 'id').hover();
          await page.screenshot({
            path: join(shots, `header-${width}.png`),
            clip: { x: 0, y: 30, width: 700, height: 120 },
          });
        },
      ));
});

/** Returns where the text of an element is. */
const textBox = (element: Locator) =>
  element.evaluate((one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    const [{ left, right, top, bottom }, outer] = [range.getBoundingClientRect(), one.getBoundingClientRect()];
    return { left: Math.max(left, outer.left), right: Math.min(right, outer.right), top, bottom };
  });

/** Tries an assertion again for a while. */
async function retry(check: () => void): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return check();
    } catch (error) {
      if (tries === 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
