import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame, Page } from 'playwright-core';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { frameWith, runCommand } from '../harness/workbench.ts';
import { chooseInMenu, expand, openCatalog, openFile, openMenu, switchTheme, treeRow } from './parts/catalogWindow.ts';

const patience = 60_000;

const report = `-- The best customers of the shop.
select country, count(*) as orders, round(sum(amount), 2) as total
from "shop/eu".orders
group by country
order by total desc;

select * from shop.products limit 200;

select prise from shop.products;

with recursive counted(n) as (select 1 union all select n + 1 from counted)
select count(*) from counted;

select range as id, range % 7 as day from range(1000000000);

select if(range = 3000000, error('too late'), range) as id from range(4000000);
`;

const status = (page: Page) => page.locator('.statusbar-item', { hasText: /^\s*Lance:/ });

/** Moves the cursor to a line of the file. Tries again if the box closes, because a panel that was loaded takes the focus. */
async function goToLine(page: Page, line: number): Promise<void> {
  const box = page.locator('.quick-input-widget');
  for (let attempt = 1; ; attempt++) {
    await page.locator('.tab', { hasText: 'report.sql' }).click();
    await page.keyboard.press('Control+g');
    try {
      await box.locator('input.input').fill(`:${line}`, { timeout: 5_000 });
      break;
    } catch (error) {
      if (attempt === 5) throw error;
      await page.keyboard.press('Escape');
    }
  }
  await page.keyboard.press('Enter');
  await box.waitFor({ state: 'hidden' });
}

/** Returns a regular expression for a line as the editor shows it, with its own kind of blanks. */
const escaped = (line: string): string => line.replaceAll(/[()*.]/g, String.raw`\$&`).replaceAll(' ', String.raw`\s`);

const resultTab = (page: Page, title: string | RegExp) => page.locator('.tabs-container .tab', { hasText: title });

