import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame, Page } from 'playwright-core';
import { Field, Float64, Int64, Schema, Utf8 } from '#arrow';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { inRoot } from '../../scripts/paths.ts';
import { type ServeProcess, startServe } from '../contract/serve/serveProcess.ts';
import { UpstreamServers } from '../contract/upstream/upstreamServers.ts';
import { PythonCalls } from '../harness/needs/pythonCalls.ts';
import { tempFolder } from '../harness/temp.ts';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { frameWith } from '../harness/workbench.ts';
import { collapse, expand, openCatalog, treeRow } from './parts/catalogWindow.ts';

const patience = 90_000;
const numRows = 1_700;
const scores = [NaN, null, -0, 0, Infinity, -Infinity, 1.5, -1.5];
const kinds = ['b', 'a', null, 'Ä', ''];

async function createMarks(root: string): Promise<void> {
  const schema = new Schema([
    new Field('id', new Int64(), false),
    new Field('score', new Float64(), true),
    new Field('kind', new Utf8(), true),
  ]);
  const rows = Array.from({ length: numRows }, (_, index) => ({
    id: BigInt(index),
    score: index % 3 === 0 ? scores[(index / 3) % scores.length]! : Math.sin(index),
    kind: kinds[(index * 7) % kinds.length]!,
  }));
  const catalog = await openDir({ root });
  const table = await catalog.createTable('marks', rows.slice(0, 1_000), { schema });
  await table.add(rows.slice(1_000));
  await table.delete('id % 10 = 3');
  await catalog.close();
}

const panel = (page: Page) => frameWith(page, '.lance-grid');
const header = (frame: Frame, name: string) => frame.locator('[role=columnheader]', { hasText: name });

async function sortBy(frame: Frame, name: string, order: 'ascending' | 'descending'): Promise<void> {
  await header(frame, name).hover();
  await frame.getByRole('button', { name: `Sort by ${name}` }).click();
  await header(frame, name)
    .and(frame.locator(`[aria-sort=${order}]`))
    .waitFor({ timeout: patience });
}

/** Scrolls through all rows, and returns the values of the first column in the order of the rows. */
async function readIds(frame: Frame, count: number): Promise<number[]> {
  const ids = new Map<number, number>();
  const scroller = frame.locator('[role=grid]');
  for (let row = 0; row < count;) {
    // The header is in the height, too, so the row is below the first one.
    await scroller.evaluate((grid, share) => (grid.scrollTop = grid.scrollHeight * share - 100), row / count);
    const shown = frame.locator(
      `[role=row][aria-rowindex="${row + 2}"] [role=gridcell][aria-colindex="2"]:not([aria-busy])`,
    );
    await shown.filter({ hasText: /\d/ }).waitFor({ timeout: patience });
    const drawn = await frame.locator('.lance-row').evaluateAll((rows) =>
      rows.map((one) => {
        const cell = one.querySelector<HTMLElement>('[aria-colindex="2"]:not([aria-busy])');
        return [Number(one.ariaRowIndex ?? one.getAttribute('aria-rowindex')) - 2, cell?.innerText ?? ''] as const;
      }),
    );
    for (const [at, text] of drawn) if (text !== '') ids.set(at, Number(text));
    while (ids.has(row)) row++;
  }
  assert.equal(ids.size, count, 'no further row');
  return Array.from({ length: count }, (_, row) => ids.get(row)!);
}

// All tests use one window, in order. Each test continues where the previous test ended, as a user does.
suite('Sorted and filtered tables of servers, in a window', function () {
  this.timeout(240_000);
  let window: Window;
  let ours: ServeProcess;
  const upstream = new UpstreamServers();
  let python: PythonCalls;
  let root: string;

  const orderedIds = (keys: [string, boolean][], above?: [string, number]): Promise<number[]> =>
    python.call('ordered_ids', { path: join(root, 'marks.lance'), keys, ...(above && { above }) });

  suiteSetup(async () => {
    root = join(tempFolder('lance-servers-'), 'catalog');
    cpSync(inRoot('.sample/tests'), root, { recursive: true });
    await createMarks(root);
    python = new PythonCalls(inRoot('test/contract/python/viewOrder.py'));
    ours = await startServe(['--root', root, '--no-auth']);
    const connections = [
      { name: 'ours', uri: ours.address },
      { name: 'upstream', uri: await upstream.serve(root) },
    ];
    window = await openWindow({ 'lanceCatalog.defaultConnections': connections });
    await openCatalog(window.page);
  });

  suiteTeardown(async () => {
    await window?.close();
    await ours?.stop();
    await upstream.stop();
    await python?.stop();
  });

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-servers-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  for (const name of ['ours', 'upstream'])
    test(`every page of a view has the rows of pyarrow's sort and filter: ${name}`, async () => {
      const { page } = window;
      // The first row of the name is that of the other connection otherwise.
      if (name === 'upstream') await collapse(page, 'Connection ours');
      await expand(page, `Connection ${name}`);
      await treeRow(page, 'Table marks').click();
      const frame = await panel(page);
      await frame.getByRole('grid', { name: `${name}/marks` }).waitFor({ timeout: patience });
      await sortBy(frame, 'score', 'ascending');
      const all = await orderedIds([['score', false]]);
      assert.deepEqual(await readIds(frame, all.length), all);
      await frame.getByRole('combobox', { name: 'Filter' }).fill('score > 0');
      await page.keyboard.press('Enter');
      const count = (await orderedIds([], ['score', 0])).length;
      await frame
        .locator('.lance-toolbar-count')
        .getByText(`${count} of ${all.length.toLocaleString('en-US')} rows`, { exact: true })
        .waitFor({ timeout: patience });
      await sortBy(frame, 'kind', 'ascending');
      await sortBy(frame, 'kind', 'descending');
      const some = await orderedIds([['kind', true]], ['score', 0]);
      assert.deepEqual(await readIds(frame, some.length), some);
      await shoot(window, `servers-${name}`);
    });

  test('a sort that the server can not do says how far it is, and can be given up', async () => {
    const { page } = window;
    await expand(page, 'Connection upstream', 'Namespace shop', 'Namespace eu');
    await treeRow(page, 'Table orders in shop/eu').click();
    const frame = await panel(page);
    await frame.getByRole('grid', { name: 'upstream/shop/eu/orders' }).waitFor({ timeout: patience });
    await header(frame, 'note').hover();
    await frame.getByRole('button', { name: 'Sort by note' }).click();
    const footer = frame.locator('.lance-footer');
    await footer
      .getByText(/^The server can't sort, so the rows are sorted here… [\d,]+ read$/)
      .waitFor({ timeout: patience });
    await shoot(window, 'servers-sorting');
    await footer.getByRole('button', { name: 'Cancel' }).click();
    await footer.getByText(/sorted here/).waitFor({ state: 'detached' });
    assert.equal(await frame.locator('[aria-sort]').count(), 0);
    await sortBy(frame, 'note', 'ascending');
    await footer.getByText(/sorted here/).waitFor({ state: 'detached' });
    await footer.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' });
  });
});
