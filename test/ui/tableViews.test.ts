import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { seriousProblems } from './parts/accessibility.ts';
import { type PanelHostStandIn, tableOf } from './parts/panelHostStandIn.ts';
import { openPanelPages, showsCount } from './parts/panelPages.ts';
import { themes } from './parts/themes.ts';

const shots = join(import.meta.dirname, '../../test-results/views');

const total = 1_000;
const base: Partial<PanelTable> = { hasViews: true, key: 'base', selectsColumns: true };

/** Serves views without sorting or filtering their rows. */
function serveViews(host: PanelHostStandIn): void {
  host.view = (view) => {
    if (view.where.includes('wrong'))
      throw new Error('Table "products" has no column "wrong". It has: id, name, price, score.');
    if (view.where === '' && view.orderBy.length === 0) return tableOf(total, base);
    const numRows = view.where === '' ? total : view.where.includes('nothing') ? 0 : 12;
    return tableOf(numRows, { ...base, key: JSON.stringify(view), view, totalRows: total, note: '' });
  };
}

const line = (page: Page) => page.getByRole('combobox', { name: 'Filter' });
const head = (page: Page, name: string) => page.getByRole('columnheader').filter({ hasText: name }).first();

suite('Sorting and filtering in the table panel, in a browser', function () {
  this.timeout(60_000);
  const withPanel = openPanelPages({ table: tableOf(total, base), prepare: serveViews });

  test('a click on the sort button sorts up, down and not, and Shift adds a column', () =>
    withPanel(async (page, { views }) => {
      const button = (name: string) => page.getByRole('button', { name: `Sort by ${name}` });
      await head(page, 'name').hover();
      await button('name').click();
      await head(page, 'name').and(page.locator('[aria-sort=ascending]')).waitFor();
      await button('name').click();
      await head(page, 'name').and(page.locator('[aria-sort=descending]')).waitFor();
      await head(page, 'score').hover();
      await button('score').click({ modifiers: ['Shift'] });
      await head(page, 'score').and(page.locator('[aria-sort=ascending]')).waitFor();
      assert.deepEqual([await button('name').innerText(), await button('score').innerText()], ['↓1', '↑2']);
      await page.screenshot({ path: join(shots, 'sorted.png') });
      assert.deepEqual(views.at(-1), {
        where: '',
        orderBy: [
          { column: 'name', descending: true },
          { column: 'score', descending: false },
        ],
      });
      await head(page, 'score').hover();
      await button('score').click();
      await head(page, 'name').and(page.locator(':not([aria-sort])')).waitFor();
      await head(page, 'score').and(page.locator('[aria-sort=descending]')).waitFor();
    }));

  test('a sort that fails is said below the rows, where it covers no header, and is tried again', () =>
    withPanel(async (page, host) => {
      const sort = host.view;
      host.view = () => {
        throw new Error('Can’t reach the server. Start it again.');
      };
      await head(page, 'name').hover();
      await page.getByRole('button', { name: 'Sort by name' }).click();
      const footer = page.locator('.lance-footer');
      await footer.getByText('Can’t reach the server. Start it again.').waitFor();
      await page.screenshot({ path: join(shots, 'sort-failed.png') });
      assert.equal(await page.locator('#lance-filter-problem').isVisible(), false);
      assert.equal(await page.locator('[aria-sort]').count(), 0);
      host.view = sort;
      await footer.getByRole('button', { name: 'Try Again' }).click();
      await head(page, 'name').and(page.locator('[aria-sort=ascending]')).waitFor();
      assert.equal(await footer.getByText('Can’t reach').count(), 0);
    }));

  test('the menu of a header sorts by keyboard, and says why a list has no order', () =>
    withPanel(async (page, { views }) => {
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Enter');
      await page.getByRole('menuitem', { name: 'Sort Descending' }).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await head(page, 'id').and(page.locator('[aria-sort=descending]')).waitFor();
      assert.deepEqual(views.at(-1)?.orderBy, [{ column: 'id', descending: true }]);
      await head(page, 'tags').click({ button: 'right' });
      await page.getByRole('menuitem', { name: "Can't Sort: lists have no order", disabled: true }).waitFor();
      await page.getByRole('menuitem', { name: 'Clear Sort' }).click();
      await head(page, 'id').and(page.locator(':not([aria-sort])')).waitFor();
      assert.equal(await page.getByRole('button', { name: 'Sort by tags' }).count(), 0);
    }));

  test('a filter is completed and run by keys, and a wrong one stays with its reason', () =>
    withPanel(async (page, { views }) => {
      await line(page).click();
      await page.keyboard.type('sco');
      await page.getByRole('option', { name: 'score double' }).waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.type(" > 1 and name = 'sta");
      assert.equal(await page.getByRole('option').count(), 0, 'no suggestion in a string');
      await page.keyboard.type("' and star");
      await page.getByRole('option', { name: /starts_with/ }).waitFor();
      await page.screenshot({ path: join(shots, 'suggestions.png') });
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      assert.equal(await line(page).inputValue(), '');
      await page.keyboard.type('score > 1');
      await page.keyboard.press('Enter');
      await showsCount(page, '12 of 1,000 rows');
      assert.equal(views.at(-1)?.where, 'score > 1');
      assert.ok(await line(page).evaluate((input) => document.activeElement === input));
      await line(page).fill('wrong = 1');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').getByText('has no column "wrong"').waitFor();
      await page.screenshot({ path: join(shots, 'wrong.png') });
      assert.equal(await line(page).inputValue(), 'wrong = 1');
      await showsCount(page, '12 of 1,000 rows');
      // The reason covers the headers, so it leaves with a click, and comes back with the focus.
      await page.locator('[role=gridcell]').first().click();
      assert.equal(await page.getByRole('alert').count(), 0);
      await line(page).focus();
      await page.getByRole('alert').getByText('has no column "wrong"').waitFor();
      await page.keyboard.press('Escape');
      assert.equal(await line(page).inputValue(), 'score > 1');
      assert.equal(await page.getByRole('alert').count(), 0);
    }));

  test('the line and the search keep the keys of a text field, and leave the others to the editor', () =>
    withPanel(async (page) => {
      await page.evaluate(() => {
        const keys: string[] = [];
        // The page of VS Code around this one takes keys in the same way.
        window.addEventListener('keydown', ({ key }) => keys.push(key));
        Object.assign(window, { keys });
      });
      for (const field of [line(page), page.getByRole('searchbox')]) {
        await field.click();
        for (const key of ['F1', 'Control+Shift+P', 'Control+b', 'Control+s']) await page.keyboard.press(key);
        for (const key of ['x', 'Control+a', 'Control+c', 'Control+v', 'Control+z', 'Control+ArrowLeft', 'Delete'])
          await page.keyboard.press(key);
      }
      const taken = await page.evaluate(() => Reflect.get(window, 'keys') as string[]);
      assert.deepEqual(
        taken.filter((key) => key !== 'Control' && key !== 'Shift'),
        ['F1', 'P', 'b', 's', 'F1', 'P', 'b', 's'],
      );
    }));

  test('no rows is said, and Clear Filter shows all again; steps are undone and redone', () =>
    withPanel(async (page, { views }) => {
      await line(page).fill('nothing');
      await page.keyboard.press('Enter');
      await page.getByText('No rows match the filter.').waitFor();
      await page.screenshot({ path: join(shots, 'none.png') });
      await page.locator('.lance-empty').getByRole('button', { name: 'Clear Filter' }).click();
      await showsCount(page, '1,000 rows');
      assert.equal(await line(page).inputValue(), '');
      await page.locator('[role=gridcell]').first().click();
      await page.keyboard.press('Control+z');
      await page.getByText('No rows match the filter.').waitFor();
      assert.equal(await line(page).inputValue(), 'nothing');
      await page.getByRole('button', { name: 'Undo Filter or Sort' }).click();
      await showsCount(page, '1,000 rows');
      await page.locator('[role=gridcell]').first().click();
      await page.keyboard.press('Control+y');
      await page.getByText('No rows match the filter.').waitFor();
      assert.deepEqual(
        views.map(({ where }) => where),
        ['nothing', '', 'nothing', '', 'nothing'],
      );
    }));

  test('the menu of a cell filters by its value, and the page has the filter after it was created again', () =>
    withPanel(async (page, host) => {
      const asked: unknown[] = [];
      host.filterByCell = (params) => {
        asked.push(params);
        return "`name` = 'Product number 2'";
      };
      const cell = page.locator('[aria-rowindex="4"] [role=gridcell][aria-colindex="3"]');
      await cell.click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Only This Value' }).click();
      await showsCount(page, '12 of 1,000 rows');
      assert.deepEqual(asked, [{ key: 'base', where: '', row: 2, column: 1, isOther: false }]);
      assert.equal(await line(page).inputValue(), "`name` = 'Product number 2'");
      await page.reload();
      await showsCount(page, '12 of 1,000 rows');
      assert.equal(await line(page).inputValue(), "`name` = 'Product number 2'");
    }));

  test('steps are undone and redone after the page was created again', () =>
    withPanel(async (page) => {
      for (const where of ['id > 1', 'id > 2']) {
        await line(page).fill(where);
        await page.keyboard.press('Enter');
        await showsCount(page, '12 of 1,000 rows');
      }
      const undo = page.getByRole('button', { name: 'Undo Filter or Sort' });
      await undo.click();
      await page.waitForFunction(
        () => document.querySelector<HTMLInputElement>('.lance-filter input')?.value === 'id > 1',
      );
      await page.reload();
      await showsCount(page, '12 of 1,000 rows');
      assert.equal(await line(page).inputValue(), 'id > 1');
      await undo.click();
      await showsCount(page, '1,000 rows');
      await page.reload();
      await showsCount(page, '1,000 rows');
      assert.equal(await undo.isEnabled(), false);
      for (const where of ['id > 1', 'id > 2']) {
        await page.getByRole('button', { name: 'Redo Filter or Sort' }).click();
        await page.waitForFunction(
          (wanted) => document.querySelector<HTMLInputElement>('.lance-filter input')?.value === wanted,
          where,
        );
      }
      assert.equal(await page.getByRole('button', { name: 'Redo Filter or Sort' }).isEnabled(), false);
    }));

  test('rows are added while they are found, and read again if they have moved', () =>
    withPanel(async (page, host) => {
      await line(page).fill('id > 3');
      await page.keyboard.press('Enter');
      await showsCount(page, '12 of 1,000 rows');
      const key = JSON.stringify({ where: 'id > 3', orderBy: [] });
      const before = host.asked.length;
      await host.grow({ key, numRows: 600, note: 'Finding rows… 600 so far', isGrowing: true });
      await showsCount(page, '600+ of 1,000 rows');
      await page.locator('.lance-footer').getByRole('button', { name: 'Cancel' }).waitFor();
      await host.grow({ key, numRows: 700, note: '', isGrowing: false, isMoved: true });
      await showsCount(page, '700 of 1,000 rows');
      await page.locator('[role=gridcell]:not([aria-busy])').first().waitFor();
      const again = host.asked.slice(before).filter(({ start }) => start === 0);
      assert.ok(again.length >= 2, `${again.length} requests of the first rows`);
    }));

  for (const [theme, width] of [
    ['light', 1_100],
    ['highContrast', 1_100],
    ['dark', 700],
  ] as const)
    test(`is drawn in the theme ${theme} at ${width} pixels`, () =>
      withPanel(
        async (page) => {
          assert.ok(theme in themes);
          await head(page, 'name').hover();
          await page.getByRole('button', { name: 'Sort by name' }).click();
          await head(page, 'name').and(page.locator('[aria-sort=ascending]')).waitFor();
          await line(page).fill('wrong = 1');
          await page.keyboard.press('Enter');
          await page.getByRole('alert').waitFor();
          await page.screenshot({ path: join(shots, `${theme}-${width}-wrong.png`) });
          await line(page).fill('n');
          await page.keyboard.type('a');
          await page.getByRole('option').first().waitFor();
          await page.keyboard.press('ArrowDown');
          await page.screenshot({ path: join(shots, `${theme}-${width}-list.png`) });
          assert.deepEqual(await seriousProblems(page), []);
          const [toolbar, buttons] = await Promise.all([
            page.locator('.lance-toolbar').boundingBox(),
            page.locator('.lance-toolbar-count').boundingBox(),
          ]);
          assert.ok(buttons!.x + buttons!.width <= toolbar!.width, 'nothing is cut');
        },
        { theme, width },
      ));
});
