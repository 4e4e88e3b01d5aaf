import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { tableToIPC, tableFromArrays } from '#arrow';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { launchChromium } from '../harness/browser.ts';
import { detailColumn, detailSchema, detailStream } from './parts/detailRows.ts';
import type { Served } from './parts/pages.ts';
import { inPanelPage, PanelHostStandIn, servePanel, tableOf } from './parts/panelHostStandIn.ts';
import type { ThemeName } from './parts/themes.ts';

const shots = join(import.meta.dirname, '../../test-results/gridDetail');

type Options = {
  table?: Partial<PanelTable>;
  theme?: ThemeName;
  width?: number;
  prepare?: (host: PanelHostStandIn) => void;
};

const cell = (page: Page, row: number, column: number) =>
  page.locator(`[role=row][aria-rowindex="${row + 2}"] [role=gridcell][aria-colindex="${column + 2}"]`);
const body = (page: Page) => page.locator('.lance-detail-body');
const facts = (page: Page) => page.locator('.lance-detail-facts');
const status = (page: Page) => page.locator('.lance-detail-status');
const button = (page: Page, name: string) => page.locator('.lance-pane').getByRole('button', { name, exact: true });

/** Moves the active cell with the keyboard, as a user does. */
async function moveTo(page: Page, row: number, column: number): Promise<void> {
  await page.locator('[role=grid]').focus();
  await page.keyboard.press('Control+Home');
  for (let at = 0; at < column; at++) await page.keyboard.press('ArrowRight');
  for (let at = 0; at < row; at++) await page.keyboard.press('ArrowDown');
  await cell(page, row, column).and(page.locator('.lance-active')).waitFor();
}

/** Opens the pane on a cell. */
async function openOn(page: Page, name: string, row = 0): Promise<void> {
  await moveTo(page, row, detailColumn(name));
  await page.keyboard.press('Enter');
  await page.locator('.lance-detail-body > *').first().waitFor();
}

const clipboard = (page: Page): Promise<string> => page.evaluate(() => navigator.clipboard.readText());

/** Waits for a sentence below the rows. */
const told = (page: Page, text: string | RegExp) => page.locator('.lance-footer').getByText(text).waitFor();

const savedBytes = ({ saved }: PanelHostStandIn): Buffer => Buffer.concat(saved?.parts ?? []);

