import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame, Page } from 'playwright-core';
import type { TableData } from '#catalog/table/tableData.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { eventually } from '../contract/eventually.ts';
import { descendantsOf } from '../contract/processTree.ts';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { frameWith, runCommand } from '../harness/workbench.ts';
import { expand, openCatalog, treeRow } from './parts/catalogWindow.ts';

const patience = 90_000;
// Many pages, so that some are not loaded yet when the table changes.
const numRows = 30_000;
const kinds = 7;
const rowsOf = (mark: string): TableData =>
  Array.from({ length: numRows }, (_, id) => ({ id, kind: `kind ${id % kinds}`, mark: `${mark} ${id}` }));
const where = 'id % 3 <> 0';

/** The ids of the view: by kind, descending, then in the order of the table. */
const wanted = Array.from({ length: numRows }, (_, id) => id)
  .filter((id) => id % 3 !== 0)
  .toSorted((a, b) => (b % kinds) - (a % kinds) || a - b);

const panel = (page: Page) => frameWith(page, '.lance-grid');
const cell = (frame: Frame, row: number, column: number) =>
  frame.locator(`[role=row][aria-rowindex="${row + 2}"] [role=gridcell][aria-colindex="${column + 2}"]`);
const count = (frame: Frame, text: string) =>
  frame.locator('.lance-toolbar-count').getByText(text, { exact: true }).waitFor({ timeout: patience });
const message = (page: Page) => frameWith(page, '.lance-message');
const scrollTo = (frame: Frame, share: number) =>
  frame.locator('[role=grid]').evaluate((grid, part) => (grid.scrollTop = grid.scrollHeight * part), share);

/** Waits until a row has an id, and a mark. */
async function hasRow(frame: Frame, row: number, mark = 'first'): Promise<void> {
  await cell(frame, row, 0).getByText(String(wanted[row]), { exact: true }).waitFor({ timeout: patience });
  await cell(frame, row, 2).getByText(`${mark} ${wanted[row]}`, { exact: true }).waitFor({ timeout: patience });
}

