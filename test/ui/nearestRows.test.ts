import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { tableToIPC } from '#arrow';
import { withDistances } from '#catalog/view/nearestRows.ts';
import type { NearestFacts, PanelTable } from '#shared/protocol/webviewMessages.ts';
import { seriousProblems } from './parts/accessibility.ts';
import { rowsOf } from './parts/gridRows.ts';
import { type PanelHostStandIn, tableOf } from './parts/panelHostStandIn.ts';
import { openPanelPages } from './parts/panelPages.ts';

const shots = join(import.meta.dirname, '../../test-results/nearest');

const total = 5_000;
const base: Partial<PanelTable> = { hasViews: true, key: 'base', selectsColumns: true };
const columns = [...tableOf(1).columns, { name: '_distance', type: 'float', nullable: true }];
const index = { type: 'IVF_PQ', distanceType: 'cosine' } as const;

/** Serves views without searching their rows. */
function serveSearches(host: PanelHostStandIn): void {
  host.view = (view) => {
    const { nearest } = view;
    if (!nearest) return tableOf(total, base);
    if (nearest.vectors[0]![0] === 13) throw new Error('The catalog server at http://a.example is not reachable.');
    const distanceType = nearest.distanceType ?? index.distanceType;
    const usesIndex = nearest.useIndex !== false && distanceType === index.distanceType;
    const facts: NearestFacts = { distanceType, index, usesIndex, milliseconds: 12.4 };
    const numRows = Math.min(nearest.k, 900);
    return tableOf(numRows, { ...base, key: JSON.stringify(view), columns, view, nearest: facts, totalRows: total });
  };
  host.rows = (start, end, wanted) => {
    const distances = Float32Array.from({ length: end - start }, (_, row) => (start + row) / 1_000);
    const rows = withDistances(rowsOf(start, end), distances, undefined);
    return tableToIPC(rows.selectAt(wanted ?? columns.map((_, at) => at).slice(0, -1)), 'stream');
  };
}

const bar = (page: Page) => page.getByRole('group', { name: 'Nearest rows' });
const barText = async (page: Page, text: string): Promise<void> => bar(page).filter({ hasText: text }).waitFor();
const box = (page: Page) => page.getByRole('dialog', { name: 'Find Nearest Rows' });
const head = (page: Page, name: string) => page.getByRole('columnheader').filter({ hasText: name }).first();
const select = (page: Page, name: string) => bar(page).getByRole('combobox', { name });
const numbers = (count: number, value = 0.5): string => Array.from({ length: count }, () => value).join(', ');

/** Presses a key until an entry of the open menu has the focus. */
async function chooseByKeys(page: Page, name: string): Promise<void> {
  const item = page.getByRole('menuitem', { name, exact: true });
  await item.waitFor();
  for (let step = 0; step < 40; step++) {
    if (await item.evaluate((element) => element === document.activeElement)) break;
    await page.keyboard.press('ArrowDown');
  }
  await page.keyboard.press('Enter');
}

/** Presses keys, and then one that opens a menu at the active cell or header, which may not be drawn at once. */
async function openMenuByKeys(page: Page, keys: readonly string[], open: string, entry: string): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
  for (let attempt = 0; attempt < 10; attempt++) {
    await page.keyboard.press(open);
    const isOpen = await page
      .getByRole('menuitem', { name: entry, exact: true })
      .waitFor({ timeout: 1_000 })
      .then(() => true)
      .catch(() => false);
    if (isOpen) return;
  }
}

const toEmbedding = Array.from({ length: 7 }, () => 'ArrowRight');

/** Searches by the vector of row 3, with the keyboard. */
async function searchByCell(page: Page): Promise<void> {
  await openMenuByKeys(page, ['ArrowDown', 'ArrowDown', ...toEmbedding], 'Shift+F10', 'Find Nearest Rows');
  await chooseByKeys(page, 'Find Nearest Rows');
  await barText(page, 'nearest to row 3 by embedding');
}

