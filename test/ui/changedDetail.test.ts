import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { Table, tableToIPC } from '#arrow';
import { seriousProblems } from './parts/accessibility.ts';
import { comparedMedia } from './parts/changedRows.ts';
import { openPanelPages } from './parts/panelPages.ts';

const shots = join(import.meta.dirname, '../../test-results/changes');

const { batch, compared } = comparedMedia();

const side = (page: Page, name: 'Before' | 'After') => page.getByRole('region', { name, exact: true });

/** Opens the pane on a cell. */
async function openOn(page: Page, row: number, column: number): Promise<void> {
  const cell = page.locator(
    `[role=row][aria-rowindex="${row + 2}"] [role=gridcell][aria-colindex="${column + 2}"]:not([aria-busy])`,
  );
  await cell.dblclick();
  await page.locator('.lance-detail-body > *').first().waitFor();
}

suite('The detail pane of a changed cell, in a browser', function () {
  this.timeout(120_000);
  const withPanel = openPanelPages({
    table: compared,
    width: 1_100,
    height: 560,
    firstShown: '.lance-row >> nth=3',
    prepare: (host) => {
      host.rows = (start, end, columns) => {
        const rows = new Table([batch]).slice(start, end);
        return tableToIPC(columns ? rows.selectAt(columns) : rows, 'stream');
      };
    },
  });

  test('shows the value before and the one after, each under its name, and copies each', () =>
    withPanel(async (page) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await openOn(page, 0, 2);
      await side(page, 'Before').getByText('A chair').waitFor();
      await side(page, 'After').getByText('A chair\nby the window').waitFor();
      const told = page.locator('.lance-detail-status').getByText(/^Copied/);
      await side(page, 'Before').getByRole('button', { name: 'Copy' }).click();
      await told.first().waitFor();
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'A chair');
      await side(page, 'After').getByRole('button', { name: 'Copy' }).click();
      await told.nth(1).waitFor();
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'A chair\nby the window');
    }));

  test('shows one value of a cell that has not changed, or whose row was added', () =>
    withPanel(async (page) => {
      await openOn(page, 0, 2);
      await side(page, 'After').waitFor();
      await page.keyboard.press('Escape');
      for (const [row, text] of [
        [1, 'A lamp'],
        [3, 'New'],
      ] as const) {
        await openOn(page, row, 2);
        await page.locator('.lance-text-view').getByText(text).waitFor();
        assert.equal(await side(page, 'Before').count(), 0);
        await page.locator('.lance-detail-bar').getByRole('button', { name: 'Copy' }).waitFor();
      }
    }));

  test('shows both images, both vectors and a null', () =>
    withPanel(async (page) => {
      await openOn(page, 1, 3);
      for (const name of ['Before', 'After'] as const) await side(page, name).getByText('64 × 48 px').waitFor();
      await page.screenshot({ path: join(shots, 'detail-images.png') });
      await openOn(page, 1, 4);
      for (const name of ['Before', 'After'] as const)
        await side(page, name)
          .getByText(/^32 dimensions/)
          .waitFor();
      const heights = await Promise.all(
        (['Before', 'After'] as const).map(async (name) => (await side(page, name).boundingBox())!.height),
      );
      assert.ok(Math.abs(heights[0]! - heights[1]!) < 2, heights.join());
      await page.screenshot({ path: join(shots, 'detail-vectors.png') });
      await page.keyboard.press('Escape');
      await openOn(page, 2, 5);
      await side(page, 'Before').getByText('null', { exact: true }).waitFor();
      await side(page, 'After').getByText('2.5', { exact: true }).waitFor();
      await page.screenshot({ path: join(shots, 'detail-number.png') });
      await page.keyboard.press('Escape');
      // By keys, because the cells move under the pointer while the rows take the space of the pane.
      for (const key of ['ArrowLeft', 'ArrowLeft', 'Enter']) await page.keyboard.press(key);
      await side(page, 'After').getByText('null', { exact: true }).waitFor();
      await side(page, 'Before').getByRole('img').waitFor();
    }));

  for (const theme of ['light', 'dark', 'highContrast', 'highContrastLight'] as const)
    test(`keeps the rules of axe-core, wide and narrow: ${theme}`, async () => {
      for (const width of [1_100, 700, 300])
        await withPanel(
          async (page) => {
            await openOn(page, 0, 2);
            await side(page, 'After').waitFor();
            await page.screenshot({ path: join(shots, `detail-${theme}-${width}.png`) });
            assert.deepEqual(await seriousProblems(page), [], `${theme}, ${width}`);
          },
          { theme, width },
        );
    });
});
