import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { launchChromium } from '../harness/browser.ts';
import { colorOfRow, galleryStream, gallerySchema } from './parts/galleryRows.ts';
import type { Served } from './parts/pages.ts';
import { inPanelPage, PanelHostStandIn, servePanel, tableOf } from './parts/panelHostStandIn.ts';
import { themes, type ThemeName } from './parts/themes.ts';

const shots = join(import.meta.dirname, '../../test-results/gallery');

type Options = {
  numRows?: number;
  table?: Partial<PanelTable>;
  theme?: ThemeName;
  width?: number;
  prepare?: (host: PanelHostStandIn) => void;
};

const tile = (page: Page, row: number) => page.locator(`.lance-tile[aria-posinset="${row + 1}"]`);
const image = (page: Page, row: number) => tile(page, row).locator('canvas:not(.lance-decoding)');
const cell = (page: Page, row: number, column: number) =>
  page.locator(`[role=row][aria-rowindex="${row + 2}"] [role=gridcell][aria-colindex="${column + 2}"]`);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const list = (page: Page) => page.getByRole('listbox');

/** Returns the color in the middle of a tile's image. */
async function colorAt(page: Page, row: number): Promise<number[]> {
  await image(page, row).waitFor();
  return image(page, row).evaluate((canvas: HTMLCanvasElement) => {
    const { width, height } = canvas;
    return Array.from(
      canvas
        .getContext('2d')!
        .getImageData(width >> 1, height >> 1, 1, 1)
        .data.slice(0, 3),
    );
  });
}

const open = async (page: Page): Promise<void> => {
  await button(page, 'Gallery').click();
  await image(page, 0).waitFor();
};

