import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { tableOf } from './parts/panelHostStandIn.ts';
import { openPanelPages } from './parts/panelPages.ts';

const toolbarOf = (page: Page) => page.getByRole('group', { name: 'Table tools' });

suite('The toolbar of the table panel, in a browser', function () {
  this.timeout(60_000);
  const withPanel = openPanelPages({ table: tableOf(1_234), width: 1_000 });

  test('is above the rows of a catalog table, with their number, and where the skeleton has its place', () =>
    withPanel(async (page) => {
      await toolbarOf(page).getByText('1,234 rows', { exact: true }).waitFor();
      const [toolbar, grid] = [await toolbarOf(page).boundingBox(), await page.getByRole('grid').boundingBox()];
      assert.deepEqual([toolbar!.y, toolbar!.height, grid!.y], [0, 34, 34]);
      const second = await page.locator('.skeleton i:nth-child(2)').evaluate((line) => {
        line.parentElement!.style.display = 'block';
        return line.getBoundingClientRect().top;
      });
      assert.equal(second, 34);
    }));

  test('stays on the page with the focus when another table is shown, and is not there for rows of no catalog', () =>
    withPanel(
      async (page, host) => {
        await toolbarOf(page).getByText('5 rows', { exact: true }).waitFor();
        await toolbarOf(page).evaluate((element) => {
          element.tabIndex = 0;
          element.focus();
        });
        await host.show(tableOf(1, { key: 'other' }));
        await toolbarOf(page).getByText('1 row', { exact: true }).waitFor();
        assert.ok(await toolbarOf(page).evaluate((element) => document.activeElement === element));
        await host.show(tableOf(3, { key: 'result', version: null }));
        await page.locator('.lance-footer', { hasText: '3 rows' }).waitFor();
        assert.equal(await toolbarOf(page).count(), 0);
      },
      { table: tableOf(5) },
    ));
});
