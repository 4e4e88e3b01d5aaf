import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { Table, tableToIPC } from '#arrow';
import { withDistances } from '#catalog/view/nearestRows.ts';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { seriousProblems } from './parts/accessibility.ts';
import { buildRows } from './parts/changedRows.ts';
import { galleryStream, gallerySchema } from './parts/galleryRows.ts';
import { rowsOf } from './parts/gridRows.ts';
import { type PanelHostStandIn, tableOf } from './parts/panelHostStandIn.ts';
import { openPanelPages } from './parts/panelPages.ts';
import type { ThemeName } from './parts/themes.ts';

const shots = join(import.meta.dirname, '../../test-results/panelParts');

const total = 1_000;
const base: Partial<PanelTable> = { hasViews: true, key: 'base', selectsColumns: true };
const distance = { name: '_distance', type: 'float', nullable: true };
const index = { type: 'IVF_PQ', distanceType: 'cosine' } as const;
const differences = buildRows();
const counts = { added: 1, removed: 1, changed: 2 };

const gallery: PanelTable = { ...tableOf(total, base), columns: columnsOf(gallerySchema), key: 'gallery' };
const compared: PanelTable = {
  ...tableOf(4, base),
  columns: columnsOf(differences.schema),
  key: 'compared',
  view: {
    where: '',
    orderBy: [],
    changes: { path: ['shop', 'orders'], version: 3, isBefore: true, key: ['id'], kind: null },
  },
  changes: {
    before: 'version 3',
    after: 'version 7',
    columnChanges: ['more', 'less', 'kind', 'color'].map((name) => ({ name, before: 'double', after: 'utf8' })),
    numShown: 4,
    state: { counts, readable: counts, rowsRead: 9, rowsTotal: 9, compared: 5, end: 'complete' },
  },
};

const value = (text: string, count: number) => ({ kind: 'value' as const, text, literal: `'${text}'`, count });

/** Serves views without filtering, searching or comparing their rows. */
function serve(host: PanelHostStandIn): void {
  host.columnValues = () => ({
    values: ['Mug', 'Lamp', 'Chair'].map((text, at) => value(text, 9 - at)),
    isMore: true,
  });
  host.view = (view) => {
    const shown = { ...base, key: JSON.stringify(view), view, totalRows: total, note: '' };
    if (!view.nearest) return tableOf(12, shown);
    const nearest = { distanceType: 'cosine' as const, index, usesIndex: true, milliseconds: 12.4 };
    return { ...tableOf(12, shown), columns: [...tableOf(1).columns, distance], nearest };
  };
  host.rows = (start, end, wanted) => {
    const distances = Float32Array.from({ length: end - start }, (_, row) => row / 1_000);
    const rows = withDistances(rowsOf(start, end), distances, undefined);
    return tableToIPC(rows.selectAt(wanted ?? tableOf(1).columns.map((_, at) => at)), 'stream');
  };
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const keys = async (page: Page, ...names: readonly string[]): Promise<void> => {
  for (const name of names) await page.keyboard.press(name);
};
const toEmbedding = Array.from({ length: 7 }, () => 'ArrowRight');

type Part = {
  readonly name: string;
  readonly table?: PanelTable;
  readonly prepare?: (host: PanelHostStandIn) => void;
  /** Opens the part by the keyboard, from the first cell. */
  readonly open: (page: Page) => Promise<unknown>;
};

const parts: readonly Part[] = [
  {
    name: 'a range of every kind of value',
    open: async (page) => {
      await keys(page, 'Control+a');
      await page.locator('.lance-selected').nth(9).waitFor();
    },
  },
  {
    name: 'chips of a filter',
    open: async (page) => {
      await page.getByRole('combobox', { name: 'Filter' }).fill("score >= 1 AND name IN ('Mug', 'Lamp') AND id > 5");
      await keys(page, 'Enter');
      await button(page, 'score >= 1').focus();
    },
  },
  {
    name: 'conditions of a column',
    open: async (page) => {
      await keys(page, 'ArrowRight', 'Alt+ArrowDown');
      await page.getByRole('dialog', { name: 'Filter name' }).waitFor();
    },
  },
  {
    name: 'values of a column',
    open: async (page) => {
      await keys(page, 'ArrowRight', 'Alt+ArrowDown');
      await page.getByRole('tab', { name: 'Values' }).click();
      await page.getByRole('option', { name: /Lamp/ }).click();
    },
  },
  {
    name: 'a search',
    open: async (page) => {
      await keys(page, 'Control+f');
      await page.keyboard.type('Product');
      await keys(page, 'Enter');
      await page.locator('.lance-toolbar-count', { hasText: '12 of' }).waitFor();
    },
  },
  {
    name: 'a search for nearest rows',
    open: async (page) => {
      await keys(page, ...toEmbedding);
      await page.locator('.lance-active .lance-vector').waitFor();
      await keys(page, 'Shift+F10');
      await page.getByRole('menuitem', { name: /^Find Nearest Rows/ }).click();
      await page.getByRole('group', { name: 'Nearest rows' }).waitFor();
    },
  },
  {
    name: 'the list of columns',
    open: async (page) => {
      await keys(page, 'Control+Shift+O');
      await page.getByRole('listbox', { name: /^Columns/ }).waitFor();
      await keys(page, 'ArrowDown');
    },
  },
  {
    name: 'a comparison',
    table: compared,
    prepare: (host) => {
      host.rows = (start, end, columns) => {
        const rows = new Table([differences]).slice(start, end);
        return tableToIPC(columns ? rows.selectAt(columns) : rows, 'stream');
      };
    },
    open: (page) => page.locator('.lance-change-sign').first().waitFor(),
  },
  {
    name: 'a gallery and the image of a tile',
    table: gallery,
    prepare: (host) => (host.rows = galleryStream),
    open: async (page) => {
      await button(page, 'Gallery').click();
      await page.locator('.lance-tile canvas').first().waitFor();
      await page.locator('.lance-gallery').focus();
      await keys(page, 'ArrowRight', 'Enter');
      await page.locator('.lance-detail img').waitFor();
    },
  },
];

/** Returns what is cut off or outside of the page, of all that the keyboard reaches and of notes. */
const outside = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    Array.from(
      document.querySelectorAll<HTMLElement>('button, input, select, textarea, [role=tab], .lance-toolbar-count'),
    )
      .filter((element) => element.checkVisibility({ opacityProperty: true }) && !element.closest('[role=grid]'))
      .flatMap((element) => {
        const { left, right, width, height } = element.getBoundingClientRect();
        const isOutside = width > 0 && height > 0 && (left < -1 || right > innerWidth + 1);
        const isCut = element instanceof HTMLButtonElement && element.scrollWidth > element.clientWidth + 1;
        return isOutside || isCut
          ? [`${element.textContent || element.ariaLabel || element.tagName} ${left}–${right}`]
          : [];
      }),
  );

