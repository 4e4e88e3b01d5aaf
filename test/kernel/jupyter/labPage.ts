import { mkdirSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { inRoot } from '../../../scripts/paths.ts';

// How a user sees and operates JupyterLab.

/** Time limit in milliseconds for a change on the page, on a busy machine. */
export const patience = 45_000;

const panel = '.jp-NotebookPanel:not(.lm-mod-hidden)';

/** Opens a notebook by URL, and waits until its kernel is ready. */
export async function openNotebook(page: Page, address: string): Promise<void> {
  await page.goto(address, { waitUntil: 'domcontentloaded', timeout: patience });
  await page
    .locator(`${panel} .jp-Cell`)
    .first()
    .waitFor({ timeout: 2 * patience });
  await kernelIs(page, 'Idle');
}

/** Waits until the status bar shows this status of the kernel. */
export async function kernelIs(page: Page, status: 'Idle' | 'Busy'): Promise<void> {
  await page
    .locator('#jp-main-statusbar')
    .getByText(`TypeScript (Lance Catalog) | ${status}`)
    .waitFor({ timeout: 2 * patience });
}

/** Returns a cell of the active notebook, counted from 0; text cells count, too. */
export const cellAt = (page: Page, index: number): Locator => page.locator(`${panel} .jp-Cell`).nth(index);

/** Returns the outputs of a cell, without its prompts. */
export const outputs = (cell: Locator): Locator => cell.locator('.jp-OutputArea-output');

/** Puts the cursor at the end of a cell's text. */
export async function enterCell(cell: Locator): Promise<void> {
  await cell.locator('.cm-content').click();
  await cell.page().keyboard.press('Control+End');
}

/** Puts the cursor into the cell and runs it; does not wait for its end. */
export async function startCell(cell: Locator): Promise<void> {
  await enterCell(cell);
  await cell.page().keyboard.press('Control+Enter');
}

/** Runs a cell and waits for its end. */
export async function runCell(cell: Locator): Promise<void> {
  const prompt = cell.locator('.jp-InputArea-prompt').first();
  const before = await prompt.innerText();
  await startCell(cell);
  await cell.page().waitForFunction(
    ([element, was]) => {
      const now = (element as HTMLElement).innerText;
      return now !== was && /\[\d+\]/.test(now);
    },
    [await prompt.elementHandle(), before] as const,
    { timeout: patience },
  );
}

/** Clicks beside a line of a cell, counted from 1, until the debugger has set a breakpoint there. */
export async function setBreakpoint(cell: Locator, line: number): Promise<void> {
  // The first element only sets the width of the gutter.
  const beside = cell.locator('.cm-breakpoint-gutter > .cm-gutterElement').nth(line);
  await beside.click({ position: { x: 5, y: 5 } });
  await beside.locator('.cm-breakpoint-icon').waitFor();
  await cell.page().locator('.jp-DebuggerBreakpoint').waitFor();
}

/** Chooses an item of the menu bar: `chooseMenu(page, 'Settings', 'Theme', 'JupyterLab Dark')`. */
export async function chooseMenu(page: Page, bar: string, ...items: readonly string[]): Promise<void> {
  await page.locator('.lm-MenuBar-itemLabel', { hasText: new RegExp(`^${bar}$`) }).click();
  for (const item of items) {
    const label = page.locator('.lm-Menu-itemLabel', { hasText: item }).first();
    await label.hover();
    if (item === items.at(-1)) await label.click();
  }
}

/** Presses a button of the notebook's toolbar, by its name in JupyterLab. */
export async function pressButton(page: Page, name: string): Promise<void> {
  await page.locator(`${panel} .jp-NotebookPanel-toolbar [data-jp-item-name="${name}"] jp-button`).click();
}

/** Goes back by one in the history of the console, and returns its input line. */
export async function earlierLine(page: Page): Promise<string> {
  const line = page.locator('.jp-CodeConsole-promptCell .cm-content');
  await line.click();
  await page.keyboard.press('Control+Home');
  const before = await textIn(line);
  for (const end = Date.now() + patience; Date.now() < end;) {
    await page.keyboard.press('ArrowUp');
    for (let looked = 0; looked < 20; looked++) {
      const now = await textIn(line);
      if (now !== before) return now;
      await page.waitForTimeout(100);
    }
    // A new console may not have loaded its history yet; typing a character starts the search in the history again.
    await page.keyboard.type('x');
    await page.keyboard.press('Backspace');
  }
  return before;
}

/** Runs code in the open console. */
export async function runInConsole(page: Page, code: string): Promise<void> {
  await page.locator('.jp-CodeConsole-promptCell .cm-content').click();
  await page.keyboard.type(code);
  await page.keyboard.press('Shift+Enter');
}

/** Closes the console with the button on its tab. */
export async function closeConsole(page: Page): Promise<void> {
  const tab = page.locator('.lm-DockPanel-tabBar .lm-TabBar-tab', {
    has: page.locator('[data-icon="ui-components:console"]'),
  });
  await tab.locator('.lm-TabBar-tabCloseIcon').click();
  await page.locator('.jp-CodeConsole').waitFor({ state: 'detached' });
}

/** Waits until a web socket that the page opens from now on receives a text from the kernel. */
export async function frameWith(page: Page, text: string): Promise<void> {
  await new Promise<void>((resolve) => {
    page.on('websocket', (socket) =>
      socket.on('framereceived', ({ payload }) => {
        if (payload.includes(text)) resolve();
      }),
    );
  });
}

const textIn = async (editor: Locator): Promise<string> =>
  (await editor.locator('.cm-line').allInnerTexts()).map((text) => text.replace(/\n$/, '')).join('\n');

/** Runs in the page. Returns the colors of an element's text and of its background. */
export function coloursOf(element: Element): [text: string, ground: string] {
  for (let behind: Element | null = element; behind !== null; behind = behind.parentElement) {
    const ground = getComputedStyle(behind).backgroundColor;
    if (!/^(?:transparent|rgba\(.*, 0\))$/.test(ground)) return [getComputedStyle(element).color, ground];
  }
  return [getComputedStyle(element).color, 'rgb(255, 255, 255)'];
}

/** Saves a screenshot as test-results/kernel/NAME.png. */
export async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(inRoot('test-results/kernel'), { recursive: true });
  await page.screenshot({ path: inRoot('test-results/kernel', `${name}.png`) });
}
