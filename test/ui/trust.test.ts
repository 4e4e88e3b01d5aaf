import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { runCommand } from '../harness/workbench.ts';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { expand, openCatalog, openFile, scrollToTable, treeRow } from './parts/catalogWindow.ts';

suite('A window that asks for trust', function () {
  this.timeout(120_000);
  let window: Window;

  suiteSetup(async () => {
    window = await openWindow({
      'security.workspace.trust.enabled': true,
      'security.workspace.trust.startupPrompt': 'never',
    });
  });

  suiteTeardown(() => window?.close());

  test('shows the catalogs of the person while the folder is not trusted', async () => {
    const { page } = window;
    await page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor();
    await openCatalog(page);
    await expand(page, 'Connection sample', 'Namespace shop');
    await treeRow(page, 'Table products in shop').waitFor();
    await shoot(window, 'restricted');
    assert.equal(await page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).count(), 1);
  });

  test('asks no cluster before the person has trusted the folder', async () => {
    const { page } = window;
    assert.equal(await page.locator('.pane-header', { hasText: 'Cluster Checks' }).count(), 0);
    assert.deepEqual(await offered(page, 'Lance Catalog: Verify Cluster Identity'), []);
  });

  test('offers no backfill before the person has trusted the folder, but to add a connection', async () => {
    const { page } = window;
    assert.deepEqual(await offered(page, 'Lance Catalog: Backfill Column'), []);
    assert.deepEqual(await offered(page, 'Lance Catalog: Launch Backfill from File'), []);
    assert.equal((await offered(page, 'Lance Catalog: Add Directory')).length, 1);
  });

  test('offers to run no SQL before the person has trusted the folder', async () => {
    const { page } = window;
    writeFileSync(join(window.folder, 'first.sql'), 'select 1 as one;\n');
    await openFile(page, 'first.sql');
    const status = page.locator('.statusbar-item', { hasText: /^\s*Lance:/ });
    await status.filter({ hasText: 'Choose Connection' }).click();
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'sample' }).click();
    await status.filter({ hasText: 'Lance: sample' }).waitFor();
    for (const title of ['Run SQL', 'Run All SQL in File', 'Explain SQL'])
      assert.deepEqual(await offered(page, `Lance Catalog: ${title}`), [], title);
    assert.equal(await page.locator('.codelens-decoration', { hasText: 'Run' }).count(), 0);
    await shoot(window, 'restricted-sql');
    await runCommand(page, 'View: Close All Editors');
  });

  test('runs no cell before the person has trusted the folder', async () => {
    const { page } = window;
    await openFile(page, 'tour.ipynb');
    await page.locator('.notebook-editor .code-cell-row').first().waitFor();
    assert.deepEqual(await offered(page, 'Lance Catalog: Debug Cell'), []);
    await runCommand(page, 'Notebook: Run All');
    const trust = page.locator('.monaco-dialog-box .monaco-button', { hasText: 'Trust Folder & Continue' });
    await trust.waitFor();
    assert.equal(
      await page.locator('.notebook-editor .cell-output-container, .notebook-editor .output-inner-container').count(),
      0,
    );
    await trust.click();
    await scrollToTable(page);
    for (const title of ['Lance Catalog: Backfill Column', 'Lance Catalog: Debug Cell'])
      assert.equal((await offered(page, title)).length, 1, title);
    await openFile(page, 'first.sql');
    await page.locator('.codelens-decoration', { hasText: 'Run' }).first().waitFor();
    assert.equal((await offered(page, 'Lance Catalog: Run SQL')).length, 1);
  });
});

/** Returns the titles of commands in the palette that contain a text. */
async function offered(page: Page, text: string): Promise<string[]> {
  await page.keyboard.press('F1');
  await page.locator('.quick-input-widget input.input').fill(`>${text}`);
  const rows = page.locator('.quick-input-list .monaco-list-row');
  // If no title contains the text, the list has a row that says so, or similar titles.
  await rows.first().waitFor();
  const titles = await rows.allInnerTexts();
  await page.keyboard.press('Escape');
  await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
  return titles.filter((title) => title.includes(text));
}