suite('Finding nearest rows in the table panel, in a browser', function () {
  this.timeout(60_000);
  const withPanel = openPanelPages({ table: tableOf(total, base), prepare: serveSearches });

  test('the menu of a cell searches by its vector, and the line changes the search, by keyboard alone', () =>
    withPanel(async (page, { views }) => {
      await searchByCell(page);
      const { nearest, where, orderBy } = views.at(-1)!;
      assert.deepEqual([where, orderBy, nearest?.column, nearest?.k], ['', [], 'embedding', 100]);
      assert.deepEqual(nearest?.from, { kind: 'row', row: 2, version: 3 });
      assert.equal(nearest?.vectors[0]?.length, 128);
      const exact = rowsOf(0, 3).getChild('embedding')!.get(2) as ArrayLike<number>;
      assert.deepEqual(nearest?.vectors[0], Array.from(exact));
      await page.locator('.lance-toolbar-count', { hasText: '100 of 5,000 rows' }).waitFor();
      await head(page, '_distance').and(page.locator('[aria-sort=ascending]')).waitFor();
      // The distances are the first column on the screen.
      assert.equal(await page.locator('.lance-head .lance-pinned .lance-name').first().innerText(), '_distance');
      await page.locator('.lance-row .lance-pinned', { hasText: '0.004' }).first().waitFor();
      await barText(page, '12 ms');
      await page.screenshot({ path: join(shots, 'found.png') });
      // The grid has the focus. The line is before it.
      for (let step = 0; step < 12; step++) {
        if (await select(page, 'Number of rows').evaluate((element) => element === document.activeElement)) break;
        await page.keyboard.press('Shift+Tab');
      }
      await page.keyboard.press('ArrowDown');
      await page.locator('.lance-toolbar-count', { hasText: '900 of 5,000 rows' }).waitFor();
      assert.equal(views.at(-1)?.nearest?.k, 1_000);
      await barText(page, '900 found; the index reads a part of the rows');
      assert.ok(
        await select(page, 'Number of rows').evaluate((element) => element === document.activeElement),
        'the choice keeps the focus',
      );
      await page.keyboard.press('Tab');
      await page.keyboard.press('ArrowUp');
      await barText(page, 'the index is for cosine');
      assert.deepEqual([views.at(-1)?.nearest?.distanceType, await select(page, 'Way').inputValue()], ['l2', 'exact']);
      await page.keyboard.press('Tab');
      await page.keyboard.press('ArrowDown');
      await page.waitForFunction(() => !document.body.textContent.includes('the index is for'));
      assert.deepEqual([views.at(-1)?.nearest?.distanceType, views.at(-1)?.nearest?.useIndex], ['cosine', undefined]);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await bar(page).waitFor({ state: 'hidden' });
      await page.locator('.lance-toolbar-count', { hasText: /^5,000 rows/ }).waitFor();
      assert.deepEqual(views.at(-1), { where: '', orderBy: [] });
      assert.equal(await page.locator('.lance-head .lance-pinned .lance-name').count(), 0);
      await page.keyboard.press('Control+z');
      await barText(page, 'nearest to row 3 by embedding');
      await page.keyboard.press('Control+y');
      await bar(page).waitFor({ state: 'hidden' });
    }));

  test('the search is there after the page was created again, and a filter is applied before it', () =>
    withPanel(async (page, { views }) => {
      await searchByCell(page);
      const line = page.getByRole('combobox', { name: 'Filter' });
      await line.fill('score > 1');
      await page.keyboard.press('Enter');
      // The line has its button while the filter is typed. The page keeps the view that it shows.
      await page.waitForFunction(() => sessionStorage.getItem('state')?.includes('score > 1'));
      await page.reload();
      await barText(page, 'nearest to row 3 by embedding');
      const { where, nearest } = views.at(-1)!;
      assert.deepEqual([where, nearest?.vectors[0]?.length, await line.inputValue()], ['score > 1', 128, 'score > 1']);
      await head(page, '_distance').click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Sort Descending' }).click();
      await head(page, '_distance').and(page.locator('[aria-sort=descending]')).waitFor();
      assert.deepEqual(views.at(-1)?.orderBy, [{ column: '_distance', descending: true }]);
      await page.locator('.lance-row .lance-pinned [role=gridcell]').first().click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Copy', exact: true }).waitFor();
      assert.equal(await page.getByRole('menuitem', { name: 'Only This Value' }).count(), 0);
      await page.keyboard.press('Escape');
      await bar(page).getByRole('button', { name: 'Leave the Search' }).click();
      await bar(page).waitFor({ state: 'hidden' });
      assert.deepEqual(views.at(-1), { where: 'score > 1', orderBy: [] });
    }));

  test('the box of a column takes a vector or a row, and keeps what is wrong with its reason', () =>
    withPanel(async (page, { views }) => {
      await openMenuByKeys(page, ['ArrowUp', ...toEmbedding], 'Enter', 'Find Nearest Rows…');
      await chooseByKeys(page, 'Find Nearest Rows…');
      await box(page).getByText('Vector of 128 numbers for "embedding", or a row number').waitFor();
      const input = box(page).getByRole('textbox');
      const problem = async (typed: string, reason: string): Promise<void> => {
        await input.fill(typed);
        await page.keyboard.press('Enter');
        await box(page).getByRole('alert').getByText(reason).waitFor();
        assert.equal(await input.inputValue(), typed);
      };
      await problem('', 'Expected a row number or 128 numbers, got nothing.');
      await problem('[1, 2, 3]', 'Expected 128 numbers, got 3.');
      await problem(`[${numbers(127)}, null]`, 'Expected numbers, got "null" at position 128.');
      await problem(`[${numbers(127)}, NaN]`, 'The vector has NaN at position 128');
      await problem('5001', 'Expected a row number from 1 to 5,000, got "5001".');
      await page.screenshot({ path: join(shots, 'box.png') });
      assert.equal(views.length, 0);
      await problem(
        `13 ${numbers(127).replaceAll(', ', '\n')}`,
        'The catalog server at http://a.example is not reachable.',
      );
      await input.fill(`array([${numbers(128)}], dtype=float32)`);
      await page.keyboard.press('Enter');
      await barText(page, 'nearest to a given vector by embedding');
      assert.deepEqual(views.at(-1)?.nearest?.vectors, [Array.from({ length: 128 }, () => 0.5)]);
      assert.deepEqual(views.at(-1)?.nearest?.from, { kind: 'pasted' });
      await openMenuByKeys(page, ['ArrowUp', ...toEmbedding, 'ArrowRight'], 'Enter', 'Find Nearest Rows…');
      await chooseByKeys(page, 'Find Nearest Rows…');
      assert.equal(await input.inputValue(), `array([${numbers(128)}], dtype=float32)`);
      await input.fill('2');
      await page.keyboard.press('Enter');
      await barText(page, 'nearest to the chosen row by embedding');
      assert.deepEqual(views.at(-1)?.nearest?.from, { kind: 'view' });
    }));

  test('a failed search says why, and leaves the rows', () =>
    withPanel(async (page, host) => {
      const { views } = host;
      host.view = () => {
        throw new Error('The vector is zero, and a zero vector has no cosine distance. Use l2 or dot.');
      };
      await openMenuByKeys(page, toEmbedding, 'Shift+F10', 'Find Nearest Rows');
      await chooseByKeys(page, 'Find Nearest Rows');
      await bar(page).getByRole('alert').getByText('a zero vector has no cosine distance').waitFor();
      await page.screenshot({ path: join(shots, 'failed.png') });
      await bar(page).getByRole('button', { name: 'Dismiss' }).click();
      await bar(page).waitFor({ state: 'hidden' });
      assert.equal(views.length, 0);
    }));

  for (const [theme, width] of [
    ['light', 1_100],
    ['dark', 1_100],
    ['highContrast', 1_100],
    ['light', 700],
  ] as const)
    test(`is drawn in the theme ${theme} at ${width} pixels`, () =>
      withPanel(
        async (page) => {
          await searchByCell(page);
          await page.locator('.lance-row .lance-pinned', { hasText: '0.004' }).first().waitFor();
          await select(page, 'Distance').selectOption('l2');
          await barText(page, 'the index is for cosine');
          await page.screenshot({ path: join(shots, `${theme}-${width}.png`) });
          assert.deepEqual(await seriousProblems(page), []);
          const close = await bar(page).getByRole('button').boundingBox();
          assert.ok(close!.x + close!.width <= width, 'nothing is cut');
          await openMenuByKeys(page, ['ArrowUp', ...toEmbedding, 'ArrowRight'], 'Enter', 'Find Nearest Rows…');
          await chooseByKeys(page, 'Find Nearest Rows…');
          await box(page).getByRole('textbox').fill('[1, 2');
          await page.keyboard.press('Enter');
          await box(page).getByRole('alert').waitFor();
          await page.screenshot({ path: join(shots, `${theme}-${width}-box.png`) });
          assert.deepEqual(await seriousProblems(page), []);
        },
        { theme, width },
      ));
});
