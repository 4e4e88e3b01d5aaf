import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { makeSample } from '../../scripts/sample.ts';
import { frameWith } from '../harness/workbench.ts';
import { tempFolder } from '../harness/temp.ts';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { expand, openCatalog, switchTheme, treeRow } from './parts/catalogWindow.ts';

const themes = {
  light: 'Light Modern',
  dark: 'Dark Modern',
  contrast: 'Dark High Contrast',
  paper: 'Light High Contrast',
};

const cell = (frame: Frame, row: number, column: number) =>
  frame.locator(`[role=row][aria-rowindex="${row + 2}"] [role=gridcell][aria-colindex="${column + 2}"]`);

suite('Photos, recordings and wide tables of the sample of npm start, in a window', function () {
  this.timeout(240_000);
  let window: Window;

  suiteSetup(async () => {
    const catalog = join(tempFolder(), 'catalog');
    await makeSample(catalog, { withMedia: true });
    window = await openWindow({ 'lanceCatalog.defaultConnections': [{ name: 'sample', root: catalog }] });
    await openCatalog(window.page);
    await expand(window.page, 'Connection sample', 'Namespace media');
  });
  suiteTeardown(() => window?.close());

  const show = async (table: string, selector: string): Promise<Frame> => {
    await treeRow(window.page, `Table ${table} in media`).click();
    return frameWith(window.page, selector);
  };
  test('photos are drawn beside their captions, larger in high rows', async () => {
    const drawn = '.lance-image:not(.lance-decoding)';
    const frame = await show('photos', drawn);
    await shoot(window, 'media-photos');
    await cell(frame, 0, 2).click({ button: 'right' });
    await frame.getByRole('menuitemradio', { name: 'Large Rows' }).click();
    await frame.waitForFunction(
      (selector) => document.querySelector(selector)!.getBoundingClientRect().height > 100,
      drawn,
    );
    for (const [name, theme] of Object.entries(themes)) {
      await switchTheme(window.page, theme);
      await frame.waitForFunction(() => !document.querySelector('[aria-busy=true], .lance-decoding'));
      await shoot(window, `media-photos-${name}`);
    }
    await window.page.setViewportSize({ width: 700, height: 800 });
    await frame.waitForFunction(() => innerWidth < 500);
    await shoot(window, 'media-photos-narrow');
    await window.page.setViewportSize({ width: 1400, height: 900 });
    await frame.waitForFunction(() => innerWidth > 700);
  });

  test('photos are a gallery with their captions, whose image opens with its size', async () => {
    const frame = await show('photos', '.lance-image:not(.lance-decoding)');
    await frame.getByRole('button', { name: 'Gallery', exact: true }).click();
    const first = frame.locator('.lance-tile').first();
    await first.locator('canvas').waitFor();
    const caption = await first.innerText();
    assert.match(caption, /\w+ \w+/);
    for (const [name, theme] of Object.entries(themes)) {
      await switchTheme(window.page, theme);
      await shoot(window, `media-gallery-${name}`);
    }
    await first.click();
    await window.page.keyboard.press('Enter');
    await frame.locator('.lance-detail-row').getByText('Row 1', { exact: true }).waitFor();
    await frame
      .locator('.lance-detail-facts')
      .getByText(/\d+ × \d+ px/)
      .waitFor();
    await shoot(window, 'media-gallery-pane');
    await window.page.keyboard.press('Escape');
    await frame.locator('.lance-pane').waitFor({ state: 'detached' });
    await frame.getByRole('button', { name: 'Table', exact: true }).click();
    await frame.locator('[role=gridcell]').first().waitFor();
  });

  test('a recording and the video play', async () => {
    const frame = await show('recordings', '.lance-playable');
    await cell(frame, 8, 2).getByText('null').waitFor();
    await cell(frame, 5, 2).locator('.lance-image:not(.lance-decoding)').waitFor();
    await cell(frame, 6, 2).getByText('Recorded with one microphone').waitFor();
    for (const [name, theme] of Object.entries(themes)) {
      await switchTheme(window.page, theme);
      await cell(frame, 0, 2).locator('.lance-openable').click();
      await frame.locator('.lance-waveform').waitFor();
      await shoot(window, `media-recordings-${name}`);
      await window.page.keyboard.press('Escape');
      await frame.locator('.lance-media').waitFor({ state: 'detached' });
    }
    await cell(frame, 4, 2).locator('.lance-openable').click();
    const video = frame.locator('video');
    await video.waitFor();
    await video.evaluate(async (player: HTMLVideoElement) => {
      player.muted = true;
      await player.play();
    });
    await frame.waitForFunction(() => document.querySelector('video')!.currentTime > 0.2);
    await shoot(window, 'media-video');
    await window.page.keyboard.press('Escape');
  });

  test('recordings, the video and the cover are there in a sorted and filtered table, too', async () => {
    const frame = await show('recordings', '.lance-playable');
    await frame.locator('[role=columnheader]', { hasText: 'title' }).hover();
    await frame.getByRole('button', { name: 'Sort by title' }).click();
    await frame.locator('[role=columnheader][aria-sort=ascending]').waitFor();
    await frame.getByRole('combobox', { name: 'Filter' }).fill("title <> 'Church bell'");
    await window.page.keyboard.press('Enter');
    await frame.getByText('8 of 9 rows', { exact: true }).first().waitFor();
    await cell(frame, 0, 1).getByText('A day in the hills').waitFor();
    await cell(frame, 1, 2).locator('.lance-image:not(.lance-decoding)').waitFor();
    await cell(frame, 3, 2).getByText('null').waitFor();
    await cell(frame, 5, 2).getByText('Recorded with one microphone').waitFor();
    await shoot(window, 'media-sorted');
    await cell(frame, 2, 2).locator('.lance-openable').click();
    await frame.locator('.lance-waveform').waitFor();
    await window.page.keyboard.press('Escape');
    await frame.locator('.lance-media').waitFor({ state: 'detached' });
    await cell(frame, 0, 2).locator('.lance-openable').click();
    const video = frame.locator('video');
    await video.waitFor();
    await video.evaluate(async (player: HTMLVideoElement) => {
      player.muted = true;
      await player.play();
    });
    await frame.waitForFunction(() => document.querySelector('video')!.currentTime > 0.2);
    await shoot(window, 'media-sorted-video');
    await window.page.keyboard.press('Escape');
  });

  test('the last of 400 columns is reached', async () => {
    const frame = await show('features', '[role=grid][aria-colcount="401"] .lance-number');
    await cell(frame, 0, 0).click();
    await window.page.keyboard.press('End');
    await cell(frame, 0, 399).locator('span').first().waitFor();
    assert.ok((await frame.locator('[role=gridcell]').count()) < 2_000);
    await shoot(window, 'media-features');
  });
});