suite('The detail pane of the grid, in a browser', function () {
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
    { table, theme = 'dark', width = 1300, prepare }: Options,
    run: (page: Page, host: PanelHostStandIn) => Promise<void>,
  ): Promise<void> {
    await inPanelPage(browser, { width, height: 700 }, async (page) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      const columns = columnsOf(detailSchema);
      const host = new PanelHostStandIn(page, tableOf(1000, { columns, selectsColumns: true, ...table }));
      host.rows = detailStream;
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

  test('opens by Enter beside the rows, follows the arrow keys, and closes by Escape on the same cell', () =>
    withPanel({}, async (page) => {
      const loaded: string[] = [];
      page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
      await openOn(page, 'id');
      assert.deepEqual(loaded, ['/gridDetail.js']);
      await body(page).getByText('9007199254740993').waitFor();
      await page.keyboard.press('ArrowDown');
      await body(page).getByText('9007199254740994').waitFor();
      await page.locator('.lance-detail-row').getByText('Row 2').waitFor();
      const [rows, pane] = [
        await page.locator('[role=grid]').boundingBox(),
        await page.locator('.lance-pane').boundingBox(),
      ];
      assert.ok(pane!.x >= rows!.x + rows!.width, 'the pane is beside the rows');
      // The second Enter moves the focus into the pane.
      await page.keyboard.press('Enter');
      assert.equal(await page.evaluate(() => document.activeElement?.closest('.lance-pane') !== null), true);
      await page.keyboard.press('Alt+ArrowDown');
      await body(page).getByText('9007199254740995').waitFor();
      await page.keyboard.press('Escape');
      await page.locator('.lance-pane').waitFor({ state: 'detached' });
      assert.equal(await page.evaluate(() => document.activeElement?.role), 'grid');
      await cell(page, 2, 0).and(page.locator('.lance-active')).waitFor();
    }));

  test('is below the rows of a narrow panel, and keeps its size and place when the page is created again', () =>
    withPanel({ width: 500 }, async (page) => {
      await openOn(page, 'id');
      const [rows, pane] = [
        await page.locator('[role=grid]').boundingBox(),
        await page.locator('.lance-pane').boundingBox(),
      ];
      assert.ok(pane!.y >= rows!.y + rows!.height, 'the pane is below the rows');
      await page.locator('.lance-splitter').focus();
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('ArrowUp');
      const size = await page.locator('.lance-splitter').getAttribute('aria-valuenow');
      assert.equal(size, '52');
      await page.waitForFunction(() => (sessionStorage.getItem('state') ?? '').includes('"share":0.52'));
      await page.reload();
      await body(page).getByText('9007199254740993').waitFor();
      assert.equal(await page.locator('.lance-splitter').getAttribute('aria-valuenow'), size);
    }));

  test('F6 and Tab reach the value, and Shift+F6 the rows', () =>
    withPanel({}, async (page) => {
      await openOn(page, 'order');
      await page.locator('[role=tree]').waitFor();
      await page.keyboard.press('F6');
      assert.equal(await page.evaluate(() => document.activeElement?.role), 'treeitem');
      await page.keyboard.press('Shift+F6');
      assert.equal(await page.evaluate(() => document.activeElement?.role), 'grid');
      const names: (string | null | undefined)[] = [];
      for (let at = 0; at < 6; at++) {
        await page.keyboard.press('Tab');
        names.push(await page.evaluate(() => document.activeElement?.ariaLabel ?? document.activeElement?.textContent));
      }
      assert.deepEqual(names, ['Size of the value', 'Previous Row', 'Next Row', 'Copy', 'Save As…', 'Close']);
    }));

  test('reads the value of a row that is not loaded, one row of one column, and says why if it can not', () =>
    withPanel(
      {
        table: { numRows: 100_000_000 },
        prepare: (host) => (host.failing = (start) => (start === 49_999_999 ? 'The disk is gone.' : undefined)),
      },
      async (page, host) => {
        await openOn(page, 'embedding');
        host.asked.length = 0;
        await page.keyboard.press('Control+g');
        await page.keyboard.type('50,000,000');
        await page.keyboard.press('Enter');
        await body(page).getByText("Can't read the value: The disk is gone.").waitFor();
        assert.ok(
          host.asked.some(({ start, end, columns }) => end - start === 1 && columns?.[0] === detailColumn('embedding')),
        );
        host.failing = () => undefined;
        await body(page).getByRole('button', { name: 'Try Again' }).click();
        await facts(page).getByText('384 dimensions').waitFor();
      },
    ));

  test('content is data: markup, escapes and marks of direction are shown', () =>
    withPanel({}, async (page) => {
      await openOn(page, 'note');
      await body(page).getByText('<img src=x').waitFor();
      assert.equal(await body(page).locator('img, script').count(), 0);
      assert.deepEqual(
        await page
          .locator('.lance-hidden-char')
          .evaluateAll((marks) => marks.map((mark) => mark.getAttribute('data-code'))),
        ['U+001B', 'U+202E'],
      );
      assert.equal(await page.evaluate(() => 'hacked' in window), false);
      await moveTo(page, 3, detailColumn('note'));
      await body(page).getByText('Empty text').waitFor();
      await moveTo(page, 1, detailColumn('note'));
      await body(page).getByText('null').waitFor();
      assert.ok(await button(page, 'Copy').isDisabled());
    }));

  test('JSON is a tree with exact numbers, by keyboard, and also text', () =>
    withPanel({}, async (page) => {
      await openOn(page, 'json');
      await page.locator('[role=tree]').waitFor();
      await page.keyboard.press('Enter');
      await page.keyboard.press('ArrowDown');
      await body(page).getByText('12345678901234567890').waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowRight');
      await body(page).getByText('2.50', { exact: true }).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowLeft');
      assert.match((await page.evaluate(() => document.activeElement?.textContent)) ?? '', /^list /);
      await page.keyboard.press('ArrowLeft');
      await body(page).getByText('2.50', { exact: true }).waitFor({ state: 'detached' });
      await body(page).getByText('__proto__').waitFor();
      await page.screenshot({ path: join(shots, 'json.png') });
      await button(page, 'Text').click();
      await body(page).getByText('"__proto__": {"x": 1}').waitFor();
      await moveTo(page, 1, detailColumn('json'));
      await body(page).getByText('"row": 1,').waitFor();
    }));

  test('nested values are a tree, a long list in parts', () =>
    withPanel({}, async (page) => {
      await openOn(page, 'order');
      await page.locator('[role=treeitem]', { hasText: 'order_id 9007199254740993' }).waitFor();
      await page.locator('.lance-tree-line', { hasText: 'customer' }).click();
      await page.locator('[role=treeitem][aria-level="2"]', { hasText: 'Customer 0' }).waitFor();
      await moveTo(page, 0, detailColumn('many'));
      await facts(page).getByText('1,000 items').waitFor();
      // The last item shows more of them.
      assert.equal(await page.locator('[role=treeitem]').count(), 201);
      await page.getByRole('treeitem', { name: 'Show 200 More of 800' }).click();
      await page.locator('[role=treeitem]', { hasText: '399 159201' }).waitFor();
      await moveTo(page, 1, detailColumn('attributes'));
      await page.locator('[role=treeitem]', { hasText: 'b 2' }).waitFor();
    }));

  test('a vector has a line, its values, dimension and norm', () =>
    withPanel({}, async (page) => {
      await openOn(page, 'embedding');
      await facts(page)
        .getByText(/384 dimensions · norm 9\.909 · -0\.999 to 0\.9771/)
        .waitFor();
      assert.ok(((await page.locator('.lance-plot-line').getAttribute('d')) ?? '').length > 1000);
      await page.locator('.lance-lines').getByText('0.10976244').waitFor();
      await moveTo(page, 2, detailColumn('embedding'));
      await facts(page).getByText('384 dimensions · zero vector').waitFor();
      await moveTo(page, 0, detailColumn('codes'));
      await facts(page).getByText('16 dimensions').waitFor();
    }));

  test('an image has its size and zooms, a damaged one says so, and bytes are hexadecimal', () =>
    withPanel({}, async (page) => {
      await openOn(page, 'picture');
      await facts(page)
        .getByText(/^image\/png · 320 × 200 px · /)
        .waitFor();
      const image = page.locator('.lance-image-area img');
      const width = async () => (await image.boundingBox())!.width;
      assert.equal(await width(), 320);
      await button(page, 'Zoom In').click();
      assert.equal(await width(), 640);
      await button(page, 'Fit').click();
      assert.equal(await width(), 320);
      await button(page, 'Hex').click();
      await page.locator('.lance-lines').getByText('00000000  89 50 4e 47').waitFor();
      await button(page, 'Image').click();
      await moveTo(page, 1, detailColumn('picture'));
      await body(page).getByText('The image is damaged').waitFor();
      await moveTo(page, 0, detailColumn('bytes'));
      await facts(page).getByText('3,000 bytes').waitFor();
      await page.locator('.lance-lines').getByText('00000000  00 07 0e 15').waitFor();
    }));

  test('Copy gives the whole value with exact numbers', () =>
    withPanel({}, async (page) => {
      await openOn(page, 'order');
      await button(page, 'Copy').click();
      await status(page).getByText('Copied').waitFor();
      assert.match(
        await clipboard(page),
        /"order_id": 9007199254740993,\n {2}"customer": \{\n {4}"name": "Customer 0"/,
      );
      await moveTo(page, 0, detailColumn('picture'));
      await facts(page).getByText('320 × 200').waitFor();
      await button(page, 'Copy').click();
      await status(page).getByText('Copied the image.').waitFor();
      await moveTo(page, 0, detailColumn('bytes'));
      await facts(page).getByText('3,000 bytes').waitFor();
      await button(page, 'Copy').click();
      await status(page).getByText('Copied').waitFor();
      assert.match(await clipboard(page), /^0x00070e15/);
    }));

  test('Save As… sends the exact bytes, and says what became of them', () =>
    withPanel({}, async (page, host) => {
      await openOn(page, 'picture');
      await facts(page).getByText('320 × 200').waitFor();
      await button(page, 'Save As…').click();
      await status(page).getByText('Saved "chosen".').waitFor();
      assert.deepEqual([host.saved?.name, host.saved?.isComplete], ['picture-1.png', true]);
      assert.equal(savedBytes(host).subarray(1, 4).toString(), 'PNG');
      await moveTo(page, 1, detailColumn('order'));
      await page.locator('[role=tree]').waitFor();
      await button(page, 'Save As…').click();
      await status(page).getByText('Saved "chosen".').waitFor();
      assert.equal(host.saved?.name, 'order-2.json');
      assert.equal((JSON.parse(savedBytes(host).toString()) as { total: unknown }).total, 'NaN');
      host.savesAs = undefined;
      await button(page, 'Save As…').click();
      await status(page).getByText('Saved').waitFor({ state: 'detached' });
    }));

  test('a text of 12 MB is shown, copied and saved while the page can be used', () => {
    const text = `start\n${'0123456789abcdef '.repeat(700_000)}\nend`;
    const big = tableToIPC(tableFromArrays({ text: [text] }), 'stream');
    const table = { columns: [{ name: 'text', type: 'utf8', nullable: true }], numRows: 1 };
    return withPanel({ table, prepare: (host) => (host.rows = () => big) }, async (page, host) => {
      await moveTo(page, 0, 0);
      await page.keyboard.press('Enter');
      await body(page).getByText('The first 100 KB of 12 MB').waitFor();
      // The longest time in which the page drew nothing.
      await page.evaluate(() => {
        const pauses = { longest: 0 };
        let last = performance.now();
        const tick = (now: number): void => {
          pauses.longest = Math.max(pauses.longest, now - last);
          last = now;
          requestAnimationFrame(tick);
        };
        requestAnimationFrame(tick);
        Object.assign(window, { pauses });
      });
      await button(page, 'Show All').click();
      await page.locator('.lance-text-view').evaluate(async (view) => {
        while (!(view.lastElementChild?.textContent ?? '').endsWith('end')) await new Promise(requestAnimationFrame);
        view.scrollTop = view.scrollHeight;
      });
      await page.locator('.lance-text-block').last().getByText('end').waitFor();
      const longest = await page.evaluate(() => (window as unknown as { pauses: { longest: number } }).pauses.longest);
      assert.ok(longest < 2000, `the page stood still for ${longest} ms`);
      await button(page, 'Copy').click();
      await status(page).getByText('Copy more than 10 MB?').waitFor();
      await status(page).getByRole('button', { name: 'Cancel' }).click();
      await status(page).getByText('Copy more').waitFor({ state: 'detached' });
      host.writeMs = 20;
      await button(page, 'Save As…').click();
      await status(page)
        .getByText(/^Saving .* of 12 MB…$/)
        .waitFor();
      await status(page).getByRole('button', { name: 'Cancel' }).click();
      await status(page).getByText('Canceled. No file was written.').waitFor();
      assert.equal(host.saved?.isComplete, false);
    });
  });

  test('a wrong row number is said in one sentence, and the host can open the box', () =>
    withPanel({}, async (page, host) => {
      await host.goToRow();
      const box = page.locator('.lance-go');
      for (const [typed, got] of [
        ['abc', '"abc"'],
        ['0', '"0"'],
        ['1001', '"1001"'],
        ['', 'nothing'],
        ['1.5', '"1.5"'],
      ] as const) {
        await box.locator('input').fill(typed);
        await page.keyboard.press('Enter');
        await box.getByText(`Expected a row number from 1 to 1,000, got ${got}.`, { exact: true }).waitFor();
      }
      await box.locator('input').fill('1,000');
      await page.keyboard.press('Enter');
      await cell(page, 999, 0).and(page.locator('.lance-active')).waitFor();
      await page.keyboard.press('Control+g');
      await page.keyboard.press('Escape');
      await box.waitFor({ state: 'detached' });
      assert.equal(await page.evaluate(() => document.activeElement?.role), 'grid');
    }));

  test('a column whose rows are not loaded is read and copied, with exact values', () =>
    withPanel({ table: { numRows: 5000 } }, async (page, host) => {
      await page.locator('.lance-name', { hasText: 'id' }).click();
      await page.getByText('5,000 × 1 selected').waitFor();
      await page.keyboard.press('Control+c');
      await told(page, /^Copied 5,000 rows/);
      const lines = (await clipboard(page)).split('\n');
      assert.equal(lines.length, 5000);
      assert.deepEqual([lines[0], lines[4999]], ['9007199254740993', '9007199254745992']);
      assert.ok(host.asked.filter(({ start }) => start > 1000).every(({ columns }) => columns?.length === 1));
    }));

  test('copying unloaded rows asks before 10 MB, can be canceled, and says why it failed', () =>
    withPanel({ table: { numRows: 2_000_000 } }, async (page, host) => {
      await page.locator('.lance-name', { hasText: 'id' }).click();
      await page.getByText('2,000,000 × 1 selected').waitFor();
      await page.keyboard.press('Control+c');
      await told(page, 'Copy about 34 MB?');
      await page.locator('.lance-footer').getByRole('button', { name: 'Copy', exact: true }).click();
      await told(page, /^Copying [\d,]+ of 2,000,000 rows…$/);
      await page.locator('.lance-footer').getByRole('button', { name: 'Cancel' }).click();
      await page.locator('.lance-footer').getByText('Copying').waitFor({ state: 'detached' });
      host.failing = () => 'The disk is gone.';
      await page.locator('[role=grid]').focus();
      await page.keyboard.press('Control+c');
      await told(page, "Can't copy the cells: The disk is gone.");
    }));

  for (const theme of ['light', 'highContrast'] as const) {
    test(`is drawn in the colors of the ${theme} theme`, () =>
      withPanel({ theme }, async (page) => {
        await openOn(page, 'embedding');
        await facts(page).getByText('384 dimensions').waitFor();
        await page.screenshot({ path: join(shots, `vector-${theme}.png`) });
      }));
  }
});
