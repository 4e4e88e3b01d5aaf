import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { shoot, type Window } from '../../harness/window.ts';
import { runCommand } from '../../harness/workbench.ts';
import {
  cellAt,
  clickToolbar,
  enterCell,
  notebookOf,
  openNotebook,
  patience,
  shows,
  waitForKernel,
} from './notebookWindow.ts';

const cells = [
  'import { join } from "node:path";\nconst folder = join("a", "b");',
  'folder.toUpperCase();\nconst orders = await db.openTable("orders", { namespacePath: ["shop", "eu"] });',
  'const wrong: string = 3;',
  '',
];
const empty = 3;

/** The pause between two keys of a user who types fast, in milliseconds. */
const keyMs = 60;

/**
 * Types a magic as a user does who does not look at the suggestions, presses Enter, and types a digit. The digit must be
 * in a new line.
 */
async function typeMagic({ page }: Window, line: string, index: number): Promise<void> {
  await page.keyboard.type(line.slice(0, 3), { delay: keyMs });
  // Enter must be tested while there are suggestions, which it could accept.
  await page.locator('.suggest-widget.visible .monaco-list-row').first().waitFor({ timeout: patience });
  await page.keyboard.type(line.slice(3), { delay: keyMs });
  await page.keyboard.press('Enter');
  await page.keyboard.type('1');
  // Wait for the digit, which is drawn a moment after it is typed.
  const lines = cellAt(page, index).locator('.view-line');
  await lines.filter({ hasText: /1$/ }).waitFor();
  const texts = await lines.allInnerTexts();
  assert.deepEqual(
    texts.map((text) => text.replaceAll('\u00a0', ' ').trimEnd()),
    [line, '1'],
  );
}

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
    const entry = widget.locator(`.monaco-list-row[aria-label^=${JSON.stringify(label)}]`);
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

  /** Accepts a suggestion with Enter, once it is the focused one: the list may still have those of fewer letters. */
  async function accept(label: string): Promise<void> {
    const entry = await suggested(label);
    await entry.and(window.page.locator('.focused')).first().waitFor({ timeout: patience });
    await window.page.keyboard.press('Enter');
  }

  /** Returns the labels of visible suggestions that match. */
  async function shown(pattern: RegExp): Promise<string[]> {
    const labels = await widget.locator('.monaco-list-row .label-name').allInnerTexts();
    return labels.filter((label) => pattern.test(label));
  }

  /** Returns the text of the last cell, without the blanks at the ends of its lines. */
  async function textOfCell(): Promise<string> {
    const lines = await cellAt(window.page, empty).locator('.view-line').allInnerTexts();
    return lines.map((line) => line.replaceAll('\u00a0', ' ').trimEnd()).join('\n');
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

  test('suggests in SQL tables of all namespaces, columns and words of SQL, and nothing of TypeScript', async () => {
    const { page } = window;
    await type('');
    await page.keyboard.insertText('%%sql\nselect * from');
    // The blank after `from` is enough to request the tables.
    await page.keyboard.type(' ');
    await suggested('shop.products');
    await suggested('"shop/eu".orders');
    assert.deepEqual(await shown(/^(?:console|folder|join|const|await|db)\b/), []);
    await shoot(window, 'typing-sql-tables');
    await page.keyboard.type('produ');
    await accept('shop.products');
    await page.keyboard.type(' p where p.pri');
    await accept('price');
    await page.keyboard.type(' > 3 and de');
    await suggested('description');
    await suggested('dense_rank');
    assert.deepEqual(await shown(/^(?:debugger|declare|decodeURI|default|delete)/), []);
    await shoot(window, 'typing-sql-columns');
    await page.keyboard.press('Escape');
    assert.match(await textOfCell(), /select \* from shop\.products p where p\.price > 3 and de$/);
  });

  for (const line of ['%%sql', '%%sql --to x', '%%time', '%%timeit'])
    test(`starts a new line when Enter is pressed after ${line}`, async () => {
      await type('');
      await typeMagic(window, line, empty);
    });

  test('suggests tables of all namespaces for a call, and writes its arguments', async () => {
    await type("await db.openTable('ord");
    await (await suggested('shop.eu.orders')).first().click();
    assert.match(await textOfCell(), /^await db\.openTable\('orders', \['shop', 'eu'\]\)?$/);
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

/** Defines a test of typing in a notebook that has not been saved, in a shared window. */
export function typingInUntitled(open: () => Window): void {
  test('starts a new line when Enter is pressed after a magic', async () => {
    const window = open();
    const { page } = window;
    await runCommand(page, 'Lance Catalog: New TypeScript Notebook');
    await waitForKernel(page);
    for (const line of ['%%sql', '%%sql --to x', '%%time']) {
      await enterCell(page, 0);
      await page.keyboard.press('Control+A');
      await page.keyboard.press('Delete');
      await typeMagic(window, line, 0);
    }
    await page.keyboard.press('Escape');
    await runCommand(page, 'View: Revert and Close Editor');
  });
}
