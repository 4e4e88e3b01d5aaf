import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { tableToIPC, Table } from '#arrow';
import type { ColumnSettings } from '#shared/protocol/webviewMessages.ts';
import { seriousProblems } from './parts/accessibility.ts';
import { comparedMedia } from './parts/changedRows.ts';
import { openPanelPages } from './parts/panelPages.ts';

const shots = join(import.meta.dirname, '../../test-results/changes');

const { batch, compared } = comparedMedia();
const imageColumn = 3;
/** Without these columns, a narrow panel shows the images. */
const narrowColumns: ColumnSettings = {
  order: [],
  pinned: [],
  hidden: ['id', 'caption'],
  widths: [],
  rowHeight: 'small',
};
const [green, blue] = [
  [40, 160, 60],
  [40, 80, 220],
];

const cellAt = (page: Page, row: number, column = imageColumn): Locator =>
  page.locator(`[role=row][aria-rowindex="${row + 2}"] [role=gridcell][aria-colindex="${column + 2}"]`);

/** Waits until a cell has drawn a number of images. */
const drawn = (cell: Locator, count: number): Promise<void> =>
  cell
    .locator('canvas:not(.lance-decoding)')
    .nth(count - 1)
    .waitFor();

/** Returns the color of the image that is shown large. */
const largeColor = (page: Page): Promise<number[]> =>
  page.locator('.lance-large img').evaluate(async (image) => {
    await (image as HTMLImageElement).decode();
    const context = document.createElement('canvas').getContext('2d')!;
    context.drawImage(image as HTMLImageElement, 0, 0);
    return Array.from(context.getImageData(8, 8, 1, 1).data).slice(0, 3);
  });

/** Returns the color in the middle of each image that is drawn in an element, from left to right. */
const colorsIn = (element: Locator): Promise<number[][]> =>
  element.locator('canvas:not(.lance-decoding)').evaluateAll((images) =>
    images.map((image) => {
      const { width, height } = image as HTMLCanvasElement;
      const context = (image as HTMLCanvasElement).getContext('2d')!;
      const { data } = context.getImageData(width >> 1, height >> 1, 1, 1);
      return Array.from(data).slice(0, 3);
    }),
  );

suite('The changed images of a comparison, in a browser', function () {
  this.timeout(120_000);
  const withPanel = openPanelPages({
    table: compared,
    width: 1_100,
    height: 560,
    firstShown: '.lance-row >> nth=1',
    prepare: (host) => {
      host.rows = (start, end, columns) => {
        const rows = new Table([batch]).slice(start, end);
        return tableToIPC(columns ? rows.selectAt(columns) : rows, 'stream');
      };
    },
  });

  test('are thumbnails before and after the change, each of which opens large', () =>
    withPanel(async (page) => {
      await drawn(cellAt(page, 1), 2);
      assert.deepEqual(await colorsIn(cellAt(page, 1)), [green, blue]);
      await drawn(cellAt(page, 2), 1);
      assert.deepEqual(await colorsIn(cellAt(page, 2)), [blue]);
      await cellAt(page, 2).getByText('null', { exact: true }).waitFor();
      // The unchanged one and the added one.
      for (const row of [0, 3]) {
        await drawn(cellAt(page, row), 1);
        assert.equal(await cellAt(page, row).locator('del').count(), 0);
      }
      await cellAt(page, 1).locator('del canvas').click();
      await page.locator('.lance-large').waitFor();
      assert.deepEqual(await largeColor(page), green);
      await page.keyboard.press('Escape');
      await page.locator('.lance-large').waitFor({ state: 'detached' });
      await cellAt(page, 1).locator(':scope > canvas').click();
      await page.locator('.lance-large').waitFor();
      assert.deepEqual(await largeColor(page), blue);
    }));

  for (const theme of ['light', 'dark', 'highContrast', 'highContrastLight'] as const)
    test(`are whole in all heights of rows, wide and narrow: ${theme}`, async () => {
      for (const [width, rowHeight] of [
        [1_100, 'small'],
        [300, 'large'],
      ] as const)
        await withPanel(
          async (page) => {
            const changed = cellAt(page, 1, 1);
            await drawn(changed, 2);
            const cell = (await changed.boundingBox())!;
            const images = await changed.locator('canvas').all();
            const boxes = await Promise.all(images.map(async (image) => (await image.boundingBox())!));
            assert.equal(boxes[0]!.y, boxes[1]!.y, 'beside each other');
            for (const box of boxes) {
              assert.ok(box.y >= cell.y && box.y + box.height <= cell.y + cell.height, JSON.stringify({ box, cell }));
              assert.ok(box.x >= cell.x && box.x + box.width <= cell.x + cell.width, JSON.stringify({ box, cell }));
            }
            await page.screenshot({ path: join(shots, `images-${theme}-${width}-${rowHeight}.png`) });
            assert.deepEqual(await seriousProblems(page), []);
          },
          { theme, width, table: { ...compared, columnSettings: { ...narrowColumns, rowHeight } } },
        );
    });
});
