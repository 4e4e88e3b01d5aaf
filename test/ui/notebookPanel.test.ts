import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Frame, Page } from 'playwright-core';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { counts, endMark, notebookOf, openNotebook, patience, runCell } from './parts/notebookWindow.ts';
import { frameWith, reloadWindow, runCommand } from '../harness/workbench.ts';
import { switchTheme } from './parts/catalogWindow.ts';

const themes = {
  light: { name: 'Light Modern', kind: 'vscode-light' },
  dark: { name: 'Dark Modern', kind: 'vscode-dark' },
  contrast: { name: 'Dark High Contrast', kind: 'vscode-high-contrast' },
  paper: { name: 'Light High Contrast', kind: 'vscode-high-contrast-light' },
};

const sources = {
  numbers: `const numbers = arrow.tableFromArrays({
  id: Int32Array.from({ length: 40_000 }, (_, i) => i),
  name: Array.from({ length: 40_000 }, (_, i) => 'name ' + i),
});
numbers`,
  orders: `const orders = await db.openTable('orders', { namespacePath: ['shop', 'eu'] });
orders`,
  view: `await orders.view({ where: 'id >= 100', orderBy: { column: 'id', descending: true }, columns: ['note', 'id'] })`,
  wrong: `await orders.view({ where: 'id >' })`,
  times: `const at = new arrow.TimestampMillisecond('Asia/Tokyo');
new arrow.Table({ at: arrow.vectorFromArray([new Date('2024-05-06T07:08:09Z')], at) })`,
} as const;

type Name = keyof typeof sources;
const names = Object.keys(sources) as Name[];
const at = (name: Name): number => names.indexOf(name);

/** The panel of a table, and not an output, whose grid is in a shadow root without this element. */
const panelWith = (page: Page, selector: string): Promise<Frame> => frameWith(page, `#root ${selector}`, patience);
const inPanel = (frame: Frame) => frame.locator('#root');

const shownIds = (frame: Frame): Promise<string[]> =>
  inPanel(frame).evaluate((root) => {
    const heads = Array.from(root.querySelectorAll<HTMLElement>('.lance-header'));
    const column = heads.find((head) => head.querySelector('.lance-name')?.textContent === 'id')?.ariaColIndex;
    return Array.from(
      root.querySelectorAll('.lance-row'),
      (row) => row.querySelector<HTMLElement>(`[aria-colindex="${column}"]`)?.innerText ?? '',
    );
  });

