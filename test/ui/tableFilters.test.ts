import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { seriousProblems } from './parts/accessibility.ts';
import { type PanelHostStandIn, tableOf } from './parts/panelHostStandIn.ts';
import { openPanelPages } from './parts/panelPages.ts';

const shots = join(import.meta.dirname, '../../test-results/filters');

const total = 1_000;
const base: Partial<PanelTable> = { hasViews: true, key: 'base', selectsColumns: true };

/** Serves views without filtering their rows. */
function serveViews(host: PanelHostStandIn): void {
  host.view = (view) => {
    if (view.where.includes('wrong'))
      throw new Error('Table "products" has no column "wrong". It has: id, name, price, score.');
    if (view.where === '' && view.orderBy.length === 0) return tableOf(total, base);
    return tableOf(12, { ...base, key: JSON.stringify(view), view, totalRows: total, note: '' });
  };
}

const line = (page: Page) => page.getByRole('combobox', { name: 'Filter' });
const chips = (page: Page) => page.getByRole('group', { name: 'Terms of the filter' });
const chip = (page: Page, label: string) => chips(page).getByRole('button', { name: label, exact: true });
const count = (page: Page, text: string) => page.locator('.lance-toolbar-count', { hasText: text }).waitFor();
const head = (page: Page, name: string) => page.getByRole('columnheader').filter({ hasText: name }).first();
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent);

const value = (text: string, rows: number) => ({
  kind: 'value' as const,
  text,
  literal: `'${text.replaceAll("'", "''")}'`,
  count: rows,
});

async function filter(page: Page, where: string): Promise<void> {
  await line(page).fill(where);
  await page.keyboard.press('Enter');
  await count(page, '12 of 1,000 rows');
}