/** Returns the elements that keep colors of the theme where the system's colors are to be used. */
const ownColors = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const probe = document.createElement('span');
    probe.style.forcedColorAdjust = 'none';
    document.body.append(probe);
    const system = (name: string): string => ((probe.style.color = name), getComputedStyle(probe).color);
    const [highlight, text, none] = [system('Highlight'), system('HighlightText'), 'rgba(0, 0, 0, 0)'];
    probe.remove();
    return Array.from(document.body.querySelectorAll('*')).flatMap((element) => {
      const { forcedColorAdjust, color, backgroundColor } = getComputedStyle(element);
      const isFit = color === text && [highlight, none].includes(backgroundColor);
      return forcedColorAdjust !== 'none' || isFit ? [] : [`${element.className}: ${color} on ${backgroundColor}`];
    });
  });

suite('Parts of the table panel for all users, in a browser', function () {
  this.timeout(240_000);
  suiteSetup(() => mkdir(shots, { recursive: true }));

  const inPanel = openPanelPages({ table: tableOf(total, base), width: 900, prepare: serve });

  const withPart = (
    { table, prepare, open }: Part,
    options: { theme?: ThemeName; width?: number },
    run: (page: Page) => Promise<void>,
  ): Promise<void> =>
    inPanel(
      async (page) => {
        await page.locator('[role=grid]').focus();
        await open(page);
        await run(page);
      },
      { ...options, prepare, ...(table && { table }) },
    );

  for (const part of parts) {
    test(`${part.name}: the rules of axe-core hold in every theme, also with the system's colors`, async () => {
      for (const theme of ['dark', 'highContrast', 'highContrastLight'] as const)
        await withPart(part, { theme }, async (page) => {
          assert.deepEqual(await seriousProblems(page), [], theme);
          if (theme !== 'dark') return;
          await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
          assert.deepEqual(await ownColors(page), []);
          assert.equal(await page.evaluate(() => document.getAnimations().length), 0, 'nothing moves');
          await page.screenshot({ path: join(shots, `${part.name.replaceAll(' ', '-')}-forced.png`) });
        });
    });

    test(`${part.name}: everything is in a window of 700 pixels at a zoom of 200 %`, () =>
      withPart(part, { width: 350 }, async (page) => {
        await page.screenshot({ path: join(shots, `${part.name.replaceAll(' ', '-')}-zoom.png`) });
        assert.deepEqual(await outside(page), []);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `the page is ${overflow} pixels wider than the window`);
      }));
  }
});
