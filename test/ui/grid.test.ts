import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { Field, Schema, Table, tableToIPC, TimestampMicrosecond, vectorFromArray } from '#arrow';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { launchChromium } from '../harness/browser.ts';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { encodePng } from '../../scripts/sample/pictures.ts';
import { melody } from '../../scripts/sample/recordings.ts';
import { blobRows, firstId, mediaRows, oddRows, png, wideSchema, wideStreamOf } from './parts/gridRows.ts';
import type { Served } from './parts/pages.ts';
import { PanelHostStandIn, inPanelPage, servePanel, tableOf } from './parts/panelHostStandIn.ts';
import { themes, type ThemeName } from './parts/themes.ts';

const shots = join(import.meta.dirname, '../../test-results/grid');

type PanelOptions = {
  numRows?: number;
  table?: Partial<PanelTable>;
  theme?: ThemeName;
  prepare?: (host: PanelHostStandIn) => void;
};

const cell = (page: Page, row: number, column: number) =>
  page.locator(`[role=row][aria-rowindex="${row + 2}"] [role=gridcell][aria-colindex="${column + 2}"]`);
const toEnd = (page: Page) =>
  page.locator('[role=grid]').evaluate((scroller) => (scroller.scrollTop = scroller.scrollHeight));

/** Returns what Ctrl+C copies to the clipboard. */
async function copied(page: Page): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate(() => navigator.clipboard.writeText(''));
  await page.keyboard.press('Control+c');
  await page.waitForTimeout(100);
  return page.evaluate(() => navigator.clipboard.readText());
}

const isScoreFirst = () => document.querySelector('.lance-header .lance-name')?.textContent === 'score';

/** Serves a long caption, an image of 640 × 480 pixels or damaged ones, and SVG in each row. */
function serveMedia(host: PanelHostStandIn): void {
  const image = encodePng({ width: 640, height: 480, rgba: new Uint8Array(640 * 480 * 4).fill(140) });
  const damaged = Buffer.concat([image.subarray(0, 9), Buffer.alloc(1000)]);
  const huge = Buffer.from(image.subarray(0, 1009));
  huge.writeUInt32BE(200_000, 16);
  huge.writeUInt32BE(200_000, 20);
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>\n');
  host.rows = (start, end) => {
    const rows = Array.from({ length: end - start }, (_, index) => start + index);
    const table = mediaRows(
      rows,
      rows.map((row) => ({ 1: damaged, 2: huge })[row] ?? image),
      svg,
    );
    return tableToIPC(table, 'stream');
  };
}

const mediaTable = { key: 'media', columns: columnsOf(mediaRows([], [], new Uint8Array()).schema) };

function serveWide(host: PanelHostStandIn): void {
  host.rows = (start, end, columns = []) => wideStreamOf(start, end, 400, columns);
}

