import assert from 'node:assert/strict';
import type { Frame, Page } from 'playwright-core';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { frameWith, reloadWindow } from '../harness/workbench.ts';
import { expand, openCatalog, treeRow } from './parts/catalogWindow.ts';

const patience = 90_000;
const cell = '[role=gridcell]:not([aria-busy])';
const panel = (page: Page) => frameWith(page, '.lance-grid');
const line = (frame: Frame) => frame.getByRole('combobox', { name: 'Filter' });
const count = (frame: Frame, text: string) =>
  frame.locator('.lance-toolbar-count').getByText(text, { exact: true }).waitFor({ timeout: patience });
const sorted = (frame: Frame, name: string, order: string) =>
  frame.locator(`[role=columnheader][aria-sort=${order}]`, { hasText: name }).waitFor({ timeout: patience });

/** Returns the shown values of two columns, from the first row that is drawn. */
const shown = (frame: Frame, names: readonly [string, string]): Promise<string[][]> =>
  frame.evaluate((wanted) => {
    const heads = Array.from(document.querySelectorAll<HTMLElement>('.lance-header'));
    const columns = wanted.map(
      (name) => heads.find((head) => head.querySelector('.lance-name')?.textContent === name)?.ariaColIndex,
    );
    return Array.from(document.querySelectorAll('.lance-row'), (row) =>
      columns.map((column) => row.querySelector<HTMLElement>(`[aria-colindex="${column}"]`)?.innerText ?? ''),
    );
  }, names);

// All tests use one window, in order. Each test continues where the previous test ended, as a user does.
suite('Sorting and filtering a table in a window', function () {
  this.timeout(180_000);
  let window: Window;

  suiteSetup(async () => {
    window = await openWindow();
    const { page } = window;
    await openCatalog(page);
    await expand(page, 'Connection sample', 'Namespace shop', 'Namespace eu');
    await treeRow(page, 'Table orders in shop/eu').click();
    await (await panel(page)).locator(cell).first().waitFor({ timeout: patience });
  });

  suiteTeardown(() => window?.close());

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-sorted-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  test('a column with ties and nulls is sorted to its last row', async () => {
    const frame = await panel(window.page);
    await frame.locator('[role=columnheader]', { hasText: 'note' }).hover();
    await frame.getByRole('button', { name: 'Sort by note' }).click();
    await sorted(frame, 'note', 'ascending');
    await frame.locator(cell).first().waitFor({ timeout: patience });
    // The list of all rows is complete when nothing can be canceled.
    await frame.locator('.lance-footer button').waitFor({ state: 'detached', timeout: patience });
    const first = await shown(frame, ['note', 'id']);
    assert.ok(first.length > 5);
    assert.equal(new Set(first.map(([note]) => note)).size, 1, 'ties');
    const ids = first.map(([, id]) => Number(id));
    assert.deepEqual(
      ids,
      ids.toSorted((a, b) => a - b),
    );
    await shoot(window, 'sorted-first');
    await frame.locator('[role=grid]').evaluate((scroller) => (scroller.scrollTop = scroller.scrollHeight));
    await frame.locator('[aria-rowindex="1000001"] .lance-null').first().waitFor({ timeout: patience });
    await shoot(window, 'sorted-last');
    const last = await shown(frame, ['note', 'id']);
    assert.ok(
      last.every(([note]) => note === 'null'),
      'nulls are last',
    );
    await frame.locator('[role=grid]').evaluate((scroller) => (scroller.scrollTop = 0));
  });

  test('a filter counts its rows, and a wrong one loses nothing', async () => {
    const frame = await panel(window.page);
    await line(frame).fill("country = 'DE' AND id <= 5000 OR id = 1000000");
    await window.page.keyboard.press('Enter');
    await frame.locator('.lance-toolbar-count', { hasText: ' of 1,000,000 rows' }).waitFor({ timeout: patience });
    await sorted(frame, 'note', 'ascending');
    await line(frame).fill('id <= 1234');
    await window.page.keyboard.press('Enter');
    await count(frame, '1,234 of 1,000,000 rows');
    await line(frame).fill('amoun > 1');
    await window.page.keyboard.press('Enter');
    await frame.getByRole('alert').getByText('has no column "amoun"').waitFor({ timeout: patience });
    await shoot(window, 'sorted-wrong');
    await count(frame, '1,234 of 1,000,000 rows');
    await window.page.keyboard.press('Escape');
    assert.equal(await line(frame).inputValue(), 'id <= 1234');
  });

  test('the value of a cell is a filter, and Ctrl+Z takes it back', async () => {
    const { page } = window;
    const frame = await panel(page);
    const note = frame.locator('.lance-row [aria-colindex="6"]').first();
    await note.click({ button: 'right' });
    await frame.getByRole('menuitem', { name: 'Without This Value' }).click();
    const both = /^id <= 1234 AND \(`note` <> '.*' OR `note` IS NULL\)$/;
    await frame.waitForFunction(
      () => document.querySelector<HTMLInputElement>('.lance-filter input')!.value.includes('AND'),
      undefined,
      { timeout: patience },
    );
    assert.match(await line(frame).inputValue(), both);
    await frame.locator(cell).first().click();
    await page.keyboard.press('Control+z');
    await count(frame, '1,234 of 1,000,000 rows');
    assert.equal(await line(frame).inputValue(), 'id <= 1234');
  });

  test('the filter and the order are there after the window was reloaded', async () => {
    const { page } = window;
    await reloadWindow(page);
    const frame = await panel(page);
    await count(frame, '1,234 of 1,000,000 rows');
    await sorted(frame, 'note', 'ascending');
    assert.equal(await line(frame).inputValue(), 'id <= 1234');
    await frame.locator(cell).first().waitFor({ timeout: patience });
    await shoot(window, 'sorted-reloaded');
  });
});
