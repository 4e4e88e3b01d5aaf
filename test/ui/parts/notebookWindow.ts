import type { Frame, Locator, Page } from 'playwright-core';
import { frameWith, runCommand } from '../../harness/workbench.ts';
import { openFile } from './catalogWindow.ts';

// How a user sees and operates a notebook: rows, run buttons, keys, and the outputs below cells.

/** Time limit for the start of a kernel or a window on a busy machine. */
export const patience = 120_000;

/** Returns the text of an .ipynb file with these cells for our kernel. */
export function notebookOf(sources: readonly string[], connection?: string): string {
  return JSON.stringify({
    cells: sources.map((source, index) => ({
      cell_type: 'code',
      execution_count: null,
      id: `c${index}`,
      metadata: {},
      outputs: [],
      source,
    })),
    metadata: {
      kernelspec: { name: 'lance-typescript', display_name: 'Lance TypeScript', language: 'typescript' },
      language_info: { name: 'typescript' },
      ...(connection !== undefined && { lanceCatalog: { connection } }),
    },
    nbformat: 4,
    nbformat_minor: 5,
  });
}

/** Opens a notebook of the window's folder. A new window may show it as text until it has loaded notebooks. */
export async function openNotebook(page: Page, name: string): Promise<void> {
  const asText = page.locator(`.editor-instance > .monaco-editor[data-uri$="/${name}"]`);
  for (let attempt = 1; ; attempt++) {
    await openFile(page, name);
    await cellAt(page, 0).or(asText).first().waitFor({ timeout: patience });
    if (!(await asText.isVisible())) return waitForKernel(page);
    if (attempt === 5) throw new Error(`${name} is shown as text.`);
    await runCommand(page, 'View: Close All Editors');
  }
}

/** Returns the row of a cell by its number from 0, because the order of rows in the page differs from the notebook. */
export const cellAt = (page: Page, index: number): Locator =>
  page.locator(`.notebook-editor .cell-list-container .monaco-list-row.code-cell-row[data-index="${index}"]`);

/**
 * Waits until the visible notebook has its kernel. Until the extension has loaded, VS Code does not run a cell but asks
 * which kernel to use.
 */
export const waitForKernel = (page: Page): Promise<void> =>
  page.locator('.kernel-label:visible', { hasText: 'Lance TypeScript' }).first().waitFor({ timeout: patience });

/** Puts the cursor into a cell with a click. */
export async function enterCell(page: Page, index: number): Promise<void> {
  const row = cellAt(page, index);
  await row.scrollIntoViewIfNeeded();
  await row.locator('.cell-editor-part .view-lines').click();
  await row.locator('.monaco-editor.focused').waitFor();
}

/** Runs a cell with its run button, which exists only under the pointer. */
export async function runCell(page: Page, index: number): Promise<void> {
  const row = cellAt(page, index);
  await row.scrollIntoViewIfNeeded();
  await row.locator('.cell-editor-part .view-lines').hover();
  await row.locator('.run-button-container a.codicon-notebook-execute').first().click();
}

/** Waits until a cell shows its execution count, which it does when it starts. */
export const counts = (page: Page, index: number, count: number): Promise<void> =>
  cellAt(page, index)
    .locator('.execution-count-label', { hasText: `[${count}]` })
    .waitFor({ timeout: patience });

/** Returns the icon of a cell that succeeded or failed. */
export const endMark = (page: Page, index: number, end: 'success' | 'error'): Locator =>
  cellAt(page, index).locator(`.cell-status-item .codicon-notebook-state-${end}`);

/** Waits until an output of the notebook shows a text. */
export const shows = (page: Page, text: string): Promise<Frame> => frameWith(page, `text=${text}`, patience);

/** Clicks an action of the notebook's toolbar by the start of its label. */
export const clickToolbar = (page: Page, label: string): Promise<void> =>
  page.locator(`.notebook-toolbar-container .action-item a[aria-label^="${label}"]`).first().click();
