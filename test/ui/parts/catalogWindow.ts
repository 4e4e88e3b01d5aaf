import type { Frame, Locator, Page } from 'playwright-core';
import { frameWith, runCommand } from '../../harness/workbench.ts';

const menuMs = 5000;
const menuTries = 3;
const openingMs = 15_000;
const openingTries = 4;

/** Returns a row of the catalog tree by its accessible name, such as "Table orders in shop/eu". */
export function treeRow(page: Page, label: string): Locator {
  return page.locator(`.pane-body .monaco-list-row[aria-label^="${label}"]`).first();
}

/** Opens the catalog view. */
export async function openCatalog(page: Page): Promise<void> {
  const icon = page.locator('.activitybar .action-item', { has: page.locator('a[aria-label^="Lance Catalog"]') });
  const view = page.locator('[id="workbench.view.extension.lanceCatalog"]');
  await icon.waitFor({ timeout: 60_000 });
  // A click on the icon of the open view closes the view, and a window that has just loaded opens its view some time
  // after its icons. So look again after each click.
  for (let attempt = 1; attempt <= openingTries; attempt++) {
    if (!(await icon.evaluate((item) => item.classList.contains('checked')))) await icon.click();
    try {
      return await view.waitFor({ timeout: openingMs });
    } catch (error) {
      if (attempt === openingTries) throw error;
    }
  }
}

/** Expands each row in turn, and waits for the next one. */
export async function expand(page: Page, ...labels: readonly string[]): Promise<void> {
  for (const label of labels) {
    const row = treeRow(page, label);
    await row.waitFor({ timeout: 60_000 });
    if ((await row.getAttribute('aria-expanded')) === 'false') await row.locator('.monaco-tl-twistie').click();
  }
}

/** Collapses a row, because rows below it may be out of sight if three views share the height of a window. */
export async function collapse(page: Page, label: string): Promise<void> {
  const row = treeRow(page, label);
  await row.locator('.monaco-tl-twistie').click();
  await row.and(page.locator('[aria-expanded="false"]')).waitFor();
}

/**
 * Switches the color theme with the palette, because the settings file is not watched reliably. Tries again if the list
 * closes, as `runCommand` does.
 */
export async function switchTheme(page: Page, name: string): Promise<void> {
  const input = page.locator('.quick-input-widget input.input[placeholder*="Theme"]');
  // Wait for the row of the theme. Until the themes are loaded, the first row offers to search a marketplace.
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
 * Opens the context menu of a row, and waits for an entry. A menu closes if something else takes the focus, for example
 * a notification. Then this function opens it again.
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

/** Chooses an entry of the open menu with the keyboard, because a menu ignores clicks for a moment after it opens. */
export async function chooseInMenu(page: Page, label: string): Promise<void> {
  const item = page.locator('.monaco-menu .action-item', { hasText: label });
  await item.hover();
  await item.and(page.locator('.focused')).waitFor();
  await page.keyboard.press('Enter');
  await item.waitFor({ state: 'hidden' });
}

/** How long a change of the folder may take to be shown, milliseconds. */
const watcherMs = 5_000;

/** Opens a file of the opened folder. */
export async function openFile(page: Page, name: string): Promise<void> {
  await runCommand(page, 'View: Show Explorer');
  const row = page.locator('.explorer-folders-view .monaco-list-row', { hasText: name });
  try {
    await row.waitFor({ timeout: watcherMs });
    await row.dblclick();
  } catch {
    // A new window misses a file that was written after it listed the folder and before it watches the folder. "Go to
    // File" looks on the disk.
    await page.keyboard.press('F1');
    await page.locator('.quick-input-widget input.input').fill(name);
    await page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first().click();
  }
}

/**
 * Scrolls the notebook down until a table output that contains `selector` is in the middle of the window. Outputs are
 * drawn only when they are near.
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
      // The table may be drawn only after the window has scrolled past it.
      if (box !== null) step = isBelow ? 150 : -150;
    }
    if (Date.now() > deadline) throw new Error(`No output of the notebook shows ${selector} after ${limit / 1000} s.`);
    if (tables.length === 0 && looked % 60 === 0) step = -step;
    await page.mouse.wheel(0, step);
  }
}
