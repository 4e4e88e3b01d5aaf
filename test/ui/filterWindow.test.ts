import assert from 'node:assert/strict';
import type { Frame } from 'playwright-core';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { frameWith } from '../harness/workbench.ts';
import { expand, openCatalog, treeRow } from './parts/catalogWindow.ts';

const patience = 90_000;
const cell = '[role=gridcell]:not([aria-busy])';
const count = (frame: Frame, text: string | RegExp) =>
  frame.locator('.lance-toolbar-count').getByText(text).waitFor({ timeout: patience });

/** Selects a column. The buttons of its header are below its name. */
const selectColumn = (frame: Frame, name: string) =>
  frame.locator('[role=columnheader]', { hasText: name }).click({ position: { x: 12, y: 8 } });

/** Returns the number of found rows, once all are found. */
async function foundRows(frame: Frame): Promise<number> {
  await count(frame, /^[\d,]+ of 1,000,000 rows$/);
  await frame.locator('.lance-footer button', { hasText: 'Cancel' }).waitFor({ state: 'detached', timeout: patience });
  const text = await frame.locator('.lance-toolbar-count').innerText();
  return Number(text.split(' ')[0]!.replaceAll(',', ''));
}

// All tests use one window, in order. Each test continues where the previous test ended, as a user does.
suite('Filters of columns and the search in a window', function () {
  this.timeout(180_000);
  let window: Window;
  let frame: Frame;

  suiteSetup(async () => {
    window = await openWindow();
    const { page } = window;
    await openCatalog(page);
    await expand(page, 'Connection sample', 'Namespace shop', 'Namespace eu');
    await treeRow(page, 'Table orders in shop/eu').click();
    frame = await frameWith(page, '.lance-grid');
    await frame.locator(cell).first().waitFor({ timeout: patience });
  });

  suiteTeardown(() => window?.close());

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-filter-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  test('the values of a column are counted, and a chosen one has as many rows', async () => {
    const { page } = window;
    await selectColumn(frame, 'country');
    await page.keyboard.press('Alt+ArrowDown');
    const popup = frame.getByRole('dialog', { name: 'Filter country' });
    await popup.getByRole('tab', { name: 'Values' }).click();
    const first = popup.locator('.lance-value').first();
    await first.waitFor({ timeout: patience });
    await shoot(window, 'filter-values');
    const counted = Number((await first.locator('.lance-value-count').innerText()).replaceAll(',', ''));
    const country = await first.locator('.lance-value-text').innerText();
    await first.click();
    await popup.getByRole('button', { name: 'Apply' }).click();
    await frame.getByRole('button', { name: `country is ${country}`, exact: true }).waitFor({ timeout: patience });
    assert.equal(await foundRows(frame), counted);
    const column = await frame.locator('[role=columnheader]', { hasText: 'country' }).getAttribute('aria-colindex');
    const cells = frame.locator(`.lance-row [aria-colindex="${column}"]`);
    await cells.filter({ hasText: country }).first().waitFor({ timeout: patience });
    const shown = await cells.allInnerTexts();
    assert.deepEqual([...new Set(shown.filter((text) => text !== ''))], [country]);
    await shoot(window, 'filter-chosen');
  });

  test('a range of a second column narrows the rows, and its chip removes it', async () => {
    const { page } = window;
    const before = await foundRows(frame);
    await selectColumn(frame, 'amount');
    await page.keyboard.press('Alt+ArrowDown');
    const popup = frame.getByRole('dialog', { name: 'Filter amount' });
    await popup.getByRole('combobox', { name: 'Operator' }).selectOption({ label: 'is between' });
    await popup.getByRole('textbox', { name: 'From' }).fill('100');
    await page.keyboard.press('Tab');
    await page.keyboard.type('200');
    await page.keyboard.press('Enter');
    const chip = frame.getByRole('button', { name: 'amount 100 – 200', exact: true });
    await chip.waitFor({ timeout: patience });
    assert.ok((await foundRows(frame)) < before);
    await shoot(window, 'filter-range');
    await chip.focus();
    await page.keyboard.press('Delete');
    await chip.waitFor({ state: 'detached', timeout: patience });
    assert.equal(await foundRows(frame), before);
  });

  test('Ctrl+F searches the text of the filtered rows', async () => {
    const { page } = window;
    const before = await foundRows(frame);
    await frame.locator(cell).first().click();
    await page.keyboard.press('Control+f');
    await frame.getByRole('searchbox', { name: 'Search text' }).and(frame.locator(':focus')).waitFor();
    const note = await frame.locator('.lance-row [aria-colindex="6"]').filter({ hasText: /\w/ }).first().innerText();
    await page.keyboard.type(note.toUpperCase());
    await page.keyboard.press('Enter');
    await frame.locator('.lance-footer').getByText('Searched the text of').waitFor({ timeout: patience });
    const found = await foundRows(frame);
    assert.ok(found > 0 && found <= before, `${found} of ${before}`);
    await shoot(window, 'filter-search');
  });
});