// All tests use one window, in order. Each test continues where the previous test ended, as a user does.
suite('A sorted and filtered table that changes, in a window', function () {
  this.timeout(180_000);
  let window: Window;

  /** Creates a table with three versions, as another client. */
  const create = async (mark: string, name = 'words'): Promise<void> => {
    const catalog = await openDir({ root: window.catalog });
    const table = await catalog.createTable(name, rowsOf(mark).slice(0, 10_000) as TableData);
    await table.add(rowsOf(mark).slice(10_000, 20_000) as TableData);
    await table.add(rowsOf(mark).slice(20_000) as TableData);
    await catalog.close();
  };
  const drop = async (): Promise<void> => {
    const catalog = await openDir({ root: window.catalog });
    await catalog.dropTable('words');
    await catalog.close();
  };
  /** Replaces the table at once, so that the panel can't see that there is none meanwhile. */
  const replace = async (mark: string): Promise<void> => {
    await create(mark, 'next_words');
    const catalog = await openDir({ root: window.catalog });
    await catalog.dropTable('words');
    await catalog.renameTable('next_words', 'words');
    await catalog.close();
  };
  /** Kills a process of the window by its bundle. */
  const kill = async (bundle: string): Promise<void> => {
    const { pid } = window.server.child;
    const found = descendantsOf(pid!).find(({ command }) => command.includes(`dist/${bundle}`));
    assert.ok(found, `${bundle} runs`);
    process.kill(found.pid, 'SIGKILL');
  };

  suiteSetup(async () => {
    window = await openWindow();
    await create('first');
    const { page } = window;
    await openCatalog(page);
    await expand(page, 'Connection sample');
    await treeRow(page, 'Table words').click();
    const frame = await panel(page);
    await cell(frame, 0, 0).waitFor({ timeout: patience });
    await frame.getByRole('combobox', { name: 'Filter' }).fill(where);
    await page.keyboard.press('Enter');
    await count(frame, '20,000 of 30,000 rows');
    await frame.locator('[role=columnheader]', { hasText: 'kind' }).hover();
    await frame.getByRole('button', { name: 'Sort by kind' }).click();
    await frame.locator('[role=columnheader][aria-sort=ascending]').waitFor({ timeout: patience });
    await frame.getByRole('button', { name: 'Sort by kind' }).click();
    await frame.locator('[role=columnheader][aria-sort=descending]').waitFor({ timeout: patience });
    await hasRow(frame, 0);
  });

  suiteTeardown(() => window?.close());

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-changed-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  test('exports the selected cells of its order, by the menu', async () => {
    const { page, folder } = window;
    const frame = await panel(page);
    await cell(frame, 2, 0).click();
    await cell(frame, 6, 1).click({ modifiers: ['Shift'] });
    await cell(frame, 4, 1).click({ button: 'right' });
    await frame.getByRole('menuitem', { name: 'Export Selected Rows…' }).waitFor();
    await shoot(window, 'changed-menu');
    await frame.getByRole('menuitem', { name: 'Export Selected Rows…' }).click();
    const input = page.locator('.quick-input-widget input.input');
    await input.waitFor();
    // The dialog fills in the name after it has listed the folder.
    await eventually(async () => assert.match(await input.inputValue(), /words\.parquet$/));
    const target = join(folder, 'some.csv');
    await input.fill(target);
    await page.locator('.quick-input-widget').getByText('Export', { exact: true }).or(input).first().waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.notifications-toasts', { hasText: 'Wrote 5 rows of "words"' }).waitFor({ timeout: patience });
    await shoot(window, 'changed-exported');
    const lines = wanted.slice(2, 7).map((id) => `${id},kind ${id % kinds}`);
    assert.deepEqual(readFileSync(target, 'utf8').trimEnd().split(/\r?\n/), ['id,kind', ...lines]);
    await runCommand(page, 'Notifications: Clear All Notifications');
  });

  test('is copied as code with its filter and order', async () => {
    const { page } = window;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await cell(await panel(page), 0, 0).click();
    await runCommand(page, 'Lance Catalog: Copy as Code…');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'SQL' }).first().click();
    await eventually(async () => {
      const code = await page.evaluate(() => navigator.clipboard.readText());
      assert.match(code, /where "id" % 3 <> 0\norder by "kind" desc/);
    });
  });

  test('has its rows after the process of views and the table engine were killed', async () => {
    const { page } = window;
    const frame = await panel(page);
    await kill('views.cjs');
    await frame.locator('.lance-footer', { hasText: 'has ended. It starts again for the next rows.' }).waitFor();
    await shoot(window, 'changed-killed');
    await scrollTo(frame, 1);
    await hasRow(frame, wanted.length - 1);
    await frame.locator('.lance-footer', { hasNotText: 'has ended' }).waitFor();
    await kill('engine.cjs');
    await scrollTo(frame, 0.5);
    await hasRow(frame, 10_000);
    await count(frame, '20,000 of 30,000 rows');
  });

  test('says that its table was created again, and shows it with the same filter and order', async () => {
    const { page } = window;
    await replace('second');
    const frame = await panel(page);
    await scrollTo(frame, 0.25);
    const shown = await message(page);
    await shown.getByText('The table was created again').waitFor({ timeout: patience });
    await shoot(window, 'changed-again');
    await shown.getByRole('button', { name: 'Show Newest' }).click();
    const next = await panel(page);
    await count(next, '20,000 of 30,000 rows');
    await scrollTo(next, 0);
    await hasRow(next, 0, 'second');
    assert.equal(await next.getByRole('combobox', { name: 'Filter' }).inputValue(), where);
  });

  test('says that its table was dropped, and opens it if it is back', async () => {
    const { page } = window;
    const frame = await panel(page);
    await drop();
    await scrollTo(frame, 1);
    const shown = await message(page);
    await shown.getByText('The table no longer exists').waitFor({ timeout: patience });
    await shoot(window, 'changed-dropped');
    await create('third');
    await shown.getByRole('button', { name: 'Retry' }).click();
    const next = await panel(page);
    await count(next, '20,000 of 30,000 rows');
    await scrollTo(next, 0);
    await hasRow(next, 0, 'third');
  });

  test('says so in its place also if another order is the first that needs the table again', async () => {
    const { page } = window;
    const frame = await panel(page);
    await drop();
    await frame.locator('[role=columnheader]', { hasText: 'mark' }).hover();
    await frame.getByRole('button', { name: 'Sort by mark' }).click();
    const shown = await message(page);
    await shown.getByText('The table no longer exists').waitFor({ timeout: patience });
    await shoot(window, 'changed-dropped-sort');
    await create('fourth');
    await shown.getByRole('button', { name: 'Retry' }).click();
    const next = await panel(page);
    await count(next, '20,000 of 30,000 rows');
    await hasRow(next, 0, 'fourth');
  });
});
