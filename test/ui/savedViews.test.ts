import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { seriousProblems } from './parts/accessibility.ts';
import { type PanelHostStandIn, tableOf } from './parts/panelHostStandIn.ts';
import { openPanelPages } from './parts/panelPages.ts';

const shots = join(import.meta.dirname, '../../test-results/savedViews');

const base: Partial<PanelTable> = { hasViews: true, key: 'base', selectsColumns: true };
const columns = { order: [], pinned: ['score'], hidden: ['name'], widths: [], rowHeight: 'small' };
const longName = 'Large orders of Berlin and Hamburg that were not paid';

function serveViews(host: PanelHostStandIn): void {
  host.view = (view) => {
    if (view.where.includes('wrong')) throw new Error('There is no column "wrong".');
    const isWhole = view.where === '' && view.orderBy.length === 0;
    return tableOf(isWhole ? 1_000 : 12, { ...base, key: JSON.stringify(view), view, totalRows: 1_000 });
  };
}

const button = (page: Page) => page.locator('.lance-view-button');
const head = (page: Page, name: string) => page.getByRole('columnheader').filter({ hasText: name });
const count = (page: Page, text: string) => page.locator('.lance-toolbar-count', { hasText: text }).waitFor();

suite('Saved views in the table panel, in a browser', function () {
  this.timeout(60_000);
  const withPanel = openPanelPages({ table: tableOf(1_000, base), prepare: serveViews });

  test('a view sets filter, order and columns, as a step that is undone', () =>
    withPanel(async (page, host) => {
      await host.applyView({ where: 'score > 1', orderBy: [{ column: 'score', descending: true }] }, columns);
      await count(page, '12 of 1,000 rows');
      assert.equal(await page.getByRole('combobox', { name: 'Filter' }).inputValue(), 'score > 1');
      await head(page, 'score').and(page.locator('[aria-sort=descending][aria-colindex="2"]')).waitFor();
      assert.equal(await head(page, 'name').count(), 0);
      await page.getByRole('button', { name: 'Undo Filter or Sort' }).click();
      await count(page, '1,000 rows');
      assert.equal(await head(page, 'name').count(), 0, 'undo leaves the columns');
      await host.applyView({ where: '', orderBy: [] }, { ...columns, hidden: [], pinned: [] });
      await head(page, 'name').waitFor();
    }));

  test('a view whose filter is wrong says so below the line', () =>
    withPanel(async (page, host) => {
      await host.applyView({ where: 'wrong = 1', orderBy: [] }, columns);
      await page.getByRole('alert').getByText('There is no column "wrong"').waitFor();
      assert.equal(await page.getByRole('combobox', { name: 'Filter' }).inputValue(), 'wrong = 1');
      await count(page, '1,000 rows');
    }));

  test('the button names the view, says that it was changed, and opens the list', () =>
    withPanel(async (page, host) => {
      assert.equal(await button(page).innerText(), 'Views');
      await host.savedView({ name: 'Best "scores"', isChanged: false });
      await page.getByRole('button', { name: 'View Best "scores"', exact: true }).click();
      assert.deepEqual(host.acted, ['chooseView']);
      await host.savedView({ name: 'Best "scores"', isChanged: true });
      await page.getByRole('button', { name: 'View Best "scores", changed since it was saved' }).waitFor();
      assert.deepEqual(
        await page.evaluate(() => JSON.parse(sessionStorage.getItem('state') ?? '{}').savedView),
        'Best "scores"',
      );
      await host.savedView({ name: null, isChanged: false });
      assert.equal(await button(page).innerText(), 'Views');
    }));

  test('rows that are not those of a table have no button', () =>
    withPanel(async (page, host) => {
      await host.show(tableOf(5, { key: 'result' }));
      await count(page, '5 rows');
      assert.equal(await button(page).isVisible(), false);
    }));

  for (const [theme, width] of [
    ['light', 1_100],
    ['highContrast', 1_100],
    ['dark', 700],
    ['dark', 400],
  ] as const)
    test(`the button fits in the theme ${theme} at ${width} pixels`, () =>
      withPanel(
        async (page, host) => {
          await page.screenshot({ path: join(shots, `${theme}-${width}-none.png`) });
          await host.savedView({ name: longName, isChanged: true });
          await button(page).getByText(longName).waitFor();
          await page.screenshot({ path: join(shots, `${theme}-${width}-changed.png`) });
          assert.deepEqual(await seriousProblems(page), []);
          const [view, version] = await Promise.all([
            button(page).boundingBox(),
            page.getByRole('button', { name: /^Version/ }).boundingBox(),
          ]);
          assert.ok(view!.x + view!.width <= version!.x && version!.x + version!.width <= width, 'nothing is cut');
          const line = await page.locator('.lance-filter').boundingBox();
          assert.ok(line!.width >= 100, `the line has ${line!.width} pixels`);
        },
        { theme, width },
      ));
});
