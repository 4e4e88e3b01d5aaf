import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { shoot, type Window } from '../../harness/window.ts';
import { runCommand } from '../../harness/workbench.ts';
import { cellAt, clickToolbar, enterCell, notebookOf, openNotebook, patience, shows } from './notebookWindow.ts';

const cells = [
  'import { join } from "node:path";\nconst folder = join("a", "b");',
  'folder.toUpperCase();\nconst orders = await db.openTable("orders", { namespacePath: ["shop", "eu"] });',
  'const wrong: string = 3;',
  '',
];
const empty = 3;

/**
 * Defines the tests of typing in a notebook in which no cell has run, in a shared window. They need the packaged
 * extension, because TypeScript must find the plugin in it.
 */
export function typingInCells(open: () => Window): void {
  let window: Window;
  let widget: Locator;

  suiteSetup(async () => {
    window = open();
    widget = window.page.locator('.suggest-widget.visible');
    writeFileSync(join(window.folder, 'typing.ipynb'), notebookOf(cells));
    await openNotebook(window.page, 'typing.ipynb');
  });

  suiteTeardown(async () => {
    await window.page.keyboard.press('Escape');
    await runCommand(window.page, 'View: Revert and Close Editor');
    await cellAt(window.page, 0).waitFor({ state: 'detached' });
  });

  /** Replaces the text of the last cell by typing. */
  async function type(text: string): Promise<void> {
    const { page } = window;
    await page.keyboard.press('Escape');
    await enterCell(page, empty);
    await page.keyboard.press('Control+A');
    await page.keyboard.type(text);
  }

  /** Waits for a suggestion, and requests it with the keyboard if VS Code shows none. */
  async function suggested(label: string): Promise<Locator> {
    const entry = widget.locator(`.monaco-list-row[aria-label^="${label}"]`);
    for (const end = Date.now() + patience; ;) {
      try {
        await entry.first().waitFor({ timeout: patience / 6 });
        return entry;
      } catch (error) {
        if (Date.now() > end) throw error;
        if ((await widget.count()) === 0) await window.page.keyboard.press('Control+Space');
      }
    }
  }

  test('shows an error where it is, once, and nowhere else', async () => {
    const { page } = window;
    const squiggles = (index: number): Locator => cellAt(page, index).locator('.squiggly-error');
    await squiggles(2).first().waitFor({ timeout: patience });
    for (const index of [0, 1]) assert.equal(await squiggles(index).count(), 0);
    // The number of errors and warnings in the whole window.
    await page.locator('#status\\.problems', { hasText: /^\D*1\D+0\D*$/ }).waitFor({ timeout: patience });
  });

  test('suggests members of db, each once, with what is written about them', async () => {
    await type('db.openTab');
    assert.equal(await (await suggested('openTable')).count(), 1);
    await shoot(window, 'typing-members');
  });

  test('suggests the tables of the catalog', async () => {
    const { page } = window;
    const code = `db.openTable('', { namespacePath: ['shop', 'eu'] })`;
    await type('');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText(code);
    await page.keyboard.press('Home');
    for (let i = 0; i <= code.indexOf(`'`); i++) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Control+Space');
    assert.equal(await (await suggested('orders')).count(), 1);
    await shoot(window, 'typing-tables');
  });

  test('suggests columns of a table that another cell opened, and greys out no name of the cells above', async () => {
    const { page } = window;
    await type(`orders.query().where('`);
    await suggested('amount');
    await shoot(window, 'typing-columns');
    await page.keyboard.press('Escape');
    // VS Code's own TypeScript has checked the cells by now. If it was not muted, it would report names as unused that
    // only another cell uses.
    assert.equal(await page.locator('.notebook-editor .squiggly-inline-unnecessary').count(), 0);
  });

  test('says which catalog db is, and lets the person choose it in the toolbar', async () => {
    const { page } = window;
    await page.locator('.statusbar-item', { hasText: 'db: sample' }).waitFor();
    await clickToolbar(page, 'Choose Catalog');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'sample' }).first().waitFor();
    await shoot(window, 'typing-catalog');
    await page.keyboard.press('Escape');
  });

  test('runs a cell by Ctrl+Enter, and puts no line into it', async () => {
    await type('6 * 7');
    await window.page.keyboard.press('Control+Enter');
    await shows(window.page, '42');
    assert.equal(await cellAt(window.page, empty).locator('.view-line').count(), 1);
  });
}