/** Serves rows of all 400 columns, whichever are requested. */
function serveWhole(host: PanelHostStandIn): void {
  host.rows = (start, end) => wideStreamOf(start, end, 400);
}

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
    { numRows = 1000, table, theme = 'dark', prepare }: PanelOptions,
    run: (page: Page, host: PanelHostStandIn) => Promise<void>,
  ): Promise<void> {
    await inPanelPage(browser, { width: 1700, height: 700 }, async (page) => {
      const host = new PanelHostStandIn(page, tableOf(numRows, table));
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
      await cell(page, 0, 0).and(page.locator('.lance-active')).waitFor();
      await page.keyboard.press('ArrowRight');
      await cell(page, 0, 1).and(page.locator('.lance-active')).waitFor();
      await page.keyboard.press('Control+ArrowDown');
      await cell(page, 999_999, 1).and(page.locator('.lance-active')).waitFor();
    }));

  test('rows have the height that the component reckons with', () =>
    withPanel({}, async (page) => {
      await page.locator('.lance-image').first().waitFor();
      const heights = await page
        .locator('.lance-rows > [role=row]')
        .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
      assert.deepEqual([...new Set(heights)], [33]);
    }));

  test('timestamps are drawn again in the time zone that is chosen', () => {
    const schema = new Schema([new Field('at', new TimestampMicrosecond('Asia/Tokyo'), true)]);
    const at = (rows: number) => vectorFromArray(Array<number>(rows).fill(1_708_480_168_000), schema.fields[0]!.type);
    const table = { columns: columnsOf(schema) };
    const prepare = (host: PanelHostStandIn): void => {
      host.rows = (start, end) => tableToIPC(new Table(schema, { at: at(end - start) }), 'stream');
    };
    return withPanel({ numRows: 20, table, prepare }, async (page, host) => {
      await cell(page, 1, 0).getByText('2024-02-21 10:49:28+09:00').waitFor();
      await cell(page, 1, 0).click();
      await page.waitForFunction(() => sessionStorage.getItem('state')?.includes('"row":1'));
      await host.show(tableOf(20, { ...table, timeZone: 'utc' }));
      await cell(page, 1, 0).getByText('2024-02-21 01:49:28Z').waitFor();
      await cell(page, 1, 0).and(page.locator('.lance-active')).waitFor();
      assert.equal(await copied(page), '2024-02-21 01:49:28Z');
    });
  });

  test('values are exact and drawn by their kind', () =>
    withPanel({}, async (page) => {
      await page.locator('.lance-image').first().waitFor();
      assert.equal(await cell(page, 1, 0).innerText(), '9007199254740994');
      assert.equal(await cell(page, 1, 2).innerText(), '-1999.99');
      assert.equal(await cell(page, 0, 6).innerText(), '2024-02-21 01:49:28.831982Z');
      assert.equal(await cell(page, 7, 1).locator('.lance-null').innerText(), 'null');
      assert.equal(await cell(page, 8, 1).locator('.lance-text').innerText(), 'null');
      assert.ok((await cell(page, 0, 7).locator('path').getAttribute('d'))!.length > 100);
      const image = cell(page, 0, 8).locator('.lance-image:not(.lance-decoding)');
      assert.equal(await image.evaluate((canvas: HTMLCanvasElement) => canvas.width), 24);
    }));

  test('a picture opens in its size by a click, and closes by Escape', () =>
    withPanel({}, async (page) => {
      await cell(page, 1, 8).locator('.lance-image').click();
      const large = page.locator('.lance-large');
      await large.waitFor({ state: 'visible' });
      await page.screenshot({ path: join(shots, 'picture.png') });
      await page.keyboard.press('Escape');
      await large.waitFor({ state: 'hidden' });
      await cell(page, 1, 8).and(page.locator('.lance-active')).waitFor();
    }));

  test('pictures are decoded in the size of their thumbnails, a few at a time, and not those that left the screen', () =>
    withPanel({ numRows: 100_000 }, async (page) => {
      await page.evaluate(() => {
        const counts = { running: 0, most: 0, all: 0 };
        const decode = createImageBitmap.bind(window) as (...values: unknown[]) => Promise<ImageBitmap>;
        window.createImageBitmap = (...values: unknown[]) => {
          counts.all++;
          counts.most = Math.max(counts.most, ++counts.running);
          return decode(...values).finally(() => counts.running--);
        };
        Object.assign(window, { counts });
      });
      await page.locator('.lance-image:not(.lance-decoding)').first().waitFor();
      for (const share of [0.2, 0.4, 0.6, 0.8]) {
        await page.locator('[role=grid]').evaluate((el, at) => (el.scrollTop = el.scrollHeight * at), share);
        await page.waitForFunction(() => !document.querySelector('[aria-busy=true], .lance-decoding'));
      }
      const counts = await page.evaluate(() => (window as unknown as { counts: Record<string, number> }).counts);
      assert.ok(counts['most']! <= 4, `${counts['most']} at a time`);
      assert.ok(counts['all']! <= 4 * 30, `${counts['all']} images`);
    }));

  test('rows become higher by the menu, with larger pictures and wrapped text, and stay so', () =>
    withPanel({ numRows: 10_000, prepare: serveMedia, table: mediaTable }, async (page) => {
      await cell(page, 0, 2).locator('.lance-image:not(.lance-decoding)').waitFor();
      const heightOf = (selector: string) =>
        page
          .locator(selector)
          .first()
          .evaluate((element) => element.getBoundingClientRect().height);
      assert.equal(await heightOf('.lance-image'), 24);
      await cell(page, 0, 1).click({ button: 'right' });
      await page.getByRole('menuitemradio', { name: 'Large Rows' }).click();
      await page.waitForFunction(() => document.querySelector('.lance-row')!.getBoundingClientRect().height === 132);
      await cell(page, 0, 2).locator('.lance-image:not(.lance-decoding)').waitFor();
      assert.ok((await heightOf('.lance-image')) > 100);
      assert.equal(await heightOf('.lance-text'), 40);
      await page.screenshot({ path: join(shots, 'large-rows.png') });
      await page.keyboard.press('Control+End');
      await cell(page, 9_999, 0).waitFor();
      await page.waitForTimeout(400);
      await page.reload();
      await cell(page, 9_999, 0).waitFor();
      assert.equal(await heightOf('.lance-row'), 132);
      await cell(page, 9_999, 1).click({ button: 'right' });
      await page.getByRole('menuitemradio', { name: 'Large Rows', checked: true }).waitFor();
      await page.getByRole('menuitemradio', { name: 'Small Rows' }).click();
      await page.waitForFunction(() => document.querySelector('.lance-row')!.getBoundingClientRect().height === 33);
      await cell(page, 9_999, 0).waitFor();
    }));

  test('empty strings, spaces and characters that can not be seen have marks, and numbers keep their exponent', () => {
    const rows = oddRows();
    const table = { key: 'odd', columns: columnsOf(rows.schema) };
    const prepare = (host: PanelHostStandIn): void => {
      host.rows = () => tableToIPC(rows, 'stream');
    };
    return withPanel({ numRows: rows.numRows, table, prepare }, async (page) => {
      await cell(page, 0, 0).getByText('""').waitFor();
      const texts = await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map((row) => cell(page, row, 0).innerText()));
      assert.deepEqual(texts, [
        '""',
        '·a  b·',
        'evil⟨U+202E⟩txt.exe',
        'line 1↵line 2',
        '⟨U+001B⟩[31mred',
        'שלום עולם',
        '👩‍👩‍👧 family',
        '""',
      ]);
      assert.equal(await cell(page, 0, 0).locator('.lance-mark').count(), 1);
      assert.equal(await cell(page, 7, 0).locator('.lance-mark').count(), 0);
      assert.equal(await page.locator('.lance-name').last().innerText(), 'user⟨U+202E⟩name');
      assert.deepEqual(
        await Promise.all(
          [0, 1, 2].map((row) =>
            cell(page, row, 3).locator(':is(.lance-facts, .lance-vector-problem)').allInnerTexts(),
          ),
        ),
        [['16 · norm 2.81'], ['16', 'zero'], ['16', '2 NaN']],
      );
      assert.match(await cell(page, 0, 4).innerText(), /16 · norm \d+[^]*\[0, 7, 14, 21, …\]/);
      await page.screenshot({ path: join(shots, 'odd.png') });
      const resizer = await page
        .locator('.lance-header', { hasText: 'number' })
        .locator('.lance-resizer')
        .boundingBox();
      await page.mouse.move(resizer!.x + 3, resizer!.y + 10);
      await page.mouse.down();
      await page.mouse.move(resizer!.x - 117, resizer!.y + 10, { steps: 4 });
      await page.mouse.up();
      const exponent = cell(page, 0, 1).locator('span', { hasText: /^e-300$/ });
      await page.waitForFunction(() => document.querySelectorAll('.lance-header')[1]!.clientWidth < 110);
      const [inner, outer] = [await exponent.boundingBox(), await cell(page, 0, 1).boundingBox()];
      assert.ok(inner!.width > 30 && inner!.x + inner!.width <= outer!.x + outer!.width);
      await cell(page, 2, 0).click();
      assert.equal(await copied(page), 'evil\u202Etxt.exe');
      await page.screenshot({ path: join(shots, 'odd-narrow.png') });
    });
  });

  test('blobs have their type and size, and audio and video play when they are opened', () => {
    const wav = melody([0, 4, 7, 12]);
    const video = readFileSync(join(import.meta.dirname, '../../scripts/sample/clip.webm'));
    const broken = Buffer.concat([video.subarray(0, 200), Buffer.alloc(5_000)]);
    // One request for a blob has at most 4 MB.
    const large = Buffer.concat([png(3), Buffer.alloc(5_000_000)]);
    const blobs = [wav, video, broken, large, Buffer.from('plain words')];
    const table = {
      key: 'blobs',
      selectsColumns: true,
      readsBlobs: true,
      columns: [
        { name: 'media', type: 'struct<data: large_binary, uri: utf8>', nullable: true, blob: 'lance.blob.v2' },
      ],
    };
    const ranges: number[] = [];
    const prepare = (host: PanelHostStandIn): void => {
      host.rows = (start, end) => tableToIPC(blobRows(blobs.slice(start, end), 2_048), 'stream');
      host.blob = (row, start, end) => (ranges.push(row), new Uint8Array(blobs[row]!.subarray(start, end)));
    };
    return withPanel({ numRows: blobs.length, table, prepare }, async (page) => {
      await cell(page, 0, 0).getByText('WAV audio, 51 KB').waitFor();
      await cell(page, 4, 0).getByText('text, 11 bytes: plain words').waitFor();
      assert.equal(await page.locator('.lance-type').innerText(), 'blob');
      assert.deepEqual(ranges, [], 'no blob is loaded before it is opened');
      await cell(page, 0, 0).locator('.lance-openable').click();
      const audio = page.locator('.lance-media audio');
      await audio.waitFor();
      await page.locator('.lance-waveform').waitFor();
      await page.waitForFunction(() => document.querySelector('audio')!.duration > 1.5);
      assert.equal(await audio.evaluate((player: HTMLAudioElement) => player.paused), true);
      await page.screenshot({ path: join(shots, 'audio.png') });
      await page.keyboard.press('Escape');
      await audio.waitFor({ state: 'detached' });
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.waitForFunction(() => document.querySelector('video')?.videoWidth === 240);
      await page.screenshot({ path: join(shots, 'video.png') });
      await page.keyboard.press('Escape');
      await cell(page, 2, 0).locator('.lance-openable').click();
      await page.getByText("Can't play WebM video, 5.2 KB").waitFor();
      await page.keyboard.press('Escape');
      await cell(page, 3, 0).locator('.lance-openable').click();
      await page.waitForFunction(
        () => document.querySelector<HTMLImageElement>('.lance-media img')?.naturalWidth === 24,
      );
      assert.deepEqual(ranges, [0, 1, 2, 3, 3]);
    });
  });

  test('pictures that are damaged or SVG are text', () =>
    withPanel({ numRows: 10_000, prepare: serveMedia, table: mediaTable }, async (page) => {
      await cell(page, 1, 2).getByText('image/png, 1,009 bytes, damaged').waitFor();
      await cell(page, 0, 3).getByText('image/svg+xml, 72 bytes').waitFor();
      await cell(page, 2, 2).getByText('200,000 × 200,000 pixels, too large to draw').waitFor();
      assert.equal(await page.locator('[role=grid] :is(img, script)').count(), 0);
    }));

  test('dragging the scroll bar leaves no row empty, and calls off the pages that were passed', () =>
    withPanel({ numRows: 10_000_000 }, async (page, host) => {
      await cell(page, 0, 0).waitFor();
      await page.locator('[role=grid]').evaluate(async (scroller) => {
        for (let i = 1; i <= 60; i++) {
          scroller.scrollTop = (scroller.scrollHeight * i) / 61;
          await new Promise(requestAnimationFrame);
        }
      });
      await page.waitForFunction(() => document.querySelectorAll('[role=gridcell][aria-busy=true]').length === 0);
      assert.ok(host.cancelled > 20, `${host.cancelled} of ${host.asked.length} pages were called off`);
    }));

  test('rows that could not be read say so, and come after another try', () =>
    withPanel({ prepare: (host) => (host.failing = () => 'The engine has stopped.') }, async (page, host) => {
      await page.getByText("Can't read rows 1–500: The engine has stopped.").waitFor();
      await cell(page, 3, 0).getByText('not loaded').waitFor();
      await page.screenshot({ path: join(shots, 'failed-page.png') });
      host.failing = () => undefined;
      await page.getByRole('button', { name: 'Try Again' }).click();
      await cell(page, 3, 0).getByText('9007199254740996').waitFor();
      await page.getByText('9 columns', { exact: true }).waitFor();
    }));

  test('another table takes the place of the first, and an empty one says so', () =>
    withPanel({}, async (page, host) => {
      await cell(page, 0, 0).waitFor();
      await host.show(tableOf(0, { key: 'returns', version: null, note: 'From the running kernel' }));
      await page.getByText('No rows').waitFor();
      await page.getByText('0 rows · 9 columns', { exact: true }).waitFor();
      await page.getByText('From the running kernel').waitFor();
      assert.equal(await page.locator('.lance-header').count(), 9);
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
      await page.getByRole('button', { name: 'Menu of id' }).click();
      await page.getByRole('menuitem', { name: 'Hide Column' }).click();
      await cell(page, 1, 0).getByText('Product number 1', { exact: true }).click();
      assert.equal(await copied(page), 'Product number 1');
      await cell(page, 1, 1).click();
      assert.equal(await copied(page), '-1999.99');
      await page.getByRole('button', { name: 'Menu of name' }).click();
      await page.getByRole('menuitem', { name: 'Show Hidden Column' }).click();
      await cell(page, 1, 0).getByText('9007199254740994').click();
      assert.equal(await copied(page), '9007199254740994');
    }));

  for (const numColumns of [400, 2000]) {
    test(`draws only the columns in the view of ${numColumns}, and reaches the last one`, () => {
      const table = { columns: columnsOf(wideSchema(numColumns)), key: `wide-${numColumns}` };
      const prepare = (host: PanelHostStandIn): void => {
        host.rows = (start, end) => wideStreamOf(start, end, numColumns);
      };
      return withPanel({ table, prepare }, async (page) => {
        await cell(page, 2, 1).getByText('2.0001').waitFor();
        assert.ok((await page.locator('[role=gridcell]').count()) < 25 * 30);
        const grid = page.locator('[role=grid]');
        assert.equal(await grid.getAttribute('aria-colcount'), String(numColumns + 1));
        for (const share of [0.3, 0.7]) {
          await grid.evaluate((element, at) => (element.scrollLeft = element.scrollWidth * at), share);
          await page.waitForTimeout(50);
        }
        await page.keyboard.press('Control+End');
        const last = cell(page, 999, numColumns - 1);
        await last.getByText(String(999 + (numColumns - 1) / 10_000)).waitFor();
        const [box, view] = [await last.boundingBox(), await grid.boundingBox()];
        assert.ok(box!.x + box!.width <= view!.x + view!.width + 1, 'the last column is in sight');
        assert.ok((await page.locator('[role=gridcell]').count()) < 25 * 30);
        assert.equal(
          await page.locator('.lance-header').last().locator('.lance-name').innerText(),
          `f${numColumns - 1}`,
        );
      });
    });
  }

  test('a cell that assistive technology scrolls into the view does not move its row alone', () => {
    const table = { columns: columnsOf(wideSchema(400)), key: 'wide' };
    return withPanel({ table, prepare: serveWhole }, async (page) => {
      await cell(page, 2, 1).getByText('2.0001').waitFor();
      const moved = await page.locator('[role=row][aria-rowindex="4"]').evaluate((row) => {
        row.querySelector('[role=gridcell]:last-of-type')?.scrollIntoView({ inline: 'end' });
        return Array.from(row.querySelectorAll('*'), ({ scrollLeft }) => scrollLeft).filter((left) => left !== 0);
      });
      assert.deepEqual(moved, []);
    });
  });

  test('reads a few rows first, then the columns in the view, and pictures apart from the others', () =>
    withPanel({ numRows: 10_000, table: { selectsColumns: true } }, async (page, host) => {
      await page.locator('.lance-image').first().waitFor();
      const ofPictures = host.asked.filter(({ columns }) => columns?.includes(8));
      assert.deepEqual(ofPictures[0], { start: 0, end: 8, columns: [8] });
      assert.ok(ofPictures.every(({ columns }) => columns?.length === 1));
      const [first, second] = host.asked;
      assert.deepEqual(first, { start: 0, end: 8, columns: [0, 1, 2, 3, 4, 5, 6, 7] });
      assert.deepEqual(second, { start: 0, end: 500, columns: [0, 1, 2, 3, 4, 5, 6, 7] });
      await page.keyboard.press('Control+End');
      await cell(page, 9_999, 8).locator('.lance-image').waitFor();
      assert.equal(await cell(page, 9_999, 0).innerText(), String(firstId + 9_999n));
    }));

  test('of many columns, only those in the view are read', () => {
    const table = { columns: columnsOf(wideSchema(400)), key: 'wide', selectsColumns: true };
    return withPanel({ numRows: 100_000, table, prepare: serveWide }, async (page, host) => {
      await cell(page, 2, 1).getByText('2.0001').waitFor();
      await page.keyboard.press('End');
      await cell(page, 0, 399).getByText('0.0399').waitFor();
      const columns = new Set(host.asked.flatMap(({ columns: some }) => some ?? []));
      assert.ok(columns.has(0) && columns.has(399) && columns.size <= 96, `${columns.size} columns`);
    });
  });

  test('a tick of the wheel moves fewer than five of 100,000,000 rows, and the last one can be reached', () =>
    withPanel({ numRows: 100_000_000 }, async (page) => {
      await cell(page, 0, 0).waitFor();
      await page.locator('[role=grid]').evaluate((grid) => (grid.scrollTop = grid.scrollHeight / 2));
      const firstRow = () =>
        page
          .locator('.lance-rows > [role=row]')
          .first()
          .evaluate((row) => Number(row.getAttribute('aria-rowindex')));
      await page.waitForFunction(() => Number(document.querySelector('.lance-rows > [role=row]')?.ariaRowIndex) > 1e6);
      await page.locator('[role=grid]').hover();
      for (let tick = 0; tick < 5; tick++) {
        const before = await firstRow();
        await page.mouse.wheel(0, 120);
        await page.waitForFunction(
          (index) => Number(document.querySelector('.lance-rows > [role=row]')?.ariaRowIndex) !== index,
          before,
        );
        const moved = (await firstRow()) - before;
        assert.ok(moved > 0 && moved < 5, `${moved} rows`);
      }
      await page.keyboard.press('Control+End');
      await cell(page, 99_999_999, 8).waitFor();
    }));

  test('the rows are read in their order after any scrolling, and the active cell is the one that is announced', () =>
    withPanel({ numRows: 100_000 }, async (page) => {
      await cell(page, 0, 0).waitFor();
      const keys = [
        'PageDown',
        'PageDown',
        'ArrowUp',
        'Control+End',
        'PageUp',
        'ArrowRight',
        'Control+Home',
        'ArrowDown',
      ];
      for (const key of keys) {
        await page.keyboard.press(key);
        await page.waitForTimeout(30);
        const indexes = await page
          .locator('.lance-rows > [role=row]')
          .evaluateAll((rows) => rows.map((row) => Number(row.getAttribute('aria-rowindex'))));
        assert.deepEqual(
          indexes,
          indexes.map((_, index) => indexes[0]! + index),
          key,
        );
        const active = await page.locator('[role=grid]').evaluate((grid) => {
          const found = document.getElementById(grid.getAttribute('aria-activedescendant') ?? '');
          return [found?.role, found?.className.includes('lance-active'), found?.ariaSelected];
        });
        assert.deepEqual(active, ['gridcell', true, 'true'], key);
      }
      assert.equal(await page.locator('[role=grid]').getAttribute('aria-rowcount'), '100001');
    }));

  test('a range is selected by mouse and keyboard, and copied with exact values', () =>
    withPanel({ numRows: 10_000 }, async (page) => {
      await cell(page, 0, 0).getByText('9007199254740993').waitFor();
      await cell(page, 1, 0).hover();
      await page.mouse.down();
      await cell(page, 2, 1).hover();
      await page.mouse.up();
      await page.getByText('2 × 2 selected').waitFor();
      assert.equal(await copied(page), '9007199254740994\tProduct number 1\n9007199254740995\tProduct number 2');
      await page.keyboard.press('Shift+ArrowRight');
      await page.getByText('2 × 3 selected').waitFor();
      await page.locator('.lance-row').nth(3).locator('.lance-row-number').click();
      await page.getByText('1 × 9 selected').waitFor();
      await page.locator('.lance-name', { hasText: 'price' }).click();
      await page.getByText('10,000 × 1 selected').waitFor();
      await page.keyboard.press('Escape');
      await page.getByText('selected').waitFor({ state: 'hidden' });
    }));

  test('columns are pinned, resized and fitted, and kept when the page is created again', () =>
    withPanel({}, async (page, host) => {
      await cell(page, 0, 0).getByText('9007199254740993').waitFor();
      await page.locator('.lance-header', { hasText: 'score' }).click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Pin Left' }).click();
      await page.waitForFunction(isScoreFirst);
      // Read in one step, because the header is drawn again while its columns are resized.
      const width = () =>
        page.evaluate(() => {
          const heads = [...document.querySelectorAll('.lance-header')];
          return heads.find((head) => head.textContent.startsWith('name'))!.getBoundingClientRect().width;
        });
      const before = await width();
      const resizer = await page.locator('.lance-header', { hasText: 'name' }).locator('.lance-resizer').boundingBox();
      await page.mouse.move(resizer!.x + 3, resizer!.y + 10);
      await page.mouse.down();
      await page.mouse.move(resizer!.x + 83, resizer!.y + 10, { steps: 4 });
      await page.mouse.up();
      await page.waitForTimeout(50);
      assert.equal(Math.round((await width()) - before), 80);
      await page.locator('[role=grid]').evaluate((grid) => (grid.scrollTop = 3_300));
      await cell(page, 100, 1).getByText('9007199254741093').waitFor();
      await page.waitForTimeout(400);
      await page.reload();
      await cell(page, 100, 1).getByText('9007199254741093').waitFor();
      await page.waitForFunction(isScoreFirst);
      assert.equal(Math.round((await width()) - before), 80);
      await page.locator('.lance-header', { hasText: 'name' }).locator('.lance-resizer').dblclick();
      await page.waitForFunction(
        (least) => document.querySelector('.lance-header:nth-child(2)')!.clientWidth < least,
        before + 60,
      );
      assert.ok(host.asked.length > 0);
    }));

  test('the menu of a column moves, hides and resets, and a table that is opened again has its columns as they were', () =>
    withPanel({}, async (page, host) => {
      await cell(page, 0, 0).waitFor();
      const names = () => page.locator('.lance-header .lance-name').allTextContents();
      const run = async (column: string, item: string) => {
        await page.locator('.lance-header', { hasText: column }).first().click({ button: 'right' });
        await page.getByRole('menuitem', { name: item, exact: true }).click();
      };
      const shown = await names();
      await run(shown[0]!, 'Move Right');
      await page.waitForFunction((first) => document.querySelector('.lance-name')?.textContent === first, shown[1]);
      assert.deepEqual((await names()).slice(0, 3), [shown[1], shown[0], shown[2]]);
      await run(shown[2]!, 'Hide Column');
      await page.getByText('1 column hidden').waitFor();
      await run('score', 'Pin Left');
      await page.waitForFunction(isScoreFirst);
      await run('score', 'Auto-Fit');
      const deadline = Date.now() + 5_000;
      while (host.kept?.widths.length !== 1 && Date.now() < deadline) await page.waitForTimeout(20);
      const kept = host.kept!;
      assert.deepEqual([kept.pinned, kept.hidden, kept.widths[0]?.name], [['score'], [shown[2]], 'score']);
      assert.deepEqual(kept.order.slice(0, 2), [shown[1], shown[0]]);

      await host.show(tableOf(1000, { key: 'newer version', columnSettings: kept }));
      await page.getByText('1 column hidden').waitFor();
      assert.deepEqual((await names()).slice(0, 3), ['score', shown[1], shown[0]]);
      await run('score', 'Hide Other Columns');
      await page.waitForFunction(() => document.querySelectorAll('.lance-header').length === 1);
      await run('score', 'Reset Columns');
      await page.waitForFunction((count) => document.querySelectorAll('.lance-header').length === count, shown.length);
      assert.deepEqual(await names(), shown);
    }));

  test('the menus open by keyboard, and the focus returns', () =>
    withPanel({}, async (page) => {
      await cell(page, 0, 0).getByText('9007199254740993').waitFor();
      await page.keyboard.press('Shift+F10');
      await page.getByRole('menuitem', { name: 'Copy as JSON' }).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Escape');
      await page.keyboard.press('ArrowUp');
      await page.locator('.lance-header.lance-active').waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('menuitem', { name: 'Hide Column' }).waitFor();
      await page.screenshot({ path: join(shots, 'menu.png') });
      // Auto-Fit, Auto-Fit All, Pin Left and Move Right come before it; Move Left is disabled in the first column.
      for (let presses = 0; presses < 4; presses++) await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.getByText('1 column hidden').waitFor();
      await page.locator('.lance-header.lance-active', { hasText: 'name' }).waitFor();
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
        assert.equal(await style('.lance-head', 'background-color'), background);
        assert.equal(await style('.lance-rows [role=rowheader]', 'background-color'), background);
        assert.equal(await style('[role=gridcell] .lance-text', 'color'), rgb(colours['--vscode-foreground']));
        if ('--vscode-contrastBorder' in colours)
          assert.equal(await style('[role=gridcell]', 'border-bottom-color'), rgb(colours['--vscode-contrastBorder']));
        await page.screenshot({ path: join(shots, `${theme}.png`) });
      }));
  }
});

const rgb = (hex: string): string =>
  `rgb(${[1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(', ')})`;
