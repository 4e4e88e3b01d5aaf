import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { frameWith, reloadWindow, runCommand } from '../harness/workbench.ts';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { RayDashboardStandIn } from '../cluster/standIns/rayDashboardStandIn.ts';
import { chooseInMenu, expand, openCatalog, openFile, openMenu, switchTheme, treeRow } from './parts/catalogWindow.ts';

const patience = 90_000;

const box = (page: Page): Locator => page.locator('.quick-input-widget input.input');
const titled = (page: Page, title: string): Locator => page.locator('.quick-input-title', { hasText: title });

// All tests use one window, in order. Each test continues where the previous test ended, as a user does.
suite('A window that backfills a column', function () {
  this.timeout(180_000);
  let window: Window;

  suiteSetup(async () => {
    window = await openWindow({}, { width: 1400, height: 1000 });
  });

  suiteTeardown(() => window?.close());

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  const pane = (): Locator =>
    window.page.locator('.pane', { has: window.page.locator('.pane-header[aria-label^="Jobs"]') });
  /** Picks from the open list with the keyboard. */
  async function pick(title: string, label: string): Promise<void> {
    const { page } = window;
    await titled(page, title).waitFor({ timeout: patience });
    await box(page).fill(label);
    await page.locator('.quick-input-list .monaco-list-row.focused', { hasText: label }).waitFor();
    await page.keyboard.press('Enter');
  }

  test('says what the view is for before there is a job', async () => {
    const { page } = window;
    await openCatalog(page);
    await treeRow(page, 'Connection sample').waitFor({ timeout: patience });
    assert.equal(await pane().count(), 0, 'the catalog has the room until there are jobs');
    await runCommand(page, 'Lance Catalog: Show Jobs');
    await pane().locator('.monaco-button', { hasText: 'Backfill Column…' }).waitFor();
    await shoot(window, 'jobs-welcome');
  });

  test('leads from a table to a plan, step by step, by the keyboard', async () => {
    const { page } = window;
    await expand(page, 'Connection sample', 'Namespace shop');
    await treeRow(page, 'Table products in shop').click();
    await frameWith(page, '.lance-grid', patience);
    await openMenu(page, treeRow(page, 'Table products in shop'), 'Backfill Column…');
    await chooseInMenu(page, 'Backfill Column…');
    await pick('Select the column of', 'New Column…');
    await titled(page, 'New column of').waitFor();
    await box(page).fill('rounded');
    await page.keyboard.press('Enter');
    await pick('Select the function that computes "rounded"', 'SQL Expression…');
    await titled(page, 'SQL expression for "rounded"').waitFor();
    await box(page).fill('round(prise)');
    await page.locator('.quick-input-message', { hasText: 'prise' }).waitFor({ timeout: patience });
    await shoot(window, 'jobs-sql-wrong');
    await box(page).fill('round(price)');
    await page.locator('.quick-input-message', { hasText: 'Reads price.' }).waitFor({ timeout: patience });
    await page.keyboard.press('Enter');
    await pick('Select where to compute "rounded"', 'This machine');
    const frame = await frameWith(page, 'h1:has-text("rounded")', patience);
    await frame.getByRole('row', { name: 'Rows to compute 500 of 500' }).waitFor();
    await shoot(window, 'jobs-plan');
  });

  test('shows a trial in the tab of a preview behind the plan, and can run the plan after that', async () => {
    const { page } = window;
    const plan = await frameWith(page, 'h1:has-text("rounded")');
    await plan.getByRole('button', { name: 'Try the Whole Table' }).click();
    const trial = await frameWith(page, '[role=columnheader]:has-text("rounded (after)")', patience);
    await trial.getByText('Nothing was written.').waitFor();
    await page.getByRole('tab', { name: 'Plan: products.rounded' }).click();
    const again = await frameWith(page, 'h1:has-text("rounded")', patience);
    await again.getByText('Nothing has been changed.').waitFor({ timeout: patience });
    await again.getByRole('button', { name: 'Run', exact: true, disabled: false }).waitFor();
  });

  test('shows the running job and its end, on the page and in the view', async () => {
    const { page } = window;
    await expand(page, 'Table products in shop');
    await treeRow(page, 'Column price of products').waitFor();
    const frame = await frameWith(page, 'h1:has-text("rounded")');
    await frame.getByRole('button', { name: 'Run', exact: true }).click();
    await frame.getByRole('progressbar').waitFor({ timeout: patience });
    await shoot(window, 'jobs-running');
    await treeRow(page, 'Backfill of rounded in shop/products: done').waitFor({ timeout: patience });
    // The tree shows the new column without a refresh.
    await treeRow(page, 'Column rounded of products').waitFor();
    await frame.locator('.job-succeeded').waitFor();
    assert.equal(await frame.getByRole('progressbar').getAttribute('aria-valuenow'), '100');
    await shoot(window, 'jobs-light');
  });

  for (const [theme, kind, name] of [
    ['Dark 2026', 'vs-dark', 'dark'],
    ['Dark High Contrast', 'hc-black', 'high-contrast'],
  ] as const) {
    test(`can be read in the theme ${theme}`, async () => {
      const { page } = window;
      await switchTheme(page, theme);
      await page.locator(`.monaco-workbench.${kind}`).waitFor();
      await treeRow(page, 'Backfill of rounded in shop/products: done').hover();
      await page.locator('.workbench-hover', { hasText: 'round' }).waitFor();
      await shoot(window, `jobs-${name}`);
    });
  }

  test('connects to a Ray, and opens its dashboard beside the window', async () => {
    const { page } = window;
    const ray = await RayDashboardStandIn.start();
    try {
      await runCommand(page, 'Lance Catalog: Connect to Ray…');
      await titled(page, 'Connect to Ray').waitFor();
      await box(page).fill(`http://127.0.0.1:${ray.port}`);
      await page.keyboard.press('Enter');
      await page.locator('.statusbar-item', { hasText: 'Connected to Ray' }).waitFor({ timeout: patience });
      const opening = page.context().waitForEvent('page', { timeout: patience });
      await runCommand(page, 'Lance Catalog: Open Ray Dashboard');
      await pick('Select the Ray cluster whose dashboard to open', `Ray at http://127.0.0.1:${ray.port}`);
      const dashboard = await opening;
      await dashboard.close();
      assert.ok(ray.asked.some(({ path }) => path === '/api/version'));
    } finally {
      await ray.stop();
    }
  });

  test('tells each mistake of a job file once, and runs one by what stands above it', async () => {
    const { page, folder } = window;
    const job = { connection: 'sample', table: 'shop/products', column: 'twice', function: { sql: 'price * 2' } };
    writeFileSync(join(folder, 'wrong.lance-job.json'), JSON.stringify({ ...job, runner: 'spark', task_size: 0 }));
    writeFileSync(join(folder, 'twice.lance-job.json'), JSON.stringify({ ...job, runner: 'local' }));
    await openFile(page, 'wrong.lance-job.json');
    // If another extension reported warnings, the label would contain them, too.
    await page.locator('.statusbar-item[aria-label="Errors: 2"]').waitFor({ timeout: patience });
    await shoot(window, 'jobs-file-wrong');
    assert.equal(
      await page.locator('.squiggly-warning').count(),
      0,
      'the schema of the editor tells none of them again',
    );
    await openFile(page, 'twice.lance-job.json');
    await page.locator('.tab.active', { hasText: 'twice' }).waitFor();
    await page.locator('.codelens-decoration a', { hasText: 'Run' }).click();
    const frame = await frameWith(page, 'h1:has-text("twice")', patience);
    await frame.locator('.job-succeeded').waitFor({ timeout: patience });
    await openCatalog(page);
  });

  test('shows the job again after the window was reloaded', async () => {
    const { page } = window;
    await reloadWindow(page);
    await treeRow(page, 'Backfill of rounded in shop/products: done').waitFor({ timeout: patience });
    await treeRow(page, 'Backfill of rounded in shop/products: done').click();
    const frame = await frameWith(page, 'h1:has-text("rounded")', patience);
    await frame.getByRole('button', { name: 'Open Table' }).click();
    const grid = await frameWith(page, '.lance-grid', patience);
    await grid.locator('[role=grid]').press('End');
    await grid.getByText('rounded').first().waitFor();
    await shoot(window, 'jobs-table');
  });
});
