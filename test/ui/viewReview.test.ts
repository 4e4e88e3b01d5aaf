import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { PanelReview } from '#shared/protocol/webviewMessages.ts';
import { seriousProblems } from './parts/accessibility.ts';
import { tableOf } from './parts/panelHostStandIn.ts';
import { openPanelPages, type PanelOptions, type PanelTest } from './parts/panelPages.ts';

const shots = join(import.meta.dirname, '../../test-results/viewReview');

const review: PanelReview = {
  title: 'View of shop/eu/orders',
  facts: [
    { label: 'Connection', text: 'company: https://catalog.example.com, database eu' },
    { label: 'Table', text: 'shop/eu/orders' },
    { label: 'Version', text: 'newest' },
    { label: 'Hidden columns', text: '3' },
  ],
  sql: "select *\nfrom shop.eu.orders\nwhere amount > 400 AND\n  city = 'Berlin'\norder by amount desc",
  note: 'Nothing of this file has run yet.',
  actions: ['showRows', 'alwaysShowRows', 'openText'],
};

suite('What a view file shows before its rows, in a browser', function () {
  this.timeout(60_000);
  const withPanel = openPanelPages({ table: tableOf(5) });

  const withReview = (shown: PanelReview, run: PanelTest, options?: PanelOptions): Promise<void> =>
    withPanel(async (page, host) => {
      await host.review(shown);
      await page.getByRole('heading', { name: shown.title }).waitFor();
      await run(page, host);
    }, options);

  test('is read and answered by keyboard alone', () =>
    withReview(review, async (page, host) => {
      await page.keyboard.press('Tab');
      assert.ok(await page.getByRole('region', { name: 'SQL' }).evaluate((code) => document.activeElement === code));
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Space');
      // The host hears of a click some time after it.
      for (let tries = 0; host.acted.length < 2 && tries < 100; tries++) await page.waitForTimeout(50);
      assert.deepEqual(host.acted, ['showRows', 'alwaysShowRows']);
      assert.equal(await page.getByRole('grid').count(), 0);
    }));

  test('is text: markup is not drawn, and hidden characters are visible', () => {
    const sql = "select *\nfrom t\nwhere a = '<img src=x onerror=alert(1)>' \u202E-- \u200B\n  and b = 2";
    return withReview({ ...review, title: 'View of <b>x</b>', sql }, async (page) => {
      const text = await page.getByRole('region', { name: 'SQL' }).innerText();
      assert.equal(text, "select *\nfrom t\nwhere a = '<img src=x onerror=alert(1)>' ⟨U+202E⟩-- ⟨U+200B⟩\n  and b = 2");
      assert.equal(await page.locator('img, b').count(), 0);
    });
  });

  for (const [theme, width] of [
    ['light', 1_100],
    ['highContrast', 1_100],
    ['dark', 700],
    ['dark', 300],
  ] as const)
    test(`is drawn in the theme ${theme} at ${width} pixels`, () =>
      withReview(
        review,
        async (page) => {
          await page.screenshot({ path: join(shots, `${theme}-${width}.png`) });
          assert.deepEqual(await seriousProblems(page), []);
          const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
          assert.equal(isWide, false, 'nothing is cut');
        },
        { theme, width },
      ));
});
