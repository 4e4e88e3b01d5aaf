import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { PanelTable, PanelView } from '#shared/protocol/webviewMessages.ts';
import { launchChromium } from '../harness/browser.ts';
import { seriousProblems } from './parts/accessibility.ts';
import { inPanelPage, PanelHostStandIn, servePanel, tableOf } from './parts/panelHostStandIn.ts';
import type { Served } from './parts/pages.ts';
import type { ThemeName } from './parts/themes.ts';

const shots = join(import.meta.dirname, '../../test-results/filters');

const total = 1_000;
const base: Partial<PanelTable> = { hasViews: true, key: 'base', selectsColumns: true };

/** Filters nothing, and records the views that the page requests. */
function serveViews(host: PanelHostStandIn): PanelView[] {
  const views: PanelView[] = [];
  host.view = (view) => {
    views.push(view);
    if (view.where.includes('wrong'))
      throw new Error('Table "products" has no column "wrong". It has: id, name, price, score.');
    if (view.where === '' && view.orderBy.length === 0) return tableOf(total, base);
    return tableOf(12, { ...base, key: JSON.stringify(view), view, totalRows: total, note: '' });
  };
  return views;
}

const line = (page: Page) => page.getByRole('combobox', { name: 'Filter' });
const chips = (page: Page) => page.getByRole('group', { name: 'Terms of the filter' });
const chip = (page: Page, label: string) => chips(page).getByRole('button', { name: label, exact: true });
const count = (page: Page, text: string) => page.locator('.lance-toolbar-count', { hasText: text }).waitFor();
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent);

async function filter(page: Page, where: string): Promise<void> {
  await line(page).fill(where);
  await page.keyboard.press('Enter');
  await count(page, '12 of 1,000 rows');
}

suite('Filters of columns in the table panel, in a browser', function () {
  this.timeout(60_000);
  let server: Served;
  let browser: Browser;

  suiteSetup(async () => {
    await mkdir(shots, { recursive: true });
    server = await servePanel();
    browser = await launchChromium();
  });

  suiteTeardown(async () => {
    await browser?.close();
    server?.close();
  });

  async function withPanel(
    run: (page: Page, views: PanelView[], host: PanelHostStandIn) => Promise<void>,
    { theme = 'dark', width = 1_100 }: { theme?: ThemeName; width?: number } = {},
  ): Promise<void> {
    await inPanelPage(browser, { width, height: 500 }, async (page) => {
      const host = new PanelHostStandIn(page, tableOf(total, base));
      const views = serveViews(host);
      try {
        await host.open(server.url, theme);
        await page.locator('[role=gridcell]:not([aria-busy])').first().waitFor();
        await run(page, views, host);
      } finally {
        host.close();
      }
    });
  }

  test('the terms of a filter are chips, which the keyboard edits and removes', () =>
    withPanel(async (page, views) => {
      assert.ok(await chips(page).isHidden());
      await filter(page, 'length(name) > 3');
      assert.ok(await chips(page).isHidden(), 'the line has the only term');
      await filter(page, "length(name) > 3 AND score >= 1 AND `in_stock` = true AND name IN ('a', 'b')");
      assert.deepEqual(await chips(page).locator('.lance-chip-edit').allInnerTexts(), [
        'length(name) > 3',
        'score >= 1',
        'in_stock is true',
        'name is a, b',
      ]);
      await page.screenshot({ path: join(shots, 'chips.png') });
      await chip(page, 'length(name) > 3').focus();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowRight');
      assert.equal(await focused(page), 'in_stock is true');
      await page.keyboard.press('Delete');
      await chip(page, 'in_stock is true').waitFor({ state: 'detached' });
      assert.equal(views.at(-1)?.where, "length(name) > 3 AND score >= 1 AND name IN ('a', 'b')");
      assert.equal(await line(page).inputValue(), views.at(-1)?.where);
      assert.equal(await focused(page), 'name is a, b');
      await page.keyboard.press('Home');
      await page.keyboard.press('Enter');
      const selected = await line(page).evaluate((input: HTMLInputElement) =>
        input.value.slice(input.selectionStart!, input.selectionEnd!),
      );
      assert.equal(selected, 'length(name) > 3');
      await chips(page).getByRole('button', { name: 'Remove score >= 1' }).click();
      await chip(page, 'score >= 1').waitFor({ state: 'detached' });
      await chips(page).getByRole('button', { name: 'Remove length(name) > 3' }).click();
      await chip(page, 'length(name) > 3').waitFor({ state: 'detached' });
      assert.equal(views.at(-1)?.where, "name IN ('a', 'b')");
      await chip(page, 'name is a, b').focus();
      await page.keyboard.press('Delete');
      await count(page, '1,000 rows');
      assert.equal(views.at(-1)?.where, '');
      assert.ok(await chips(page).isHidden());
      await page.locator('[role=gridcell]').first().click();
      await page.keyboard.press('Control+z');
      await chip(page, 'name is a, b').waitFor();
    }));

  test('a wrong word is marked where it is, also in a filter that is longer than the line', () =>
    withPanel(
      async (page) => {
        const marked = page.locator('.lance-filter-mark');
        await line(page).fill("name = 'wrong' AND wrong > 1");
        await page.keyboard.press('Enter');
        await marked.waitFor();
        assert.equal(await marked.innerText(), 'wrong');
        const before = await marked.evaluate((mark) => mark.previousSibling?.textContent);
        assert.equal(before, "name = 'wrong' AND ");
        await page.screenshot({ path: join(shots, 'mark.png') });
        await line(page).fill(`${"name <> 'a' AND ".repeat(12)}wrong > 1`);
        await page.keyboard.press('Enter');
        await marked.waitFor();
        await page.keyboard.press('End');
        await page.screenshot({ path: join(shots, 'mark-long.png') });
        const [mark, input] = [await marked.boundingBox(), await line(page).boundingBox()];
        assert.ok(
          mark!.x > input!.x && mark!.x + mark!.width < input!.x + input!.width,
          'the mark moves with the text',
        );
        await page.keyboard.type(' ');
        assert.equal(await marked.count(), 0);
      },
      { width: 700 },
    ));

  for (const [theme, width] of [
    ['light', 1_100],
    ['highContrast', 700],
  ] as const)
    test(`chips in the theme ${theme} at ${width} pixels`, () =>
      withPanel(
        async (page) => {
          await filter(page, "length(name) > 3 AND score >= 1 AND `in_stock` = true AND name IN ('a', 'b') AND id > 5");
          await chip(page, 'score >= 1').focus();
          await page.screenshot({ path: join(shots, `chips-${theme}.png`) });
          assert.deepEqual(await seriousProblems(page), []);
        },
        { theme, width },
      ));
});
