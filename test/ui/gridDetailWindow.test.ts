import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../contract/eventually.ts';
import { frameWith, runCommand } from '../harness/workbench.ts';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { expand, openCatalog, treeRow } from './parts/catalogWindow.ts';

suite('The whole value of a cell, in a window', function () {
  this.timeout(120_000);
  let window: Window;

  suiteSetup(async () => {
    window = await openWindow();
  });

  suiteTeardown(() => window?.close());

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  test('opens by Enter on a picture, and is saved as a file', async () => {
    const { page, folder } = window;
    await openCatalog(page);
    await expand(page, 'Connection sample', 'Namespace shop', 'Table products in shop');
    await treeRow(page, 'Table products in shop').click();
    const frame = await frameWith(page, '.lance-image');
    const picture = frame.locator('[role=gridcell]', { has: frame.locator('.lance-image') }).first();
    // A click on the image would show it in its size.
    await picture.click({ position: { x: 3, y: 3 } });
    await picture.and(frame.locator('.lance-active')).waitFor();
    await page.keyboard.press('Enter');
    await frame
      .locator('.lance-detail-facts')
      .getByText(/^image\/png · .* px · /)
      .waitFor();
    await shoot(window, 'detail-picture');
    await frame.locator('.lance-pane').getByRole('button', { name: 'Save As…' }).click();
    const input = page.locator('.quick-input-widget input.input');
    await input.waitFor();
    // The dialog fills in the name after it has listed the folder.
    await eventually(async () => assert.match(await input.inputValue(), /-1\.png$/));
    const target = join(folder, 'saved.png');
    await input.fill(target);
    // The dialog checks the path before Enter takes it.
    await page.locator('.quick-input-widget').getByText('Save', { exact: true }).or(input).first().waitFor();
    await page.keyboard.press('Enter');
    await frame.locator('.lance-detail-status').getByText('Saved "saved.png".').waitFor();
    const bytes = readFileSync(target);
    assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.endsWith('.tmp')),
      [],
    );
  });

  test('follows the arrow keys, and Escape returns to the rows', async () => {
    const { page } = window;
    const frame = await frameWith(page, '.lance-pane');
    await frame.locator('[role=grid]').focus();
    await page.keyboard.press('ArrowDown');
    await frame.locator('.lance-detail-row').getByText('Row 2').waitFor();
    await page.keyboard.press('Escape');
    await frame.locator('.lance-pane').waitFor({ state: 'detached' });
  });

  test('the command and the key go to a row', async () => {
    const { page } = window;
    await treeRow(page, 'Table orders in shop/eu').or(treeRow(page, 'Namespace eu')).first().waitFor();
    const frame = await frameWith(page, '.lance-grid');
    await frame.locator('[role=grid]').focus();
    await runCommand(page, 'Lance Catalog: Go to Row…');
    const box = frame.locator('.lance-go');
    await box.waitFor();
    await box.locator('input').fill('3');
    await box.locator('input').press('Enter');
    await frame.locator('[role=row][aria-rowindex="4"] .lance-active').waitFor();
    await page.keyboard.press('Control+g');
    await box.locator('input').waitFor();
    await page.keyboard.press('Escape');
    await box.waitFor({ state: 'detached' });
    assert.equal(await page.locator('.quick-input-widget').isVisible(), false);
  });
});
