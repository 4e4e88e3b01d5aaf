import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { frameWith, runCommand } from '../harness/workbench.ts';
import { notebookOf, openNotebook } from './parts/notebookWindow.ts';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { switchTheme } from './parts/catalogWindow.ts';
import { colours, contrast } from './parts/contrast.ts';
import { illegible } from './parts/legible.ts';

/** One output per cell, each short enough that a tall window shows all of them. */
const cells = [
  `({ name: 'mug', prices: new Map([['eu', [18.9, 12]], ['us', [21]]]), tags: new Set(['tea']), note: 'x'.repeat(300) })`,
  `Array.from({ length: 250 }, (_, id) => ({ id, name: 'row ' + id }))`,
  `db`,
  `(await (await db.openTable('products', ['shop'])).schema())`,
  `await db.openTable('returns', { namespacePath: ['shop', 'eu'] })`,
  `for (const x of progress([1, 2, 3], { label: 'rows' })) await new Promise((done) => setTimeout(done, 150));`,
  `display.svg('<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"><rect width="90" height="30" fill="teal"/></svg>')`,
  `display.markdown('**bold** and $x^2$')`,
  `(await db.openTable('products', ['shop'])).query().limit(2)`,
  `(await (await db.openTable('products', ['shop'])).query().limit(1).toArray())[0]`,
  `console.log('printed'); console.error('complained'); display.html('<table><tr><th>head</th><td>cell</td></tr></table>')`,
  `[undefined, null, true, Symbol('s'), /x/, new Date(0), 10n, class Shape {}, () => 1]`,
  `display.vegaLite({ mark: 'bar', title: 'By kind', height: 120, data: { values: [{ kind: 'mug', n: 3 }, { kind: 'plate', n: 7 }] }, encoding: { x: { field: 'kind' }, y: { field: 'n', type: 'quantitative' } } })`,
  `display.plotly({ data: [{ x: ['mug', 'plate'], y: [3, 7], type: 'bar' }], layout: { title: { text: 'By kind' }, width: 500, height: 300 } })`,
  `new TypeError('shown, not thrown', { cause: new Error('below') })`,
];

suite('What values look like in the notebook of the packaged extension', function () {
  this.timeout(180_000);
  let window: Window;
  let outputs: Frame;

  suiteSetup(async function () {
    this.timeout(420_000);
    // Open a tall window, because the notebook draws only visible cells.
    window = await openWindow({ 'notebook.showCellStatusBar': 'hidden' }, { width: 1400, height: 3900 });
    writeFileSync(join(window.folder, 'values.ipynb'), notebookOf(cells));
    await openNotebook(window.page, 'values.ipynb');
    await runCommand(window.page, 'Notebook: Run All');
    try {
      outputs = await frameWith(window.page, '.lance-value :text("shown, not thrown")', 150_000);
    } catch (error) {
      await shoot(window, 'failed-values');
      throw error;
    }
  });

  suiteTeardown(() => window?.close());

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  test('objects are trees that unfold', async () => {
    const prices = outputs.locator('.lance-value details', { hasText: 'prices' }).first().locator('details').first();
    assert.equal(await prices.evaluate((each: HTMLDetailsElement) => each.open), false);
    await prices.locator('summary').first().click();
    await prices.locator('.k', { hasText: `'eu' =>` }).waitFor();
    const price = prices.locator('.n', { hasText: '18.9' });
    assert.equal(await price.isVisible(), false, 'the next level is folded');
    await prices.locator('summary', { hasText: `'eu' =>` }).last().click();
    await price.waitFor();
  });

  test('more of a long list is shown on a click', async () => {
    const row = outputs.getByText(`'row 110'`);
    assert.equal(await row.first().isVisible(), false);
    await outputs.getByText('Show 100 more of 230').click();
    await row.first().waitFor();
    await outputs.getByText('Show 100 more of 230').click();
  });

  test('a catalog, a schema and a table are cards', async () => {
    await outputs.locator('td', { hasText: /^lab, shop$/ }).waitFor();
    await outputs.locator('td', { hasText: /^fixed_size_list<float>\[128\]$/ }).waitFor();
    assert.match(await outputs.locator('.lance-title').first().innerText(), /^shop\/eu\/returns version 1 · no index$/);
  });

  test('progress ends full, and pictures are drawn', async () => {
    await outputs.getByText('rows: 3 of 3 (100 %)').waitFor();
    const bar = outputs.locator('progress');
    assert.equal(await bar.evaluate((each: HTMLProgressElement) => each.position), 1);
    await outputs.locator('rect[fill=teal], img').first().waitFor();
    await outputs.locator('strong', { hasText: 'bold' }).waitFor();
  });

  test('charts are drawn', async () => {
    const bars = outputs.locator('.vega-embed .mark-rect path');
    await bars.first().waitFor();
    assert.equal(await bars.count(), 2);
    const plotted = outputs.locator('.js-plotly-plot .bars .point path');
    await plotted.first().waitFor();
    assert.equal(await plotted.count(), 2);
    for (const chart of ['.vega-embed', '.js-plotly-plot']) await outputs.locator(chart).getByText('By kind').waitFor();
  });

  test('tables and charts keep the distance of other outputs to the edge of their cell', async () => {
    const insets = await outputs
      .locator('.output_container .output')
      .evaluateAll((all) =>
        all
          .filter((each) => each.shadowRoot !== null || each.querySelector('.vega-embed, .js-plotly-plot'))
          .map((each) => getComputedStyle(each).paddingLeft),
      );
    assert.ok(insets.length >= 4, 'two tables and two charts');
    assert.deepEqual([...new Set(insets)], ['8px']);
  });

  test('the text of a tree stands out', async () => {
    for (const kind of ['.k', '.s', '.n', '.d']) {
      const [text, ground] = await outputs.locator(`.lance-value ${kind}`).first().evaluate(colours);
      assert.ok(contrast(text, ground) >= 3, `${kind}: ${text} on ${ground}`);
    }
    await shoot(window, 'values');
  });

  for (const [theme, kind] of [
    ['Dark 2026', 'vscode-dark'],
    ['Light 2026', 'vscode-light'],
    ['Dark High Contrast', 'vscode-high-contrast'],
    ['Light High Contrast', 'vscode-high-contrast-light'],
  ] as const)
    test(`every text of them can be read in the theme ${theme}`, async () => {
      await switchTheme(window.page, theme);
      await outputs.locator(`body.${kind}`).waitFor({ state: 'attached' });
      const { seen, hard } = await illegible(outputs, 4.5);
      await shoot(window, `values-${theme}`);
      assert.deepEqual(hard, []);
      assert.ok(seen > 100, `${seen} texts`);
      // No contrast is higher than 21, that of black on white, so 21.1 lists every text. This proves that the texts are
      // checked.
      assert.ok((await illegible(outputs, 21.1)).hard.length > 50);
    });
});
