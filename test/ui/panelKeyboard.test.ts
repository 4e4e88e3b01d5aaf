import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { type PanelHostStandIn, tableOf } from './parts/panelHostStandIn.ts';
import { openPanelPages } from './parts/panelPages.ts';

const total = 1_000;
const base: Partial<PanelTable> = { hasViews: true, key: 'base', selectsColumns: true };

/** Serves views without filtering or searching their rows. */
function serve(host: PanelHostStandIn): void {
  host.view = (view) => {
    if (view.where === '' && !view.search) return tableOf(total, base);
    return tableOf(12, { ...base, key: JSON.stringify(view), view, totalRows: total, note: '' });
  };
}

/** Returns the name of the focused element, and whether its focus is seen. */
const focus = (page: Page): Promise<{ name: string; isSeen: boolean }> =>
  page.evaluate(() => {
    const element = document.activeElement;
    if (!(element instanceof HTMLElement)) return { name: '', isSeen: false };
    const isSeen = [element, element.querySelector('.lance-active')].some((one) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(one ?? document.body);
      return outlineStyle === 'solid' && parseFloat(outlineWidth) >= 1;
    });
    const name = element.ariaLabel ?? element.getAttribute('aria-label') ?? element.textContent ?? '';
    return { name: element.role ? `${element.role} ${name}` : name, isSeen };
  });

const press = async (page: Page, ...keys: readonly string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};

/** Presses a key until the focus is back where it was, and returns the names of what was focused, each seen. */
async function walk(page: Page, key: string, isEnd: (name: string) => boolean): Promise<string[]> {
  const names: string[] = [];
  for (let step = 0; step < 40; step++) {
    await page.keyboard.press(key);
    const { name, isSeen } = await focus(page);
    if (isEnd(name)) return names;
    assert.ok(isSeen, `the focus on "${name}" is seen`);
    names.push(name);
  }
  throw new Error(`The focus does not return: ${names.join(', ')}.`);
}

const isFocused = (page: Page, selector: string) =>
  page.waitForFunction((one) => document.activeElement?.matches(one) === true, selector);
const backInGrid = (page: Page) => isFocused(page, '[role=grid]');

suite('The table panel by keyboard alone, in a browser', function () {
  this.timeout(120_000);
  const inPanel = openPanelPages({ table: tableOf(total, base), prepare: serve });

  test('Tab goes through toolbar, rows and the line below, and everywhere the focus is seen', () =>
    inPanel(async (page) => {
      await page.locator('[role=grid]').focus();
      const after = await walk(page, 'Tab', (name) => name === '' || name.startsWith('\n') || name === 'Filter');
      assert.deepEqual(after, ['Columns', 'Table', 'Gallery']);
      await page.getByRole('combobox', { name: 'Filter' }).focus();
      const before = await walk(page, 'Tab', (name) => name.startsWith('grid '));
      assert.deepEqual(before.slice(0, 2), ['Search text', 'Views']);
      assert.match(before.at(-1)!, /^Version 3/);
    }));

  test('boxes keep Tab, so that none stays open behind the focus, and Escape returns to the rows', () =>
    inPanel(async (page) => {
      const openers: readonly [string, () => Promise<void>][] = [
        ['Filter name', () => press(page, 'Control+Home', 'ArrowRight', 'Alt+ArrowDown')],
        ['Find Nearest Rows', () => openNearest(page)],
        ['Go to Row', () => press(page, 'Control+g')],
      ];
      for (const [name, open] of openers) {
        await page.locator('[role=grid]').focus();
        await open();
        const box = name === 'Go to Row' ? page.locator('.lance-go') : page.getByRole('dialog', { name });
        await box.waitFor();
        for (const key of ['Tab', 'Shift+Tab'])
          for (let step = 0; step < 8; step++) {
            await page.keyboard.press(key);
            assert.ok(
              await box.evaluate((element) => element.contains(document.activeElement)),
              `${name}: ${key} ${step}`,
            );
            assert.ok((await focus(page)).isSeen, name);
          }
        await page.keyboard.press('Escape');
        await box.waitFor({ state: 'detached' });
        await backInGrid(page);
      }
    }));

  test('header menu, chips, search, list of columns, gallery and pane are left by Escape to where they were opened', () =>
    inPanel(async (page) => {
      await page.locator('[role=grid]').focus();
      await press(page, 'ArrowRight', 'ArrowUp', 'Enter');
      await page.getByRole('menuitem', { name: 'Pin Left' }).waitFor();
      await press(page, 'ArrowDown', 'Escape');
      await backInGrid(page);

      await page.getByRole('combobox', { name: 'Filter' }).focus();
      await page.keyboard.type('id > 5 AND score >= 1 ');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'score >= 1', exact: true }).waitFor();
      await page.getByRole('button', { name: 'id > 5', exact: true }).focus();
      await press(page, 'ArrowRight');
      assert.deepEqual(await focus(page), { name: 'score >= 1', isSeen: true });
      await press(page, 'Escape');
      await backInGrid(page);

      await press(page, 'Control+f');
      await isFocused(page, '[role=searchbox], [type=search]');
      await press(page, 'Escape');
      await backInGrid(page);

      await press(page, 'Control+Shift+O');
      await page.getByRole('listbox', { name: /^Columns/ }).waitFor();
      await press(page, 'ArrowDown');
      assert.ok((await focus(page)).isSeen);
      await press(page, 'Escape');
      await backInGrid(page);

      await page.getByRole('button', { name: 'Gallery', exact: true }).focus();
      await press(page, 'Enter');
      await isFocused(page, '.lance-gallery');
      await page.locator('.lance-tile canvas').first().waitFor();
      await press(page, 'ArrowRight', 'Enter');
      await page.locator('.lance-detail img').waitFor();
      await press(page, 'F6');
      assert.ok((await focus(page)).isSeen);
      await press(page, 'Escape');
      await isFocused(page, '.lance-gallery');
      assert.equal(await page.locator('.lance-detail').count(), 0);
    }));

  test('the mouse and the arrow keys move one mark in a menu', () =>
    inPanel(async (page) => {
      await page.locator('[role=grid]').focus();
      await press(page, 'ArrowUp', 'Enter');
      const item = (name: string) => page.getByRole('menuitem', { name, exact: true });
      await item('Pin Left').hover();
      await isFocused(page, '[role=menuitem]:hover');
      assert.equal((await focus(page)).name, 'menuitem Pin Left');
      await press(page, 'ArrowUp');
      assert.equal((await focus(page)).name, 'menuitem Auto-Fit All');
    }));
});

/** Opens the search for nearest rows from the header of the vectors. */
async function openNearest(page: Page): Promise<void> {
  await press(page, 'Control+Home', ...Array.from({ length: 7 }, () => 'ArrowRight'), 'ArrowUp', 'Shift+F10');
  await page.getByRole('menuitem', { name: /^Find Nearest Rows/ }).focus();
  await page.keyboard.press('Enter');
}
