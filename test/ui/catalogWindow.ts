import type { Frame, Locator, Page } from 'playwright-core';
import { frameWith, runCommand } from '../harness/workbench.ts';

const menuMs = 5000;
const menuTries = 3;

/** A row of the catalog tree by its accessible name, such as "Table orders in shop/eu". */
export function treeRow(page: Page, label: string): Locator {
  return page.locator(`.pane-body .monaco-list-row[aria-label^="${label}"]`).first();
}

/** Opens the catalog view. */
export async function openCatalog(page: Page): Promise<void> {
  const icon = page.locator('.activitybar .action-item', { has: page.locator('a[aria-label^="Lance Catalog"]') });
  await icon.waitFor({ timeout: 60_000 });
  // A click on the icon of the open view would close it.
  if (!(await icon.evaluate((item) => item.classList.contains('checked')))) await icon.click();
}

/** Expands each row in turn, and waits for the next one. */
export async function expand(page: Page, ...labels: readonly string[]): Promise<void> {
  for (const label of labels) {
    const row = treeRow(page, label);
    await row.waitFor({ timeout: 60_000 });
    if ((await row.getAttribute('aria-expanded')) === 'false') await row.locator('.monaco-tl-twistie').click();
  }
}

/** Collapses a row: what comes after it may have to be scrolled to where three views share the height of a window. */
export async function collapse(page: Page, label: string): Promise<void> {
  const row = treeRow(page, label);
  await row.locator('.monaco-tl-twistie').click();
  await row.and(page.locator('[aria-expanded="false"]')).waitFor();
}

/**
 * Switches the colour theme by the palette, as the settings file is not watched reliably. It begins anew where the list
 * goes away under its hands, as `runCommand` does, and for the same reason.
 */
export async function switchTheme(page: Page, name: string): Promise<void> {
  const input = page.locator('.quick-input-widget input.input[placeholder*="Theme"]');
  // The first row, until the themes are read, offers to search a marketplace.
  const row = page.locator(`.quick-input-list .monaco-list-row.focused[aria-label^="${name}"]`);
  for (let attempt = 1; ; attempt++) {
    try {
      await runCommand(page, 'Preferences: Color Theme');
      await input.fill(name, { timeout: 10_000 });
      await row.waitFor({ timeout: 20_000 });
      await page.keyboard.press('Enter');
      await page.locator('.quick-input-widget').waitFor({ state: 'hidden', timeout: 10_000 });
      return;
    } catch (error) {
      if (attempt === 4) throw error;
      await page.keyboard.press('Escape');
    }
  }
}

/**
 * Opens the context menu of a row, and waits for an entry of it. A menu closes when anything else takes the focus, a
 * notification that comes at that moment for instance: then it is opened again, as anybody would.
 */
export async function openMenu(page: Page, row: Locator, entry: string): Promise<void> {
  const item = page.locator('.monaco-menu .action-item', { hasText: entry });
  for (let tries = 1; ; tries++) {
    await row.click({ button: 'right' });
    try {
      return await item.waitFor({ timeout: menuMs });
    } catch (error) {
      if (tries >= menuTries) throw error;
    }
  }
}

/** Chooses from the menu that is open. By the keyboard: a menu takes no click for a moment after it opened. */
export async function chooseInMenu(page: Page, label: string): Promise<void> {
  const item = page.locator('.monaco-menu .action-item', { hasText: label });
  await item.hover();
  await item.and(page.locator('.focused')).waitFor();
  await page.keyboard.press('Enter');
  await item.waitFor({ state: 'hidden' });
}

/** Opens a file of the opened folder. */
export async function openFile(page: Page, name: string): Promise<void> {
  await runCommand(page, 'View: Show Explorer');
  await page.locator('.explorer-folders-view .monaco-list-row', { hasText: name }).dblclick();
}

/**
 * Scrolls the notebook down until one of its outputs is a table that holds `selector` and stands in the middle of the
 * window: outputs are drawn only when they come near.
 */
export async function scrollToTable(page: Page, selector = '.lance-grid', limit = 60_000): Promise<Frame> {
  const notebook = await page.locator('.notebook-editor .cell-list-container').first().boundingBox();
  if (!notebook) throw new Error('No notebook is open.');
  await page.mouse.move(notebook.x + notebook.width / 2, notebook.y + notebook.height - 20);
  const deadline = Date.now() + limit;
  let step = 150;
  for (let looked = 1; ; looked++) {
    const frame = await frameWith(page, selector, 300).catch(() => undefined);
    const tables =
      (await frame
        ?.locator('.lance-output')
        .filter({ has: frame.locator(selector) })
        .all()) ?? [];
    for (const table of tables) {
      const box = await table.boundingBox();
      const isBelow = box !== null && box.y > notebook.y;
      const isAbove = box !== null && box.y + box.height < notebook.y + notebook.height;
      if (frame && isBelow && isAbove) return frame;
      // It may be drawn only once it was passed by.
      if (box !== null) step = isBelow ? 150 : -150;
    }
    if (Date.now() > deadline) throw new Error(`No output of the notebook shows ${selector} after ${limit / 1000} s.`);
    if (tables.length === 0 && looked % 60 === 0) step = -step;
    await page.mouse.wheel(0, step);
  }
}
