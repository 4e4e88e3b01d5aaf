import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { tableToIPC } from '#arrow';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { launchChromium } from '../harness/browser.ts';
import { seriousProblems } from './parts/accessibility.ts';
import { detailSchema, detailStream } from './parts/detailRows.ts';
import { oddRows } from './parts/gridRows.ts';
import { inPage, outputTheme, serveRenderer, type Served } from './parts/pages.ts';
import { inPanelPage, PanelHostStandIn, servePanel, tableOf } from './parts/panelHostStandIn.ts';
import { base64 } from './parts/rendererOutputs.ts';
import type { ThemeName } from './parts/themes.ts';

const notebookPage = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Notebook</title></head>
<body><main id="output"></main></body></html>`;

const cell = (page: Page, row: number, column: number) =>
  page.locator(`[role=row][aria-rowindex="${row + 2}"] [role=gridcell][aria-colindex="${column + 2}"]`);

async function assertAccessible(page: Page, what: string): Promise<void> {
  assert.deepEqual(await seriousProblems(page), [], what);
}

suite('The rules of axe-core hold in the grid', function () {
  this.timeout(240_000);
  let panels: Served;
  let notebooks: Served;
  let browser: Browser;

  suiteSetup(async () => {
    panels = await servePanel();
    notebooks = await serveRenderer('renderer.js', notebookPage);
    browser = await launchChromium();
  });

  suiteTeardown(async () => {
    await browser?.close();
    panels?.close();
    notebooks?.close();
  });

  async function withPanel(
    {
      theme,
      table = {},
      prepare,
    }: { theme: ThemeName; table?: Partial<PanelTable>; prepare?: (host: PanelHostStandIn) => void },
    run: (page: Page, host: PanelHostStandIn) => Promise<void>,
  ): Promise<void> {
    await inPanelPage(browser, { width: 1700, height: 420 }, async (page) => {
      const host = new PanelHostStandIn(page, tableOf(100_000, table));
      prepare?.(host);
      try {
        await host.open(panels.url, theme);
        await run(page, host);
      } finally {
        host.close();
      }
    });
  }

  test('a rule that is broken is found', () =>
    withPanel({ theme: 'light' }, async (page) => {
      await cell(page, 0, 0).getByText('9007199254740993').waitFor();
      await page
        .locator('.lance-rows > [role=row]')
        .first()
        .evaluate((row) => (row.role = 'cell'));
      assert.notDeepEqual(await seriousProblems(page), []);
    }));

  for (const theme of ['light', 'dark', 'highContrast'] as const) {
    test(`rows, menus, the box for a row and a failure in the ${theme} theme`, () =>
      withPanel({ theme }, async (page, host) => {
        await page.locator('.lance-image:not(.lance-decoding)').first().waitFor();
        await assertAccessible(page, 'rows');
        await page.keyboard.press('Shift+F10');
        await page.getByRole('menuitem', { name: 'Copy as JSON' }).waitFor();
        await assertAccessible(page, 'the menu of a cell');
        await page.keyboard.press('Escape');
        await page.keyboard.press('Shift+ArrowDown');
        await page.locator('.lance-selected').nth(1).waitFor();
        await assertAccessible(page, 'a range');
        await page.keyboard.press('Control+Home');
        await page.keyboard.press('ArrowUp');
        await page.keyboard.press('Enter');
        await page.getByRole('menuitem', { name: 'Hide Column' }).waitFor();
        await assertAccessible(page, 'the menu of a column');
        await page.keyboard.press('Escape');
        await page.keyboard.press('Control+Shift+O');
        await page.getByRole('listbox', { name: /^Columns/ }).waitFor();
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('p');
        await page.getByRole('option', { name: /^id, int64, pinned$/ }).waitFor();
        await assertAccessible(page, 'the list of columns');
        await page.keyboard.press('Escape');
        await host.goToRow();
        await page.locator('.lance-go').waitFor();
        await assertAccessible(page, 'the box for a row');
        await page.keyboard.press('Escape');
        host.failing = () => 'The disk is gone.';
        await page.locator('[role=grid]').evaluate((grid) => (grid.scrollTop = grid.scrollHeight));
        await page.locator('.lance-failed').first().waitFor();
        await assertAccessible(page, 'rows that could not be read');
        await host.fail('shop/products', 'The folder does not exist.');
        await page.getByRole('alert').waitFor();
        await assertAccessible(page, 'a failure');
      }));

    test(`marks of strings, numbers and vectors in the ${theme} theme`, () => {
      const odd = oddRows();
      return withPanel(
        {
          theme,
          table: { key: 'odd', columns: columnsOf(odd.schema), numRows: odd.numRows },
          prepare: (host) => (host.rows = () => tableToIPC(odd, 'stream')),
        },
        async (page) => {
          await page.locator('.lance-vector-problem').first().waitFor();
          await assertAccessible(page, 'marks');
        },
      );
    });

    test(`the detail pane of each kind of value in the ${theme} theme`, () =>
      withPanel(
        {
          theme,
          table: { key: 'details', columns: columnsOf(detailSchema), numRows: 3 },
          prepare: (host) => (host.rows = detailStream),
        },
        async (page) => {
          await cell(page, 0, 0).and(page.locator('.lance-active')).waitFor();
          await page.keyboard.press('Enter');
          await page.locator('.lance-detail-body > *').first().waitFor();
          for (let column = 0; column < detailSchema.fields.length; column++) {
            await assertAccessible(page, `the value of ${detailSchema.fields[column]!.name}`);
            await page.keyboard.press('ArrowRight');
            await page.waitForTimeout(50);
          }
        },
      ));

    test(`the output of a notebook in the ${theme} theme`, () =>
      inPage(browser, { width: 1700, height: 420 }, async (page) => {
        await page.goto(notebooks.url);
        await page.evaluate(
          async ([text, properties, isContrast]) => {
            for (const [name, value] of Object.entries(properties)) document.body.style.setProperty(name, value);
            document.body.style.background = 'var(--vscode-editor-background)';
            document.body.classList.toggle('vscode-high-contrast', isContrast);
            const { activate } = (await import(`${location.href}renderer.js`)) as {
              activate: (context: unknown) => { renderOutputItem(item: unknown, element: Element): void };
            };
            const renderer = activate({ postMessage: () => {}, onDidReceiveMessage: () => {} });
            const item = { id: 'a', data: () => new TextEncoder().encode(text) };
            renderer.renderOutputItem(item, document.getElementById('output')!);
          },
          [base64(3), outputTheme(theme), theme.startsWith('highContrast')] as const,
        );
        await page.locator('.lance-image:not(.lance-decoding)').first().waitFor();
        await assertAccessible(page, 'an output');
      }));
  }
});
