import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { chooseInMenu, switchTheme } from './parts/catalogWindow.ts';
import { cellAt, endMark, enterCell, notebookOf, openNotebook, patience, shows } from './parts/notebookWindow.ts';

const sources = [
  'function twice(x: number): number {\n  const result = x * 2;\n  return result;\n}',
  "let total = 0;\nfor (const n of [20, 1]) {\n  total += twice(n);\n}\nconsole.log('sum', total);",
];

// All tests use one window, in order, as a user works in one notebook.
suite('Debugging a cell in a window', function () {
  this.timeout(2 * patience);
  let window: Window;

  suiteSetup(async () => {
    window = await openWindow();
    writeFileSync(join(window.folder, 'debug.ipynb'), notebookOf(sources));
    await openNotebook(window.page, 'debug.ipynb');
  });

  suiteTeardown(() => window?.close());

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  const line = (cell: number, text: string): Locator =>
    cellAt(window.page, cell).locator('.view-line', { hasText: text }).first();

  /** Clicks left of a line, where breakpoints are. */
  async function clickBeside(cell: number, text: string): Promise<void> {
    // After scrolling or a step, the element may be replaced while the test reads it.
    for (const end = Date.now() + patience; ;) {
      await line(cell, text).waitFor({ timeout: patience });
      const editor = await cellAt(window.page, cell).locator('.cell-editor-part .monaco-editor').first().boundingBox();
      const box = await line(cell, text).boundingBox();
      if (editor && box) return window.page.mouse.click(editor.x + 8, box.y + box.height / 2);
      assert.ok(Date.now() < end, `the line with "${text}" is drawn`);
    }
  }

  /** Returns the mark of the line at which execution is paused. */
  const mark = (cell: number): Locator => cellAt(window.page, cell).locator('.debug-top-stack-frame-line').first();
  const debugRow = (label: string): Locator =>
    window.page.locator(`.pane-body .monaco-list-row[aria-label^="${label}"]`);
  const toolbar = (label: string): Locator => window.page.locator(`.debug-toolbar a[aria-label^="${label}"]`);

  /** Uses the menu beside the run button of a cell. */
  async function debugCell(cell: number): Promise<void> {
    await enterCell(window.page, cell);
    await cellAt(window.page, cell).locator('.run-button-container .dropdown-action-container a').click();
    await chooseInMenu(window.page, 'Debug Cell');
  }

  test('offers to debug a cell of a notebook in which nothing ran yet', async () => {
    const { page } = window;
    await debugCell(0);
    await endMark(page, 0, 'success').waitFor({ timeout: patience });
    await page.locator('.debug-toolbar').waitFor({ state: 'hidden', timeout: patience });
  });

  test('stops at a breakpoint that was set beside a line, and marks the line', async () => {
    const { page } = window;
    await clickBeside(0, 'return');
    await cellAt(page, 0).locator('.codicon-debug-breakpoint').first().waitFor({ timeout: patience });
    await debugCell(1);
    await mark(0).waitFor({ timeout: patience });
    await shoot(window, 'debug-stopped');
  });

  test('shows the stack by its cells, and the variables by their names', async () => {
    await debugRow('Stack Frame twice, line 3, debug.ipynb, cell 1').waitFor({ timeout: patience });
    await debugRow('Stack Frame cell [2], line 3, debug.ipynb, cell 2').waitFor();
    const local = debugRow('Scope Local');
    if ((await local.getAttribute('aria-expanded')) === 'false') await local.locator('.monaco-tl-twistie').click();
    await debugRow('result, value 40').waitFor({ timeout: patience });
    await debugRow('x, value 20').waitFor();
  });

  for (const [theme, name] of [
    ['Light 2026', 'light'],
    ['Dark 2026', 'dark'],
  ] as const) {
    test(`marks the line in the theme ${theme}`, async () => {
      await switchTheme(window.page, theme);
      await window.page.locator(`.monaco-workbench.${name === 'dark' ? 'vs-dark' : 'vs'}`).waitFor();
      await mark(0).waitFor({ timeout: patience });
      await shoot(window, `debug-${name}`);
    });
  }

  test('steps out to the line of the other cell', async () => {
    await toolbar('Step Out').click();
    await mark(1).waitFor({ timeout: patience });
    await mark(0).waitFor({ state: 'hidden', timeout: patience });
  });

  test('runs to the end of the cell when the breakpoint is gone, and debugs no more', async () => {
    const { page } = window;
    await clickBeside(0, 'return');
    await cellAt(page, 0)
      .locator('.codicon-debug-breakpoint')
      .first()
      .waitFor({ state: 'detached', timeout: patience });
    await toolbar('Continue').click();
    await shows(page, 'sum 42');
    await page.locator('.debug-toolbar').waitFor({ state: 'hidden', timeout: patience });
    await mark(1).waitFor({ state: 'detached', timeout: patience });
    await shoot(window, 'debug-ended');
  });
});
