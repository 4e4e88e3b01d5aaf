import type { Frame, Locator, Page } from 'playwright-core';
import { frameWith, runCommand } from '../harness/workbench.ts';

/** A row of the catalog tree by its accessible name, such as "Table orders in shop/eu". */
export function treeRow(page: Page, label: string): Locator {
  return page.locator(`.pane-body .monaco-list-row[aria-label^="${label}"]`).first();
}

/** Opens the catalog view. */
export async function openCatalog(page: Page): Promise<void> {
  const icon = page.locator('.activitybar .action-item a[aria-label^="Lance Catalog"]');
  await icon.waitFor({ timeout: 60_000 });
  // A click on the icon of the open view would close it.
  if ((await icon.getAttribute('aria-expanded')) !== 'true') await icon.click();
}

/** Expands each row in turn, and waits for the next one. */
export async function expand(page: Page, ...labels: readonly string[]): Promise<void> {
  for (const label of labels) {
    const row = treeRow(page, label);
    await row.waitFor({ timeout: 60_000 });
    if ((await row.getAttribute('aria-expanded')) === 'false') await row.locator('.monaco-tl-twistie').click();
  }
}

/** Opens a file of the opened folder. */
export async function openFile(page: Page, name: string): Promise<void> {
  await runCommand(page, 'View: Show Explorer');
  await page.locator('.explorer-folders-view .monaco-list-row', { hasText: name }).dblclick();
}

/** Scrolls the notebook down until one of its outputs is a table: outputs are drawn when they come into view. */
export async function scrollToTable(page: Page, limit = 60_000): Promise<Frame> {
  const box = await page.locator('.notebook-editor .cell-list-container').first().boundingBox();
  if (!box) throw new Error('No notebook is open.');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height - 20);
  const deadline = Date.now() + limit;
  for (;;) {
    const table = await frameWith(page, '.lance-grid', 1000).catch(() => undefined);
    if (table) return table;
    if (Date.now() > deadline) throw new Error(`No output of the notebook is a table after ${limit / 1000} s.`);
    await page.mouse.wheel(0, 300);
  }
}
