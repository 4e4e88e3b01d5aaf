import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { PanelTable, PanelView } from '#shared/protocol/webviewMessages.ts';
import { seriousProblems } from './parts/accessibility.ts';
import { type PanelHostStandIn, tableOf } from './parts/panelHostStandIn.ts';
import { openPanelPages, showsCount } from './parts/panelPages.ts';

const shots = join(import.meta.dirname, '../../test-results/search');

const total = 1_000;
const base: Partial<PanelTable> = { hasViews: true, key: 'base', selectsColumns: true };

/** Serves views without filtering or searching their rows. */
function serveViews(host: PanelHostStandIn): void {
  host.view = (view) => {
    const { where, search } = view;
    if (search?.text === 'broken') throw new Error('The server does not support full-text queries. Filter the rows.');
    if (where === '' && !search) return tableOf(total, base);
    const isIndex = search?.isScan === false;
    const searched = search && { searched: { columns: isIndex ? ['name'] : ['name', 'caption'], isIndex } };
    const note = isIndex ? 'Full-text index on name: whole words' : '';
    const rows = search?.text === 'nothing' ? 0 : 12;
    return tableOf(rows, { ...base, key: JSON.stringify(view), view, totalRows: total, note, ...searched });
  };
}

const search = (page: Page) => page.getByRole('searchbox', { name: 'Search text' });

/** Returns the marked parts of cells. */
const marks = (page: Page): Promise<string[]> =>
  page.evaluate(() => Array.from(CSS.highlights.get('lance-search') ?? [], String));

suite('The search of the table panel, in a browser', function () {
  this.timeout(60_000);
  const withPanel = openPanelPages({ table: tableOf(total, base), prepare: serveViews });

  test('Ctrl+F searches beside the filter, says which index, and reads all text instead by choice', () =>
    withPanel(async (page, host) => {
      const { views } = host;
      await page.getByRole('combobox', { name: 'Filter' }).fill('id > 1');
      await page.keyboard.press('Enter');
      await showsCount(page, '12 of 1,000 rows');
      await page.keyboard.press('Control+f');
      await search(page).and(page.locator(':focus')).waitFor();
      await page.keyboard.type('red mug');
      await page.keyboard.press('Enter');
      await page.getByText('Full-text index on name: whole words').waitFor();
      assert.deepEqual(views.at(-1), { where: 'id > 1', orderBy: [], search: { text: 'red mug', isScan: false } });
      assert.deepEqual(await marks(page), [], 'no cell has these words');
      await search(page).fill('number 2');
      await page.keyboard.press('Enter');
      await page.waitForFunction(() => (CSS.highlights.get('lance-search')?.size ?? 0) > 0);
      assert.deepEqual(new Set(await marks(page)), new Set(['number', '2']), 'whole words');
      await page.screenshot({ path: join(shots, 'index.png') });
      await search(page).fill('red mug');
      await page.keyboard.press('Enter');
      await page.waitForFunction(() => (CSS.highlights.get('lance-search')?.size ?? 0) === 0);
      let counted: PanelView | undefined;
      host.columnValues = ({ view }) => {
        counted = view;
        return { values: [], isMore: true };
      };
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'All text: use the full-text index instead' }).waitFor();
      assert.deepEqual(views.at(-1)?.search, { text: 'red mug', isScan: true });
      await page.locator('[role=gridcell]').first().click();
      await page.keyboard.press('Alt+ArrowDown');
      await page.getByRole('tab', { name: 'Values' }).click();
      await page.getByText('More than 1,000 values').waitFor();
      assert.deepEqual(counted?.search, { text: 'red mug', isScan: true }, 'values are counted in the found rows');
      await page.keyboard.press('Escape');
      await page.locator('[role=grid]:focus').waitFor();
      await page.keyboard.press('Control+z');
      await page.getByText('Full-text index on name: whole words').waitFor();
      await page.reload();
      await page.getByText('Full-text index on name: whole words').waitFor();
      assert.equal(await search(page).inputValue(), 'red mug');
    }));

  test('no rows and a failure are said, and Escape and Clear Search give up', () =>
    withPanel(async (page, { views }) => {
      await page.keyboard.press('Control+f');
      await page.keyboard.type('nothing');
      await page.keyboard.press('Enter');
      await page.getByText('No rows match the search.').waitFor();
      await page.locator('.lance-empty').getByRole('button', { name: 'Clear Search' }).click();
      await showsCount(page, '1,000 rows');
      assert.equal(await search(page).inputValue(), '');
      assert.ok(!('search' in views.at(-1)!));
      await page.keyboard.press('Control+f');
      await page.keyboard.type('broken');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').getByText('does not support full-text queries').waitFor();
      await page.screenshot({ path: join(shots, 'failed.png') });
      assert.deepEqual(await seriousProblems(page), []);
      await page.keyboard.press('Escape');
      assert.equal(await search(page).inputValue(), '');
      await page.keyboard.press('Escape');
      await page.locator('[role=grid]:focus').waitFor();
    }));

  for (const [theme, width] of [
    ['light', 700],
    ['highContrast', 700],
    ['dark', 400],
  ] as const)
    test(`is drawn in the theme ${theme} at ${width} pixels`, () =>
      withPanel(
        async (page) => {
          await page.screenshot({ path: join(shots, `${theme}-${width}-before.png`) });
          await page.keyboard.press('Control+f');
          await page.keyboard.type('mug');
          await page.keyboard.press('Enter');
          await page.getByText('Full-text index on name: whole words').waitFor();
          await page.screenshot({ path: join(shots, `${theme}-${width}.png`) });
          assert.deepEqual(await seriousProblems(page), []);
          const box = await page.locator('.lance-toolbar-buttons').boundingBox();
          assert.ok(box!.x + box!.width <= width, 'nothing is cut');
        },
        { theme, width },
      ));
});