suite('Filters of columns in the table panel, in a browser', function () {
  this.timeout(60_000);
  const withPanel = openPanelPages({ table: tableOf(total, base), prepare: serveViews });

  test('the terms of a filter are chips, which the keyboard edits and removes', () =>
    withPanel(async (page, { views }) => {
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

  test('a line break in a value stays in the filter, though the line does not show it', () =>
    withPanel(async (page, host) => {
      const { views } = host;
      host.filterByCell = () => "`name` = 'two\nlines'";
      await page.locator('[aria-rowindex="4"] [role=gridcell][aria-colindex="3"]').click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Only This Value' }).click();
      await count(page, '12 of 1,000 rows');
      assert.equal(await line(page).inputValue(), "`name` = 'twolines'");
      await line(page).focus();
      await page.keyboard.press('Enter');
      for (let tries = 0; tries < 500 && views.length < 2; tries++) await page.waitForTimeout(20);
      assert.equal(views.length, 2);
      assert.equal(views.at(-1)?.where, "`name` = 'two\nlines'");
      await chip(page, 'name is "two↵lines"').waitFor();
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

  test('the menu of a header filters by conditions, with the keyboard alone', () =>
    withPanel(async (page, { views }) => {
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Enter');
      await page.getByRole('menuitem', { name: 'Filter…' }).waitFor();
      for (let at = 0; at < 2; at++) await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      const popup = page.getByRole('dialog', { name: 'Filter score' });
      await popup.waitFor();
      await popup.getByRole('textbox', { name: 'Value' }).and(page.locator(':focus')).waitFor();
      await page.keyboard.type('ten');
      await page.keyboard.press('Enter');
      await popup.getByRole('alert').getByText('Expected a number, got "ten".').waitFor();
      await page.screenshot({ path: join(shots, 'popup-problem.png') });
      assert.deepEqual(await seriousProblems(page), []);
      await page.keyboard.press('Control+a');
      await page.keyboard.type('10');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await popup.getByRole('group', { name: 'Condition 2' }).waitFor();
      await popup.getByRole('group', { name: 'Condition 2' }).getByRole('combobox').focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      await popup.getByRole('textbox', { name: 'From' }).waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.type('-5');
      await page.keyboard.press('Tab');
      await page.keyboard.type('0');
      await popup.getByRole('combobox', { name: 'Which conditions' }).focus();
      await page.keyboard.press('ArrowDown');
      await page.screenshot({ path: join(shots, 'popup-conditions.png') });
      await popup.getByRole('textbox', { name: 'To' }).focus();
      await page.keyboard.press('Enter');
      await chip(page, 'score ≥ 10 or -5 – 0').waitFor();
      const sql = '((score >= 10 AND NOT isnan(score)) OR (score BETWEEN -5 AND 0 AND NOT isnan(score)))';
      assert.equal(views.at(-1)?.where, sql);
      // A chip opens the popup again, which changes only its term.
      await filter(page, `length(name) > 3 AND ${sql} AND id > 0`);
      await chip(page, 'score ≥ 10 or -5 – 0').focus();
      await page.keyboard.press('Enter');
      await popup.getByRole('button', { name: 'Remove condition 1' }).focus();
      await page.keyboard.press('Enter');
      await popup.getByRole('button', { name: /Remove condition/ }).waitFor({ state: 'detached' });
      await popup.getByRole('textbox', { name: 'From' }).and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Enter');
      await chip(page, 'score -5 – 0').waitFor();
      assert.equal(
        views.at(-1)?.where,
        'length(name) > 3 AND (score BETWEEN -5 AND 0 AND NOT isnan(score)) AND id > 0',
      );
      await page.keyboard.press('Escape');
      await page.locator('[role=gridcell]').first().click();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Alt+ArrowDown');
      await popup.waitFor();
      await popup.getByRole('button', { name: 'Remove Filter' }).focus();
      await page.keyboard.press('Enter');
      await chip(page, 'score -5 – 0').waitFor({ state: 'detached' });
      assert.equal(views.at(-1)?.where, 'length(name) > 3 AND id > 0');
      await page.locator('[role=grid]:focus').waitFor();
      await page.keyboard.press('Alt+ArrowDown');
      await popup.waitFor();
      await page.keyboard.press('Escape');
      await popup.waitFor({ state: 'detached' });
      await page.locator('[role=grid]:focus').waitFor();
    }));

  test('values are chosen with the numbers of their rows, and searched by their start if there are many', () =>
    withPanel(async (page, host) => {
      const { views } = host;
      const asked: { where: string; start: string }[] = [];
      host.columnValues = ({ view, column, start }) => {
        asked.push({ where: view.where, start });
        assert.equal(column, 1);
        if (asked.length === 2) return { values: [], isMore: true };
        const all = [
          value('Product', 12_345),
          value("it's", 7),
          { kind: 'null' as const, text: '', literal: '', count: 3 },
        ];
        return { values: start === '' ? all : [value('Pro', 1)], isMore: false };
      };
      await filter(page, 'id > 3');
      await head(page, 'name').click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Filter…' }).click();
      const popup = page.getByRole('dialog', { name: 'Filter name' });
      await popup.getByRole('textbox', { name: 'Value' }).and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('ArrowRight');
      await popup
        .getByRole('option', { name: /Product/ })
        .getByText('12,345')
        .waitFor();
      await page.keyboard.press('Tab');
      await popup.getByRole('searchbox').focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Space');
      await page.keyboard.press('End');
      await page.keyboard.press('Space');
      await popup.getByText('2 chosen').waitFor();
      await page.screenshot({ path: join(shots, 'popup-values.png') });
      assert.deepEqual(await seriousProblems(page), []);
      await page.keyboard.press('Enter');
      await chip(page, "name is it's, null").waitFor();
      assert.equal(views.at(-1)?.where, "id > 3 AND (name IN ('it''s') OR name IS NULL)");
      await chip(page, "name is it's, null").click();
      await popup.getByText('More than 1,000 values. Type how a value starts.').waitFor();
      assert.equal(await popup.locator('.lance-value[aria-selected=true]').count(), 2, 'what is chosen stays');
      await page.screenshot({ path: join(shots, 'popup-many.png') });
      await popup.getByRole('searchbox').focus();
      await page.keyboard.type('pro');
      await popup.getByRole('option', { name: /^Pro/ }).click();
      await popup.getByRole('combobox', { name: 'Which rows' }).selectOption('Only rows without');
      await popup.getByRole('button', { name: 'Apply' }).click();
      await chip(page, 'name is not 3 values').waitFor();
      assert.equal(views.at(-1)?.where, "id > 3 AND name NOT IN ('it''s', 'Pro')");
      assert.deepEqual(asked, [
        { where: 'id > 3', start: '' },
        { where: 'id > 3', start: '' },
        { where: 'id > 3', start: 'pro' },
      ]);
    }));

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
          await page.locator('[role=gridcell]').first().click();
          await page.keyboard.press('ArrowRight');
          await page.keyboard.press('Alt+ArrowDown');
          await page.getByRole('dialog', { name: 'Filter name' }).waitFor();
          await page.screenshot({ path: join(shots, `popup-${theme}.png`) });
          assert.deepEqual(await seriousProblems(page), []);
        },
        { theme, width },
      ));
});
