import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { frameWith, runCommand } from '../harness/workbench.ts';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { colours, contrast } from './parts/contrast.ts';
import { collapse, expand, openCatalog, openFile, scrollToTable, switchTheme, treeRow } from './parts/catalogWindow.ts';
import { waitForKernel } from './parts/notebookWindow.ts';

const rows = 1_000_000;
const cell = '[role=gridcell]';

// All tests use one window, in order. Each test continues where the previous test ended, as a user does.
suite('A window with the packaged extension', function () {
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

  test('opens the tree down to a table in a nested namespace, and to its columns', async () => {
    const { page } = window;
    await openCatalog(page);
    await expand(page, 'Connection sample', 'Namespace shop', 'Namespace eu', 'Table orders in shop/eu');
    await treeRow(page, 'Column amount').waitFor();
    await shoot(window, 'tree');
    await collapse(page, 'Table orders in shop/eu');
  });

  test('shows the rows of a table', async () => {
    const { page } = window;
    await treeRow(page, 'Table orders in shop/eu').click();
    const frame = await frameWith(page, '.lance-grid');
    await frame.locator(cell).first().waitFor();
    assert.match(await frame.locator('.lance-toolbar-count').innerText(), /1,000,000/);
    await shoot(window, 'table-first-rows');
  });

  test('scrolls to the last of a million rows', async () => {
    const frame = await frameWith(window.page, '.lance-grid');
    await frame.locator('[role=grid]').evaluate((scroller) => (scroller.scrollTop = scroller.scrollHeight));
    // The header has the row index 1, so the last row has the index `rows + 1`. The ids of the sample start at 1.
    const last = frame.locator(`[aria-rowindex="${rows + 1}"]`).first();
    await last.getByText(String(rows)).first().waitFor({ timeout: 30_000 });
    await shoot(window, 'table-last-row');
  });

  test('draws pictures and vectors of a table', async () => {
    const { page } = window;
    await treeRow(page, 'Table products in shop').click();
    const drawn = '.lance-image:not(.lance-decoding)';
    const frame = await frameWith(page, drawn);
    const width = await frame
      .locator(drawn)
      .first()
      .evaluate((image: HTMLCanvasElement) => image.width);
    assert.ok(width > 1, 'the picture is decoded');
    await shoot(window, 'table-pictures');
  });

  test('runs the tour from its first to its last cell and shows rows', async () => {
    const { page } = window;
    await openFile(page, 'tour.ipynb');
    await page.locator('.notebook-editor .code-cell-row').first().waitFor();
    await waitForKernel(page);
    await runCommand(page, 'Notebook: Run All');
    await savedTour(window, (cells) => cells.every((each) => each.execution_count !== null));
    const failed = tour(window).filter((each) => each.outputs.some((one) => one.output_type === 'error'));
    assert.deepEqual(
      failed.map((each) => each.source),
      [],
    );
    const output = await scrollToTable(page, '.lance-image');
    await output.locator(cell).first().waitFor();
    await shoot(window, 'tour');
    // The tour starts the first job, and the output of the job may be out of sight.
    await openCatalog(page);
    await page.locator('.pane-header', { hasText: 'Jobs' }).waitFor();
  });

  test('shows the tables of a saved notebook when it is opened again', async () => {
    const { page } = window;
    assert.ok(
      tour(window).some((each) =>
        each.outputs.some((one) => one.data?.['application/vnd.apache.arrow.stream'] !== undefined),
      ),
      'the saved file holds a table',
    );
    await runCommand(page, 'View: Close All Editors');
    await openFile(page, 'tour.ipynb');
    const output = await scrollToTable(page);
    await output.locator(cell).first().waitFor();
    await shoot(window, 'tour-reopened');
  });

  for (const [theme, kind, name] of [
    ['Dark 2026', 'vscode-dark', 'dark'],
    ['Dark High Contrast', 'vscode-high-contrast', 'high-contrast'],
    ['Light 2026', 'vscode-light', 'light'],
  ] as const) {
    test(`is readable in the theme ${theme}`, async () => {
      const { page } = window;
      await switchTheme(page, theme);
      await openCatalog(page);
      await treeRow(page, 'Table products in shop').click();
      const frame = await frameWith(page, '.lance-grid');
      await frame.locator(`body.${kind}`).waitFor({ state: 'attached' });
      // The first page is loaded when this value of the second row is visible.
      const [text, ground] = await frame.getByText('Lumen glass lamp').evaluate(colours);
      assert.ok(contrast(text, ground) >= 4.5, `${text} on ${ground}`);
      await shoot(window, `theme-${name}`);
    });
  }

  test('asks nothing of the network', () => {
    assert.deepEqual([...window.browser.blocked], []);
  });
});

type Output = { output_type: string; data?: Record<string, unknown> };
type Cell = { source: string[]; execution_count: number | null; outputs: Output[] };

/** Returns the code cells of the saved notebook. */
function tour(window: Window): Cell[] {
  const file = JSON.parse(readFileSync(join(window.folder, 'tour.ipynb'), 'utf8')) as {
    cells: (Cell & { cell_type: string })[];
  };
  return file.cells.filter((each) => each.cell_type === 'code');
}

/** Saves repeatedly until the saved file is as expected. */
async function savedTour(window: Window, isDone: (cells: Cell[]) => boolean): Promise<void> {
  const deadline = Date.now() + 90_000;
  for (;;) {
    await window.page.keyboard.press('Control+S');
    await window.page.waitForTimeout(1000);
    try {
      if (isDone(tour(window))) return;
    } catch (error) {
      // The file is being written.
      if (!(error instanceof SyntaxError)) throw error;
    }
    assert.ok(Date.now() < deadline, 'all cells have run within 90 s');
  }
}