suite('The gallery of the grid, in a browser', function () {
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
    { numRows = 1000, table, theme = 'dark', width = 1200, prepare }: Options,
    run: (page: Page, host: PanelHostStandIn) => Promise<void>,
  ): Promise<void> {
    await inPanelPage(browser, { width, height: 700 }, async (page) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      const columns = columnsOf(gallerySchema);
      const host = new PanelHostStandIn(page, tableOf(numRows, { columns, selectsColumns: true, ...table }));
      host.rows = galleryStream;
      prepare?.(host);
      try {
        await host.open(server.url, theme);
        await cell(page, 0, 0).waitFor();
        await run(page, host);
      } finally {
        host.close();
      }
    });
  }

  test('is loaded when it is opened, and shows the images with a guessed caption', () =>
    withPanel({}, async (page) => {
      const loaded: string[] = [];
      page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
      await open(page);
      assert.deepEqual(loaded, ['/gridGallery.js']);
      assert.deepEqual(await colorAt(page, 7), colorOfRow(7));
      assert.equal(await tile(page, 7).locator('.lance-tile-caption').innerText(), 'Photo 7');
      assert.equal(await tile(page, 7).getAttribute('aria-setsize'), '1000');
      assert.match((await tile(page, 7).getAttribute('aria-label'))!, /^Row 8: Photo 7, image\/png/);
      assert.equal(await page.getByLabel('Caption').locator('option:checked').innerText(), 'title');
    }));

  test('a table without images does not offer it', () =>
    withPanel({ table: { columns: columnsOf(gallerySchema).slice(0, 2) } }, async (page) => {
      await cell(page, 1, 1).getByText('Photo 1').waitFor();
      assert.equal(await page.locator('.lance-switch').isVisible(), false);
    }));

  test('an image that is null, damaged or not an image gets a quiet tile', () =>
    withPanel({}, async (page) => {
      await open(page);
      await tile(page, 3).getByText('No image').waitFor();
      assert.equal(await tile(page, 3).getAttribute('aria-label'), 'Row 4: No image, Photo 3');
      await tile(page, 4).getByText('damaged').waitFor();
      await tile(page, 5).getByText('0x').waitFor();
    }));

  test('arrow keys walk in lines, Enter opens the image, Escape returns', () =>
    withPanel({}, async (page) => {
      await open(page);
      const active = (row: number) => tile(page, row).and(page.locator('.lance-active')).waitFor();
      await active(0);
      await page.keyboard.press('ArrowRight');
      await active(1);
      const perLine = await page.locator('.lance-tile').evaluateAll((tiles) => {
        const tops = tiles.map((one) => Math.round(one.getBoundingClientRect().top));
        return tops.filter((top) => top === tops[0]).length;
      });
      assert.ok(perLine > 3);
      await page.keyboard.press('ArrowDown');
      await active(1 + perLine);
      assert.equal(
        await list(page).getAttribute('aria-activedescendant'),
        await tile(page, 1 + perLine).getAttribute('id'),
      );
      await page.keyboard.press('Enter');
      await page
        .locator('.lance-detail-row')
        .getByText(`Row ${perLine + 2}`)
        .waitFor();
      await page.locator('.lance-detail img, .lance-detail canvas').first().waitFor();
      await page.keyboard.press('ArrowRight');
      await page
        .locator('.lance-detail-row')
        .getByText(`Row ${perLine + 3}`)
        .waitFor();
      await page.keyboard.press('Escape');
      await page.locator('.lance-pane').waitFor({ state: 'detached' });
      await page.keyboard.press('Control+End');
      await active(999);
      assert.deepEqual(await colorAt(page, 999), colorOfRow(999));
      await page.keyboard.press('Control+Home');
      await active(0);
    }));

  test('the selection is that of the table, and the rows in the view stay there', () =>
    withPanel({}, async (page) => {
      await open(page);
      await tile(page, 2).click();
      await tile(page, 9).click({ modifiers: ['Shift'] });
      await page.locator('.lance-footer').getByText('8 rows selected').waitFor();
      await page.keyboard.press('Control+c');
      const text = await page.waitForFunction(() => navigator.clipboard.readText()).then((found) => found.jsonValue());
      assert.equal(text.split('\n').length, 8);
      assert.match(text, /^2\tPhoto 2\t/);
      await button(page, 'Table').click();
      await cell(page, 9, 0).and(page.locator('.lance-selected')).waitFor();
      await page.locator('.lance-footer').getByText('8 × 4 selected').waitFor();
      await cell(page, 6, 1).click();
      await page.keyboard.press('Control+ArrowDown');
      await cell(page, 999, 1).waitFor();
      await button(page, 'Gallery').click();
      await tile(page, 999).and(page.locator('.lance-active')).waitFor();
      assert.deepEqual(await colorAt(page, 999), colorOfRow(999));
    }));

  test('size, caption, place and selection come back when the page is created again', () =>
    withPanel({}, async (page) => {
      await open(page);
      await button(page, 'Small Images').click();
      await page.getByLabel('Caption').selectOption({ label: 'id' });
      await list(page).evaluate((scroller) => (scroller.scrollTop = 1500));
      await page.waitForFunction(
        () => Number(document.querySelector('.lance-tile')?.getAttribute('aria-posinset')) > 50,
      );
      const before = await page.locator('.lance-tile').first().getAttribute('aria-posinset');
      await page.waitForFunction(() => sessionStorage.getItem('state')?.includes('"size":"small"'));
      await page.waitForFunction(
        (top) =>
          (JSON.parse(sessionStorage.getItem('state')!) as { grid: { gallery: { top: number } } }).grid.gallery.top ===
          top,
        Number(before) - 1,
      );
      await page.reload();
      await page.locator('.lance-tile').first().waitFor();
      assert.equal(await page.locator('.lance-tile').first().getAttribute('aria-posinset'), before);
      assert.equal(await page.getByLabel('Caption').locator('option:checked').innerText(), 'id');
    }));

  test('only images in the view are read, and 10,000,000 rows end with the last one', () =>
    withPanel({ numRows: 10_000_000 }, async (page, host) => {
      await open(page);
      host.asked.length = 0;
      await list(page).evaluate((scroller) => (scroller.scrollTop = scroller.scrollHeight));
      assert.deepEqual(await colorAt(page, 9_999_999), colorOfRow(9_999_999));
      const images = host.asked.filter(({ columns }) => columns?.join() === '3');
      assert.ok(images.length > 0 && images.every(({ start }) => start > 9_990_000), JSON.stringify(images));
      // A step of the wheel moves by less than the height of the view.
      const first = Number(await page.locator('.lance-tile').first().getAttribute('aria-posinset'));
      await list(page).hover();
      await page.mouse.wheel(0, -120);
      await page.waitForFunction(
        (before) => Number(document.querySelector('.lance-tile')!.getAttribute('aria-posinset')) < before,
        first,
      );
      const next = Number(await page.locator('.lance-tile').first().getAttribute('aria-posinset'));
      assert.ok(first - next <= 24, `${first} → ${next}`);
    }));

  test('what is drawn is legible in every theme, also narrow', async () => {
    for (const theme of Object.keys(themes) as ThemeName[])
      for (const width of [1200, 420])
        await withPanel({ theme, width }, async (page) => {
          await open(page);
          await tile(page, 3).getByText('No image').waitFor();
          await tile(page, 1).click();
          await page.screenshot({ path: join(shots, `${theme}-${width}.png`) });
        });
  });
});
