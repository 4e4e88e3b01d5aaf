import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../harness/browser.ts';
import { inPanelPage, PanelHostStandIn, servePanel, tableOf } from './parts/panelHostStandIn.ts';
import type { Served } from './parts/pages.ts';
import type { ThemeName } from './parts/themes.ts';

const shots = join(import.meta.dirname, '../../test-results/toolbar');

const toolbarOf = (page: Page) => page.getByRole('group', { name: 'Table tools' });

suite('The toolbar of the table panel, in a browser', function () {
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

  async function withPanel(
    { host: create, theme = 'dark' }: { host: (page: Page) => PanelHostStandIn; theme?: ThemeName },
    run: (page: Page, host: PanelHostStandIn) => Promise<void>,
  ): Promise<void> {
    await inPanelPage(browser, { width: 1000, height: 500 }, async (page) => {
      const host = create(page);
      try {
        await host.open(server.url, theme);
        await run(page, host);
      } finally {
        host.close();
      }
    });
  }

  test('is above the rows of a catalog table, with their number, and where the skeleton has its place', () =>
    withPanel({ host: (page) => new PanelHostStandIn(page, tableOf(1_234)) }, async (page) => {
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
    withPanel({ host: (page) => new PanelHostStandIn(page, tableOf(5)) }, async (page, host) => {
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
    }));
});