// All tests use one window, in order, as a user works in one notebook.
suite('A notebook that opens tables in the panel', function () {
  this.timeout(2 * patience);
  let window: Window;

  suiteSetup(async () => {
    window = await openWindow(
      { 'lanceCatalog.timeZone': 'utc', 'lanceCatalog.notebook.keepKernelSeconds': 600 },
      { width: 1500, height: 1900 },
    );
    writeFileSync(join(window.folder, 'panel.ipynb'), notebookOf(names.map((name) => sources[name])));
    await openNotebook(window.page, 'panel.ipynb');
  });
  suiteTeardown(() => window?.close());

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-panel-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  const run = async (name: Name): Promise<void> => {
    await runCell(window.page, at(name));
    await endMark(window.page, at(name), 'success').waitFor({ timeout: patience });
  };
  /** Clicks the button below an output that shows a text. */
  const openOutput = async (text: string): Promise<void> => {
    const outputs = await frameWith(window.page, `.lance-output :text("${text}")`, patience);
    const output = outputs.locator('.lance-output', { hasText: text });
    await output.getByRole('button', { name: 'Open in Panel' }).click();
  };
  const tab = (title: string) => window.page.locator('.tab', { hasText: title }).waitFor({ timeout: patience });

  test('shows all rows of an output, to the last one', async () => {
    await run('numbers');
    await openOutput('of 40,000 rows');
    await tab('numbers');
    const frame = await panelWith(window.page, '[role=gridcell]:not([aria-busy])');
    await inPanel(frame).getByText('40,000 rows · 2 columns').waitFor({ timeout: patience });
    await inPanel(frame).locator('[role=grid]').focus();
    await window.page.keyboard.press('Control+End');
    await inPanel(frame).getByText('name 39999', { exact: true }).waitFor({ timeout: patience });
    await shoot(window, 'notebook-panel-rows');
  });

  test('shows a table of the catalog with all that the panel can do', async () => {
    await run('orders');
    await openOutput('shop/eu/orders');
    await tab('orders (sample)');
    const frame = await panelWith(window.page, '.lance-toolbar');
    await inPanel(frame).getByRole('combobox', { name: 'Filter' }).waitFor({ timeout: patience });
    await shoot(window, 'notebook-panel-table');
  });

  test('shows the rows, the order and the columns that a cell asks for', async () => {
    await run('view');
    const frame = await panelWith(window.page, '[role=columnheader][aria-sort=descending]');
    const line = inPanel(frame).getByRole('combobox', { name: 'Filter' });
    assert.equal(await line.inputValue(), 'id >= 100');
    const heads = await inPanel(frame).locator('.lance-header .lance-name').allInnerTexts();
    assert.deepEqual(heads, ['note', 'id']);
    await frame.waitForFunction(() => !document.querySelector('[role=gridcell][aria-busy]'));
    const ids = (await shownIds(frame)).map(Number);
    assert.ok(ids.length > 5 && ids[0]! > 100, String(ids));
    assert.deepEqual(
      ids,
      ids.toSorted((a, b) => b - a),
    );
    await shoot(window, 'notebook-panel-view');
  });

  test('shows why a filter of a cell is wrong, at the line', async () => {
    await run('wrong');
    const frame = await panelWith(window.page, '#lance-filter-problem:not([hidden])');
    const line = inPanel(frame).getByRole('combobox', { name: 'Filter' });
    assert.equal(await line.inputValue(), 'id >');
    const heads = await inPanel(frame).locator('.lance-header .lance-name').allInnerTexts();
    assert.ok(heads.includes('amount'), `columns of the table, not of the cell before: ${heads.join()}`);
    assert.match(await inPanel(frame).locator('#lance-filter-problem').innerText(), /\S{3}/);
    await shoot(window, 'notebook-panel-wrong');
  });

  test('shows times of outputs in the zone of the setting', async () => {
    await run('times');
    await frameWith(window.page, '.lance-output :text("07:08:09")', patience);
  });

  test('looks right in every theme and a narrow window', async () => {
    for (const [name, theme] of Object.entries(themes)) {
      await switchTheme(window.page, theme.name);
      // The pages of webviews get the theme a moment later.
      for (const grid of ['#root .lance-grid', '.lance-output'])
        await frameWith(window.page, `body[data-vscode-theme-kind="${theme.kind}"] ${grid}`, patience);
      await shoot(window, `notebook-panel-${name}`);
    }
    await window.page.setViewportSize({ width: 700, height: 900 });
    await shoot(window, 'notebook-panel-narrow');
    await window.page.setViewportSize({ width: 1500, height: 1900 });
  });

  test('keeps the rows of an output whose kernel has ended, and says so', async () => {
    const { page } = window;
    await runCommand(page, 'View: Focus First Editor Group');
    await runCommand(page, 'Lance Catalog: Restart Kernel');
    await openOutput('of 40,000 rows');
    await tab('Output of cell 1');
    const frame = await panelWith(page, '.lance-footer :text("of the output")');
    await inPanel(frame).getByText('Run the cell again for all 40,000').waitFor({ timeout: patience });
    await shoot(window, 'notebook-panel-held');
  });

  test('shows the rows of a kernel again after a reload of the window', async () => {
    const { page } = window;
    await run('numbers');
    await counts(page, at('numbers'), 1);
    await openOutput('of 40,000 rows');
    await tab('numbers');
    await inPanel(await panelWith(page, '.lance-grid'))
      .getByText('40,000 rows · 2 columns')
      .waitFor({ timeout: patience });
    await runCommand(page, 'File: Save');
    const file = join(window.folder, 'panel.ipynb');
    for (let tries = 0; tries < 100 && !readFileSync(file, 'utf8').includes('40000'); tries++) await sleep(200);
    assert.match(readFileSync(file, 'utf8'), /"total_rows": 40000/);
    assert.doesNotMatch(readFileSync(file, 'utf8'), /"table":/, 'the id of the kernel is not saved');
    await reloadWindow(page);
    const frame = await panelWith(page, '[role=gridcell]:not([aria-busy])');
    await inPanel(frame).getByText('40,000 rows · 2 columns').waitFor({ timeout: patience });
    await shoot(window, 'notebook-panel-reloaded');
  });
});
