import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../harness/browser.ts';
import { firstId } from './parts/gridRows.ts';
import type { Served } from './parts/pages.ts';
import { PanelHostStandIn, inPanelPage, servePanel, tableOf } from './parts/panelHostStandIn.ts';
import { themes, type ThemeName } from './parts/themes.ts';

const shots = join(import.meta.dirname, '../../test-results/grid');

type PanelOptions = { numRows?: number; theme?: ThemeName; prepare?: (host: PanelHostStandIn) => void };

const cell = (page: Page, row: number, column: number) =>
  page.locator(`td[data-rownumber="${row}"][aria-colindex="${column + 2}"]`);
const toEnd = (page: Page) =>
  page.locator('[role=group][tabindex="0"]').evaluate((scroller) => (scroller.scrollTop = scroller.scrollHeight));

/** Returns what the focused cell copies to the clipboard. */
const copied = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const data = new DataTransfer();
    const event = new ClipboardEvent('copy', { clipboardData: data, bubbles: true, cancelable: true });
    document.activeElement?.dispatchEvent(event);
    return data.getData('text/plain');
  });

suite('The grid of the table panel, in a browser', function () {
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

  /** Opens a panel in a new page, runs the test on it, and closes it. */
  async function withPanel(
    { numRows = 1000, theme = 'dark', prepare }: PanelOptions,
    run: (page: Page, host: PanelHostStandIn) => Promise<void>,
  ): Promise<void> {
    await inPanelPage(browser, { width: 1400, height: 700 }, async (page) => {
      const host = new PanelHostStandIn(page, tableOf(numRows));
      prepare?.(host);
      try {
        await host.open(server.url, theme);
        await run(page, host);
      } finally {
        host.close();
      }
    });
  }

  for (const numRows of [1_000_000, 10_000_000]) {
    test(`reaches the last of ${numRows.toLocaleString('en-US')} rows, whole, by scrolling`, () =>
      withPanel({ numRows }, async (page) => {
        await cell(page, 0, 0).waitFor();
        await toEnd(page);
        const last = cell(page, numRows - 1, 0);
        await last.getByText(String(firstId + BigInt(numRows - 1))).waitFor();
        const [row, footer] = [await last.boundingBox(), await page.locator('.lance-footer').boundingBox()];
        assert.ok(row!.y + row!.height <= footer!.y + 1, 'the last row is above the line at the bottom');
      }));
  }

  test('the keyboard starts in the first cell and Ctrl+Down ends in the last row', () =>
    withPanel({ numRows: 1_000_000 }, async (page) => {
      await cell(page, 0, 0).and(page.locator(':focus')).waitFor();
      await page.keyboard.press('ArrowRight');
      await cell(page, 0, 1).and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Control+ArrowDown');
      await cell(page, 999_999, 1).and(page.locator(':focus')).waitFor();
    }));

  test('rows have the height that the component reckons with', () =>
    withPanel({}, async (page) => {
      await page.locator('.lance-image').first().waitFor();
      const heights = await page
        .locator('tbody tr')
        .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
      assert.deepEqual([...new Set(heights)], [33]);
    }));

  test('values are exact and drawn by their kind', () =>
    withPanel({}, async (page) => {
      await page.locator('.lance-image').first().waitFor();
      assert.equal(await cell(page, 1, 0).innerText(), '9007199254740994');
      assert.equal(await cell(page, 1, 2).innerText(), '-1999.99');
      assert.equal(await cell(page, 0, 6).innerText(), '2024-02-21 01:49:28.831982Z');
      assert.equal(await cell(page, 7, 1).locator('.lance-null').innerText(), 'null');
      assert.equal(await cell(page, 8, 1).locator('.lance-text').innerText(), 'null');
      assert.ok((await cell(page, 0, 7).locator('path').getAttribute('d'))!.length > 100);
      const image = cell(page, 0, 8).locator('.lance-image');
      assert.equal(await image.evaluate(async (img: HTMLImageElement) => (await img.decode(), img.naturalWidth)), 24);
    }));

  test('a picture opens in its size by a click or by Enter, and closes by Escape', () =>
    withPanel({}, async (page) => {
      await cell(page, 1, 8).locator('.lance-image').click();
      const large = cell(page, 1, 8).locator('.lance-large');
      await large.waitFor({ state: 'visible' });
      await page.screenshot({ path: join(shots, 'picture.png') });
      await page.keyboard.press('Escape');
      await large.waitFor({ state: 'hidden' });
      await cell(page, 1, 8).and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Enter');
      await large.waitFor({ state: 'visible' });
    }));

  test('pictures that left the screen let go of their memory', () =>
    withPanel({ numRows: 100_000 }, async (page) => {
      await page.evaluate(() => {
        const counts = { live: 0 };
        const make = URL.createObjectURL.bind(URL);
        const revoke = URL.revokeObjectURL.bind(URL);
        URL.createObjectURL = (blob) => (counts.live++, make(blob));
        URL.revokeObjectURL = (url) => (counts.live--, revoke(url));
        Object.assign(window, { counts });
      });
      await page.locator('.lance-image').first().waitFor();
      for (const share of [0.2, 0.4, 0.6, 0.8]) {
        await page
          .locator('[role=group][tabindex="0"]')
          .evaluate((el, at) => (el.scrollTop = el.scrollHeight * at), share);
        await page.waitForTimeout(200);
      }
      await page.locator('.lance-image').first().waitFor();
      const live = await page.evaluate(() => (window as unknown as { counts: { live: number } }).counts.live);
      assert.ok(live <= (await page.locator('.lance-image').count()), `${live} object URLs are alive`);
    }));

  test('dragging the scroll bar leaves no row empty, and calls off the pages that were passed', () =>
    withPanel({ numRows: 10_000_000 }, async (page, host) => {
      await cell(page, 0, 0).waitFor();
      await page.locator('[role=group][tabindex="0"]').evaluate(async (scroller) => {
        for (let i = 1; i <= 60; i++) {
          scroller.scrollTop = (scroller.scrollHeight * i) / 61;
          await new Promise(requestAnimationFrame);
        }
      });
      await page.waitForFunction(() => document.querySelectorAll('td[aria-busy=true]').length === 0);
      assert.ok(host.cancelled > 20, `${host.cancelled} of ${host.asked.length} pages were called off`);
    }));

  test('rows that could not be read say so, and come after another try', () =>
    withPanel({ prepare: (host) => (host.failing = () => 'The engine has stopped.') }, async (page, host) => {
      await page.getByText("Can't read rows 1–500: The engine has stopped.").waitFor();
      assert.equal(await cell(page, 3, 0).innerText(), 'not loaded');
      await page.screenshot({ path: join(shots, 'failed-page.png') });
      host.failing = () => undefined;
      await page.getByRole('button', { name: 'Try Again' }).click();
      await cell(page, 3, 0).getByText('9007199254740996').waitFor();
      await page.getByText('1,000 rows · 9 columns · version 3').waitFor();
    }));

  test('another table takes the place of the first, and an empty one says so', () =>
    withPanel({}, async (page, host) => {
      await cell(page, 0, 0).waitFor();
      await host.show(tableOf(0, { key: 'returns', version: null, note: 'From the running kernel' }));
      await page.getByText('No rows').waitFor();
      await page.getByText('0 rows · 9 columns', { exact: true }).waitFor();
      await page.getByText('From the running kernel').waitFor();
      assert.equal(await page.locator('thead th').count(), 9);
      await page.screenshot({ path: join(shots, 'empty.png') });
      await host.fail('shop/returns', 'The table "returns" has no readable manifest. Restore it from a backup.');
      await page.getByRole('alert').getByText('no readable manifest').waitFor();
      await page.screenshot({ path: join(shots, 'failed.png') });
    }));

  test('copying a cell gives its whole value', () =>
    withPanel({}, async (page) => {
      await page.locator('.lance-image').first().waitFor();
      await cell(page, 1, 7).click();
      assert.equal((await copied(page)).split(',').length, 128);
    }));

  test('copying a cell gives its own value where a column before it is hidden', () =>
    withPanel({}, async (page) => {
      await cell(page, 1, 1).getByText('Product number 1', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Column menu for id' }).click();
      await page.getByRole('menuitem', { name: 'Hide column' }).click();
      await cell(page, 1, 0).getByText('Product number 1', { exact: true }).click();
      assert.equal(await copied(page), 'Product number 1');
      await cell(page, 1, 1).click();
      assert.equal(await copied(page), '-1999.99');
      await page.getByRole('button', { name: 'Column menu for name' }).click();
      await page.getByRole('menuitem', { name: 'Show all columns' }).click();
      await cell(page, 1, 0).getByText('9007199254740994').click();
      assert.equal(await copied(page), '9007199254740994');
    }));

  for (const theme of Object.keys(themes) as ThemeName[]) {
    test(`is drawn in the colours of the ${theme} theme`, () =>
      withPanel({ numRows: 1_000_000, theme }, async (page) => {
        await page.locator('.lance-image').first().waitFor();
        const style = (selector: string, property: string) =>
          page
            .locator(selector)
            .first()
            .evaluate((el, name) => getComputedStyle(el).getPropertyValue(name), property);
        const colours = themes[theme];
        const background = rgb(colours['--vscode-editor-background']);
        assert.equal(await style('.lance-grid', 'background-color'), background);
        assert.equal(await style('thead th', 'background-color'), background);
        assert.equal(await style('tbody [role=rowheader]', 'background-color'), background);
        assert.equal(await style('tbody td .lance-text', 'color'), rgb(colours['--vscode-foreground']));
        if ('--vscode-contrastBorder' in colours)
          assert.equal(await style('tbody td', 'border-bottom-color'), rgb(colours['--vscode-contrastBorder']));
        await page.screenshot({ path: join(shots, `${theme}.png`) });
      }));
  }
});

const rgb = (hex: string): string =>
  `rgb(${[1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(', ')})`;
