import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { frameWith, reloadWindow, runCommand } from '../harness/workbench.ts';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { expand, openCatalog, openFile, switchTheme, treeRow } from './parts/catalogWindow.ts';

const view = 'Cheap products';
const filter = 'id <= 10';
const fileName = 'cheap.lance-view.json';

const line = (frame: Frame) => frame.getByRole('combobox', { name: 'Filter' });
const rows = (frame: Frame, count: number) =>
  frame.locator('.lance-toolbar-count', { hasText: new RegExp(`^${count} of `) }).waitFor();

suite('Saved views and view files, in a window', function () {
  this.timeout(240_000);
  let window: Window;

  suiteSetup(async () => {
    window = await openWindow();
  });

  suiteTeardown(() => window?.close());

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  const panel = (): Promise<Frame> => frameWith(window.page, '.lance-view-button');
  /** Opens the list of views, and chooses a row. */
  async function choose(label: string): Promise<void> {
    const { page } = window;
    await (await panel()).locator('.lance-view-button').click();
    const input = page.locator('.quick-input-widget input.input');
    await input.waitFor();
    await input.fill(label);
    await page.locator('.quick-input-list .monaco-list-row.focused', { hasText: label }).waitFor();
    await shoot(window, `views-list-${label.replaceAll(/\W+/g, '-')}`);
    await page.keyboard.press('Enter');
  }

  async function openTable(): Promise<Frame> {
    const { page } = window;
    await openCatalog(page);
    await expand(page, 'Connection sample', 'Namespace shop');
    await treeRow(page, 'Table products in shop').click();
    const frame = await panel();
    await frame.locator('[role=gridcell]:not([aria-busy])').first().waitFor();
    return frame;
  }

  test('a view is saved, and shown again after a reload and in a new panel', async () => {
    const { page } = window;
    const frame = await openTable();
    await line(frame).fill(filter);
    await line(frame).press('Enter');
    await rows(frame, 10);
    await choose('Save View…');
    const input = page.locator('.quick-input-widget input.input');
    // The box for the name replaces the list, whose row has the same title.
    await page.locator('.quick-input-widget', { hasText: 'Name of the view' }).waitFor();
    await input.fill(view);
    await page.keyboard.press('Enter');
    await frame.getByRole('button', { name: `View ${view}`, exact: true }).waitFor();
    await shoot(window, 'views-saved');

    await line(frame).fill('id <= 3');
    await line(frame).press('Enter');
    await rows(frame, 3);
    await frame.getByRole('button', { name: `View ${view}, changed since it was saved` }).waitFor();
    await choose(`Show "${view}" Again`);
    await rows(frame, 10);

    await reloadWindow(page);
    const again = await panel();
    await rows(again, 10);
    await again.getByRole('button', { name: `View ${view}`, exact: true }).waitFor();
    await runCommand(page, 'View: Close All Editors');

    const next = await openTable();
    await next.getByRole('button', { name: 'Views', exact: true }).waitFor();
    await choose(view);
    await rows(next, 10);
    assert.equal(await line(next).inputValue(), filter);
    await next.getByRole('button', { name: `View ${view}`, exact: true }).waitFor();
    await shoot(window, 'views-shown');
  });

  test('a view file is saved, asks before its rows, and shows them after a click', async () => {
    const { page, folder } = window;
    await choose('Save View as File…');
    const input = page.locator('.quick-input-widget input.input');
    await page.locator('.quick-input-widget', { hasText: 'Save View of' }).waitFor();
    // The dialog writes its own name once it has read the folder, also over a name that was typed before.
    for (let tries = 0; tries < 10; tries++) {
      await input.fill(join(folder, fileName));
      await page.waitForTimeout(500);
      if ((await input.inputValue()) === join(folder, fileName)) break;
    }
    await page.keyboard.press('Enter');
    await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
    // The status bar says so only for a moment.
    for (let tries = 0; !existsSync(join(folder, fileName)) && tries < 100; tries++) await page.waitForTimeout(200);
    const written = readFileSync(join(folder, fileName), 'utf8');
    assert.match(written, /"where": "id <= 10"/);
    assert.doesNotMatch(written, /key|secret|token/i);

    // As a teammate gets it: with another content than the user has seen.
    writeFileSync(join(folder, fileName), written.replace('id <= 10', 'id <= 7'));
    await runCommand(page, 'View: Close All Editors');
    await openFile(page, fileName);
    const review = await frameWith(page, '.lance-review');
    await review.getByRole('region', { name: 'SQL' }).getByText('where id <= 7').waitFor();
    await shoot(window, 'view-file-review');
    await switchTheme(page, 'Light Modern');
    await shoot(window, 'view-file-review-light');
    await (await frameWith(page, '.lance-review')).getByRole('button', { name: 'Show Rows', exact: true }).click();
    const frame = await panel();
    await rows(frame, 7);
    await frame.getByRole('button', { name: 'View cheap', exact: true }).waitFor();
    await shoot(window, 'view-file-rows');
    assert.equal(await line(frame).inputValue(), 'id <= 7');
  });

  test('a view file opens as text, and its schema checks it', async () => {
    const { page, folder } = window;
    writeFileSync(join(folder, 'wrong.lance-view.json'), '{\n  "lanceView": 1,\n  "tabel": "shop/products"\n}\n');
    await openFile(page, 'wrong.lance-view.json');
    const review = await frameWith(page, '.lance-review');
    await review.getByText('Line 3, column 3: tabel is not a field. Did you mean "table"?').waitFor();
    await shoot(window, 'view-file-wrong');
    await review.getByRole('button', { name: 'Open as Text' }).click();
    await page.locator('.monaco-editor .view-line', { hasText: 'tabel' }).waitFor();
    await page.locator('.monaco-editor .squiggly-warning').first().waitFor();
    await shoot(window, 'view-file-text');
  });
});
