import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { inRoot } from '../../scripts/paths.ts';
import { type ServeProcess, startServe } from '../contract/serve/serveProcess.ts';
import { tempFolder } from '../harness/temp.ts';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { frameWith, runCommand } from '../harness/workbench.ts';
import {
  chooseInMenu,
  expand,
  openCatalog,
  openMenu,
  scrollToTable,
  switchTheme,
  treeRow,
} from './parts/catalogWindow.ts';
import { waitForKernel } from './parts/notebookWindow.ts';

const key = 'sesame-sesame-sesame-sesame';
const cell = '[role=gridcell]';

/** Types into the box of one step after it shows `prompt`. */
async function answer(page: Page, prompt: string, text: string): Promise<void> {
  const box = page.locator('.quick-input-widget', { hasText: prompt });
  await box.waitFor({ timeout: 15_000 });
  await box.locator('input.input').fill(text);
  await page.keyboard.press('Enter');
}

const address = 'The address of the catalog server';
const apiKey = 'API key, kept in the secret storage';
const database = 'Database, if the server has several';
const headers = 'Header to send with every request';
const name = 'Name of the connection to';

// All tests use one window, in order. Each test continues where the previous test ended, as a user does.
suite('A person with nothing but an address and a key', function () {
  this.timeout(120_000);
  let window: Window;
  let server: ServeProcess;
  let catalog: string;

  suiteSetup(async () => {
    catalog = join(tempFolder('lance-company-'), 'catalog');
    cpSync(inRoot('.sample/tests'), catalog, { recursive: true });
    server = await startServe(['--root', catalog, '--api-key-env', 'LANCE_TEST_KEY'], { env: { LANCE_TEST_KEY: key } });
    window = await openWindow({ 'lanceCatalog.defaultConnections': [] });
    // Delete the directory, so that the tests can only read from the server.
    rmSync(window.catalog, { recursive: true });
  });

  suiteTeardown(async () => {
    await window?.close();
    await server?.stop();
  });

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-company-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  test('sees what to correct if the key is wrong, and keeps all typed values', async () => {
    const { page } = window;
    await openCatalog(page);
    await page.locator('.welcome-view a, .welcome-view .monaco-button', { hasText: 'Add REST Connection' }).click();
    await page.locator('.quick-input-widget', { hasText: address }).waitFor();
    await shoot(window, 'company-address');
    await answer(page, address, server.address);
    await answer(page, apiKey, 'not-the-key-not-the-key');
    await answer(page, database, '');
    await answer(page, headers, '');
    await answer(page, name, 'company');
    const dialog = page.locator('.monaco-dialog-box');
    await dialog.getByText('The connection test failed').waitFor();
    await shoot(window, 'company-wrong-key');
    await dialog.getByText('Edit…').click();
    await answer(page, apiKey, key);
    await answer(page, database, '');
    await answer(page, headers, '');
    const box = page.locator('.quick-input-widget', { hasText: name });
    await box.waitFor();
    assert.equal(await box.locator('input.input').inputValue(), 'company');
    await page.keyboard.press('Enter');
    await treeRow(page, 'Connection company').waitFor();
  });

  test('opens the catalog of a company and previews a table', async () => {
    const { page } = window;
    await expand(page, 'Connection company', 'Namespace shop', 'Table products in shop');
    await treeRow(page, 'Column').waitFor();
    await treeRow(page, 'Table products in shop').click();
    const frame = await frameWith(page, '.lance-grid');
    await frame.getByText('Lumen glass lamp').waitFor();
    await shoot(window, 'company-table');
  });

  test('queries it in a cell', async () => {
    const { page } = window;
    const row = treeRow(page, 'Table products in shop');
    await row.hover();
    await row.locator('a[aria-label^="New Notebook for This Table"]').click();
    await page.locator('.notebook-editor .code-cell-row').first().waitFor();
    await waitForKernel(page);
    await runCommand(page, 'Notebook: Run All');
    const output = await scrollToTable(page);
    await output.locator(cell).first().waitFor();
    await output.getByText('Lumen glass lamp').waitFor();
    await shoot(window, 'company-cell');
  });

  for (const [theme, kind] of [
    ['Dark 2026', 'dark'],
    ['Light 2026', 'light'],
  ] as const) {
    test(`sees it in the theme ${theme}`, async () => {
      const { page } = window;
      await switchTheme(page, theme);
      await openCatalog(page);
      await treeRow(page, 'Table products in shop').click();
      const frame = await frameWith(page, '.lance-grid');
      await frame.locator(`body.vscode-${kind}`).waitFor({ state: 'attached' });
      await frame.getByText('Lumen glass lamp').waitFor();
      await shoot(window, `company-${kind}`);
    });
  }

  test('is asked for everything in the name of a table before it is dropped', async () => {
    const { page } = window;
    await openMenu(page, treeRow(page, 'Table products in shop'), 'Drop Table…');
    await shoot(window, 'company-menu');
    await chooseInMenu(page, 'Drop Table…');
    const dialog = page.locator('.monaco-dialog-box');
    await dialog.getByText('Drop the table "shop/products"?').waitFor();
    await shoot(window, 'company-drop');
    await dialog.getByText('Cancel').click();
    await treeRow(page, 'Table products in shop').waitFor();
  });

  test('has left the key in no file: not in settings, stored state or logs', () => {
    const files = [dirname(window.folder), window.browser.folder].flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile()),
    );
    const holding = files
      .map((one) => join(one.parentPath, one.name))
      .filter((path) => readFileSync(path).includes(key));
    assert.deepEqual(holding, []);
    // The search must include the files of the server and the database of the browser, where the workbench stores state.
    assert.ok(files.some((one) => one.name === 'settings.json'));
    assert.ok(files.some((one) => one.parentPath.includes('/IndexedDB/')));
  });

  test('asks nothing of the network but the server, which the browser does not see', () => {
    assert.deepEqual([...window.browser.blocked], []);
  });
});