// All tests use one window, in order, as a user works in it.
suite('A SQL file in a window', function () {
  this.timeout(2 * patience);
  let window: Window;

  suiteSetup(async () => {
    window = await openWindow({}, { width: 1400, height: 900 });
    writeFileSync(join(window.folder, 'report.sql'), report);
  });

  suiteTeardown(() => window?.close());

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  test('is bound when its connection is chosen in the status bar', async () => {
    const { page } = window;
    await openFile(page, 'report.sql');
    await status(page).filter({ hasText: 'Choose Connection' }).waitFor({ timeout: patience });
    assert.equal(await page.locator('.codelens-decoration', { hasText: 'Run' }).count(), 0);
    await status(page).click();
    const row = page.locator('.quick-input-list .monaco-list-row', { hasText: 'sample' });
    await row.waitFor();
    await shoot(window, 'sql-choose');
    await row.click();
    await status(page).filter({ hasText: 'Lance: sample' }).waitFor();
    await page.locator('.codelens-decoration', { hasText: 'Run' }).first().waitFor();
  });

  test('runs the statement at the cursor with Ctrl+Enter, and shows its rows', async () => {
    const { page } = window;
    await goToLine(page, 3);
    await page.keyboard.press('Control+Enter');
    await resultTab(page, /select country, count.*\(sample\)/).waitFor({ timeout: patience });
    const frame = await frameWith(page, '.lance-grid [role=gridcell]');
    await frame.locator('.lance-name', { hasText: 'total' }).waitFor();
    await frame.locator('.lance-footer', { hasText: /\d+ rows? · 3 columns/ }).waitFor();
    assert.match(await frame.locator('.lance-footer').innerText(), /\d (ms|s)/);
    await shoot(window, 'sql-result');
  });

  test('shows an error at its place in the file and in the panel', async () => {
    const { page } = window;
    await goToLine(page, 9);
    await page.keyboard.press('Control+Enter');
    const frame = await frameWith(page, '.lance-message[role="alert"]');
    await frame.locator('p', { hasText: /Line 9, column 8: Referenced column .*prise/ }).waitFor();
    await page.locator('.squiggly-error').first().waitFor();
    await shoot(window, 'sql-error');
  });

  test('is canceled in the panel', async () => {
    const { page } = window;
    await goToLine(page, 11);
    await page.keyboard.press('Control+Enter');
    const frame = await frameWith(page, '.lance-message[role="status"] button');
    await frame.locator('p', { hasText: 'Running for' }).waitFor();
    await shoot(window, 'sql-running');
    await frame.locator('button', { hasText: 'Cancel' }).click();
    await frame.locator('h1', { hasText: 'canceled' }).waitFor();
    await shoot(window, 'sql-canceled');
  });

  test('shows rows while it runs, and keeps those that it has when it is canceled', async () => {
    const { page } = window;
    await goToLine(page, 14);
    await page.keyboard.press('Control+Enter');
    const frame = await gridOf(page, 'Running for');
    await frame.locator('[role=gridcell] .lance-number', { hasText: /^5$/ }).first().waitFor();
    const rows = async (): Promise<number> =>
      Number(/^([\d,]+) rows/.exec(await frame.locator('.lance-footer').innerText())?.[1]?.replaceAll(',', ''));
    const first = await rows();
    await page.waitForTimeout(1000);
    assert.ok((await rows()) > first, `${first} rows at first`);
    await shoot(window, 'sql-streaming');
    await frame.locator('.lance-footer button', { hasText: 'Cancel' }).click();
    await frame.locator('.lance-footer', { hasText: 'Canceled after' }).waitFor();
    assert.ok((await rows()) < 1_000_000_000);
    assert.equal(await frame.locator('.lance-footer button').count(), 0);
    await frame.locator('[role=gridcell] .lance-number', { hasText: /^5$/ }).first().waitFor();
  });

  test('says in the same words why a query failed after its first rows', async () => {
    const { page } = window;
    await goToLine(page, 16);
    await page.keyboard.press('Control+Enter');
    const frame = await frameWith(page, '.lance-message[role="alert"]');
    await frame.locator('h1', { hasText: /^Can't run the query$/ }).waitFor();
    await frame.locator('p', { hasText: 'too late' }).waitFor();
  });

  test('does not change an alias that is typed, nor a finished keyword', async () => {
    const { page } = window;
    await goToLine(page, 17);
    const typed = [
      'select o.id, count(*) c',
      'from "shop/eu".orders o',
      'where o.id > 5',
      'group by all',
      'order by c desc',
    ];
    try {
      for (const line of typed) {
        await page.keyboard.type(line, { delay: 60 });
        // Until the answer for the last key is there, Enter takes a suggestion for the word before this key.
        await page.locator('.suggest-widget.visible').waitFor({ state: 'hidden', timeout: 5000 });
        await page.keyboard.press('Enter');
      }
      const lines = page.locator('.editor-instance .view-line');
      for (const line of typed)
        await lines.filter({ hasText: new RegExp(`^${escaped(line)}$`) }).waitFor({ timeout: 5000 });
    } finally {
      await runCommand(page, 'File: Revert File');
    }
  });

  test('suggests tables, and is legible in all themes and in a narrow window', async () => {
    const { page } = window;
    await goToLine(page, 7);
    await page.keyboard.press('Control+Enter');
    await (
      await frameWith(page, '.lance-grid [role=gridcell]')
    )
      .locator('.lance-footer', { hasText: '200 rows' })
      .waitFor();
    for (const theme of ['Dark Modern', 'Light Modern', 'Dark High Contrast']) {
      await switchTheme(page, theme);
      await frameWith(page, '.lance-grid [role=gridcell]');
      await shoot(window, `sql-${theme.toLowerCase().replaceAll(' ', '-')}`);
    }
    await switchTheme(page, 'Light Modern');
    await goToLine(page, 5);
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.keyboard.type('select * from ', { delay: 30 });
    await page.locator('.suggest-widget .monaco-list-row', { hasText: 'products' }).first().waitFor();
    await shoot(window, 'sql-suggest');
    await page.keyboard.press('Escape');
    await runCommand(page, 'File: Revert File');
    // The file and the result have 400 pixels each.
    await runCommand(page, 'View: Toggle Primary Side Bar Visibility');
    await page.setViewportSize({ width: 860, height: 700 });
    await frameWith(page, '.lance-grid [role=gridcell]');
    await shoot(window, 'sql-narrow');
    await page.setViewportSize({ width: 1400, height: 900 });
    await runCommand(page, 'View: Toggle Primary Side Bar Visibility');
  });

  test('is made for a table of the tree', async () => {
    const { page } = window;
    await openCatalog(page);
    await expand(page, 'Connection sample', 'Namespace shop', 'Namespace eu');
    await openMenu(page, treeRow(page, 'Table orders in shop/eu'), 'New SQL Query');
    await shoot(window, 'sql-menu');
    await chooseInMenu(page, 'New SQL Query');
    await page.locator('.tab', { hasText: 'Untitled-1' }).waitFor();
    await status(page).filter({ hasText: 'Lance: sample' }).waitFor();
    await page.locator('.editor-actions .action-label[aria-label^="Run"]').first().click();
    await resultTab(page, 'orders … (sample)').waitFor();
    assert.equal(await page.locator('.editor-group-container').count(), 2);
    const frame = await gridOf(page, '100 rows');
    await frame.locator('[role=gridcell] .lance-number').first().waitFor();
    await shoot(window, 'sql-new');
  });

  async function gridOf(page: Page, rows: string): Promise<Frame> {
    for (const end = Date.now() + patience; Date.now() < end;) {
      for (const frame of page.frames())
        if (
          (await frame
            .locator('.lance-footer', { hasText: rows })
            .count()
            .catch(() => 0)) > 0
        )
          return frame;
      await page.waitForTimeout(100);
    }
    throw new Error(`No grid has ${rows}.`);
  }
});
