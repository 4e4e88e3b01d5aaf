import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type RecordBatch, Table, tableToIPC } from '#arrow';
import { buildRows } from './parts/changedRows.ts';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import type { ChangesState, ShownChanges } from '#shared/protocol/changes.ts';
import type { PanelTable, PanelView } from '#shared/protocol/webviewMessages.ts';
import { seriousProblems } from './parts/accessibility.ts';
import type { PanelHostStandIn } from './parts/panelHostStandIn.ts';
import { openPanelPages } from './parts/panelPages.ts';

const shots = join(import.meta.dirname, '../../test-results/changes');

const batch: RecordBatch = buildRows();
const counts = { added: 1, removed: 1, changed: 2 };
const state: ChangesState = {
  counts,
  readable: counts,
  rowsRead: 1_999_998,
  rowsTotal: 2_000_000,
  compared: 1_000_000,
  end: 'complete',
};
const changes: ShownChanges = {
  before: 'version 3',
  after: 'version 7',
  columnChanges: [
    { name: 'more', after: 'int64' },
    { name: 'less', before: 'utf8' },
    { name: 'kind', before: 'float', after: 'utf8' },
  ],
  numShown: 4,
  state,
};
const view: PanelView = {
  where: '',
  orderBy: [],
  changes: { path: ['shop', 'orders'], version: 3, isBefore: true, key: ['id'], kind: null },
};
const compared: PanelTable = {
  title: 'shop/orders',
  key: 'orders 3 7',
  columns: columnsOf(batch.schema),
  numRows: 4,
  version: 7,
  selectsColumns: true,
  hasViews: true,
  view,
  changes,
};

const cell = (page: Page, row: number, column: number) =>
  page.locator(`[role=row][aria-rowindex="${row + 2}"] [role=gridcell][aria-colindex="${column + 2}"]`);

function serveRows(host: PanelHostStandIn): void {
  host.rows = (start, end, columns) => {
    const rows = new Table([batch]).slice(start, end);
    return tableToIPC(columns ? rows.selectAt(columns) : rows, 'stream');
  };
}

suite('The rows of a comparison, in a browser', function () {
  this.timeout(120_000);
  const withPanel = openPanelPages({
    table: compared,
    width: 1_000,
    height: 360,
    firstShown: '.lance-row',
    prepare: serveRows,
  });

  test('have a sign and a name for each kind, and the value before in a changed cell', () =>
    withPanel(async (page) => {
      await cell(page, 1, 2).locator('del').waitFor();
      const texts = (row: number) =>
        Promise.all([0, 1, 2, 3].map((column) => cell(page, row, column).evaluate(({ textContent }) => textContent)));
      assert.deepEqual(await texts(0), ['−removed', '3', 'chair', '7.5']);
      assert.deepEqual(await texts(1), ['~changed', '5', 'book→long book', '2']);
      // A value that was null before is a change, too.
      assert.deepEqual(await texts(2), ['~changed', '7', 'lamp', 'null→4']);
      assert.deepEqual(await texts(3), ['+added', '9', 'null', '1']);
      assert.equal(await cell(page, 1, 2).getAttribute('aria-description'), 'changed from book');
      assert.equal(await cell(page, 1, 3).getAttribute('aria-description'), null);
      assert.equal(await page.getByRole('columnheader').count(), 5);
    }));

  test('are counted in a bar with a filter for each kind, and left by its button', () =>
    withPanel(async (page, host) => {
      const bar = page.getByRole('group', { name: 'Comparison', exact: true });
      await bar.getByText('version 3 → version 7, by id').waitFor();
      await bar.getByText('1,000,000 rows compared').waitFor();
      await bar.getByText('Columns: more added (int64), less removed (utf8), kind: float → utf8').waitFor();
      host.view = (wanted) => {
        const { changes: _, view: __, ...whole } = compared;
        return wanted.changes ? { ...compared, key: 'kind', numRows: 1, view: wanted } : { ...whole, key: 'whole' };
      };
      assert.equal(await page.getByRole('textbox').count(), 0);
      await bar.getByRole('button', { name: '2 changed' }).click();
      await page.getByText('1 difference', { exact: true }).first().waitFor();
      assert.equal(await bar.locator('[aria-pressed=true]').textContent(), '~2 changed');
      await bar.getByRole('button', { name: 'Leave Comparison' }).click();
      await bar.waitFor({ state: 'detached' });
      assert.deepEqual(
        host.views.map((one) => one.changes?.kind),
        ['changed', undefined],
      );
    }));

  test('show progress while they are found, and why a comparison has failed', () =>
    withPanel(
      async (page, host) => {
        const { key } = compared;
        const running: ChangesState = { ...state, rowsRead: 500_000, end: 'running' };
        await host.grow({ key, numRows: 4, note: '', isGrowing: true, changes: { ...changes, state: running } });
        const bar = page.getByRole('group', { name: 'Comparison', exact: true });
        await bar.getByText('Comparing… 25 %').waitFor();
        await page.getByRole('button', { name: 'Cancel' }).click();
        const problem = 'Several rows of "orders" have the value 1 in id.';
        const failed: ChangesState = { ...running, end: 'failed', problem };
        await host.grow({ key, numRows: 4, note: '', isGrowing: false, changes: { ...changes, state: failed } });
        await bar.getByRole('alert').getByText(problem).waitFor();
        await bar.getByRole('button', { name: 'Compare With…' }).click();
        assert.deepEqual(host.acted, ['cancel', 'compare']);
      },
      { table: { ...compared, isGrowing: true } },
    ));

  test('leave no empty line above them in a narrow panel', async () => {
    for (const width of [700, 480, 300])
      await withPanel(
        async (page) => {
          const toolbar = page.getByRole('group', { name: 'Table tools' });
          await toolbar.getByText('4 differences').waitFor();
          assert.equal((await toolbar.boundingBox())?.height, 34, `${width}`);
          const bar = await page.getByRole('group', { name: 'Comparison', exact: true }).boundingBox();
          assert.equal(bar?.y, 34, `${width}`);
          const count = await toolbar.getByText('4 differences').boundingBox();
          assert.ok(count && count.x >= 0 && count.y + count.height < 34, JSON.stringify(count));
        },
        { width },
      );
  });
  test('are as wide as both values of changed cells, also if the first rows of a running comparison had none', () =>
    withPanel(
      async (page, host) => {
        const names = cell(page, 0, 2);
        await names.getByText('chair').waitFor();
        await host.grow({ key: compared.key, numRows: 4, note: '', isGrowing: false, changes });
        await cell(page, 1, 2).locator('del').waitFor();
        await page.waitForFunction(() =>
          Array.from(document.querySelectorAll('.lance-change-cell'), (one) => Array.from(one.children))
            .flat()
            .every((part) => part.scrollWidth <= part.clientWidth + 1),
        );
      },
      { table: { ...compared, numRows: 1, isGrowing: true } },
    ));

  for (const theme of ['light', 'dark', 'highContrast', 'highContrastLight'] as const)
    test(`keep the rules of axe-core, wide and narrow: ${theme}`, async () => {
      for (const width of [1000, 700, 300])
        await withPanel(
          async (page) => {
            await cell(page, 0, 0).locator('.lance-change-sign').waitFor();
            await page.screenshot({ path: join(shots, `${theme}-${width}.png`) });
            assert.deepEqual(await seriousProblems(page), [], `${theme}, ${width}`);
          },
          { theme, width },
        );
    });
});
