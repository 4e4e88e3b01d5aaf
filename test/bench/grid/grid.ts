import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CDPSession, Frame, Page } from 'playwright-core';
import { inRoot } from '../../../scripts/paths.ts';
import { makeSample } from '../../../scripts/sample.ts';
import { openWindow } from '../../harness/window.ts';
import { frameWith } from '../../harness/workbench.ts';
import { expand, openCatalog, treeRow } from '../../ui/parts/catalogWindow.ts';
import { lineOf, median, type Figure } from '../report.ts';
import { benchGridMemory, scrollAround } from './gridMemory.ts';
import { gridCatalog, gridTables } from './gridTables.ts';
import { openPlainTable } from './plainTable.ts';

type GridBenchOptions = { runs: number; minutes: number; say: (line: string) => void };

type TableName = keyof typeof gridTables;

const patience = 120_000;
const frames = 180;

/**
 * Measures the table panel in the real workbench: first rows after a click, and the processor time and the length of a
 * frame while scrolling. The peer is a plain table of the same size in the same browser.
 */
export async function benchGrid({ runs, minutes, say }: GridBenchOptions): Promise<Figure[]> {
  const root = await gridCatalog(say);
  // A window of the tests has their sample too.
  await makeSample(inRoot('.sample/tests'), { log: say });
  const window = await openWindow({ 'lanceCatalog.defaultConnections': [{ name: 'bench', root }] });
  const { page, browser } = window;
  const figures: Figure[] = [];
  const tell = (...more: Figure[]): void => {
    for (const figure of more) {
      figures.push(figure);
      say(lineOf(figure));
    }
  };
  try {
    await openCatalog(page);
    await expand(page, 'Connection bench');
    const client = await page.context().newCDPSession(page);
    await countProcessorTime(client);
    await open(page, 'narrow');
    say(`first rows after a click, median of ${runs}, in one panel; load ${loadavg()[0]!.toFixed(1)}:`);
    const first: Record<string, number[]> = {};
    // Each table follows another one, because a click on the shown table changes nothing.
    const names: TableName[] = [
      'wide',
      'narrow',
      'widest',
      'small_images',
      'large_images',
      'million',
      'hundred_million',
    ];
    for (let run = 0; run < runs; run++)
      for (const name of names) {
        (first[name] ??= []).push(await open(page, name));
        if (name.endsWith('images')) (first[`${name}: images`] ??= []).push(await untilImages(page));
        // The table that is clicked next must not wait for the images.
        if (name.endsWith('images')) (first[`narrow after ${name}`] ??= []).push(await open(page, 'narrow'));
      }
    const time = (name: string): number => median(first[name]!);
    tell(
      { name: 'first rows, 7 columns', value: time('narrow'), unit: 'ms' },
      { name: 'first rows, 400 columns / 7 columns', value: time('wide') / time('narrow'), unit: '×', goal: 1.5 },
      { name: 'first rows, 2,000 columns / 7 columns', value: time('widest') / time('narrow'), unit: '×' },
      {
        name: 'first rows, 100 million rows / 1 million',
        value: time('hundred_million') / time('million'),
        unit: '×',
        goal: 1.2,
      },
      {
        name: 'first rows beside images of 120 KB / 7 columns',
        value: time('small_images') / time('narrow'),
        unit: '×',
        goal: 1.2,
      },
      {
        name: 'first rows beside images of 700 KB / 7 columns',
        value: time('large_images') / time('narrow'),
        unit: '×',
        goal: 1.2,
      },
      {
        name: 'images of the screen, 120 KB, after the rows',
        value: time('small_images: images'),
        unit: 'ms',
        goal: 2_000,
      },
      {
        name: 'images of the screen, 700 KB, after the rows',
        value: time('large_images: images'),
        unit: 'ms',
        goal: 2_000,
      },
      {
        name: 'first rows after images of 120 KB / from rest',
        value: time('narrow after small_images') / time('narrow'),
        unit: '×',
        goal: 1.2,
      },
      {
        name: 'first rows after images of 700 KB / from rest',
        value: time('narrow after large_images') / time('narrow'),
        unit: '×',
        goal: 1.2,
      },
    );
    say(`scrolling by 120 pixels a frame, ${frames} frames, median of ${runs}:`);
    const plain = await browser.page.context().newPage();
    const plainClient = await plain.context().newCDPSession(plain);
    await countProcessorTime(plainClient);
    const scrolled: Record<string, Scrolled[]> = {};
    for (let run = 0; run < runs; run++) {
      for (const name of ['narrow', 'wide', 'widest', 'million', 'hundred_million'] as const) {
        await page.bringToFront();
        await open(page, name);
        const frame = await frameWith(page, '[role=grid]', patience);
        if (name === 'million' || name === 'hundred_million') {
          (scrolled[`${name} by wheel`] ??= []).push(await scroll(frame, client, { by: 'wheel', pixels: 120 }));
          // The bars have the same length, so a pixel of the bar is 100 times as many rows of the larger table.
          const pixels = name === 'million' ? 12_000 : 120;
          (scrolled[`${name} by bar`] ??= []).push(await scroll(frame, client, { by: 'bar', pixels }));
        } else (scrolled[name] ??= []).push(await scroll(frame, client, { by: 'bar', pixels: 120 }));
      }
      await plain.bringToFront();
      await openPlainTable(plain, 10_000, gridTables.wide);
      (scrolled['plain'] ??= []).push(
        await scroll(plain.mainFrame(), plainClient, { by: 'bar', pixels: 120 }, '#scroller'),
      );
    }
    await plain.close();
    const processor = (name: string): number => median(scrolled[name]!.map(({ processorMs }) => processorMs));
    tell(
      { name: 'processor time of a frame, 7 columns', value: processor('narrow'), unit: 'ms, exact' },
      { name: 'processor time of a frame, plain table of 400 columns', value: processor('plain'), unit: 'ms, exact' },
      {
        name: 'processor time of a frame, 400 / 7 columns',
        value: processor('wide') / processor('narrow'),
        unit: '×',
        goal: 1.3,
      },
      {
        name: 'processor time of a frame, 2,000 / 7 columns',
        value: processor('widest') / processor('narrow'),
        unit: '×',
      },
      {
        name: 'processor time of a frame, 400 columns / plain table',
        value: processor('wide') / processor('plain'),
        unit: '×',
        goal: 1.3,
      },
      {
        name: 'processor time of a frame, 100 million rows / 1 million, wheel',
        value: processor('hundred_million by wheel') / processor('million by wheel'),
        unit: '×',
        goal: 1.2,
      },
      {
        name: 'processor time of a frame, 100 million rows / 1 million, same rows by the bar',
        value: processor('hundred_million by bar') / processor('million by bar'),
        unit: '×',
        goal: 1.2,
      },
      {
        name: 'frames over 33 ms, 400 columns',
        value: 100 * median(scrolled['wide']!.map(({ slow }) => slow)),
        unit: '%',
        goal: 1,
      },
    );
    const last: number[] = [];
    for (let run = 0; run < runs; run++)
      // Each table follows another one.
      for (const name of ['narrow', 'hundred_million'] as const) {
        await open(page, name);
        if (name === 'hundred_million') last.push(await untilLastRow(await frameWith(page, '[role=grid]', patience)));
      }
    tell({ name: 'from the first to the last of 100 million rows', value: median(last), unit: 'ms' });
    if (minutes > 0) {
      const tables: readonly TableName[] = [
        'wide',
        'hundred_million',
        'small_images',
        'widest',
        'large_images',
        'narrow',
      ];
      const scrollOnce = async (turn: number): Promise<void> => {
        await open(page, tables[turn % tables.length]!);
        await scrollAround(await frameWith(page, '[role=grid]', patience));
      };
      tell(...(await benchGridMemory(window, { minutes, say }, scrollOnce)));
    }
  } finally {
    await window.close();
  }
  return figures;
}

/** Clicks a table and returns the time until its first row is on the screen, in milliseconds. */
async function open(page: Page, name: TableName): Promise<number> {
  const row = treeRow(page, `Table ${name}`);
  await row.waitFor();
  const started = performance.now();
  await row.click();
  const title = page.locator('.tabs-container .tab.active', { hasText: `${name} (bench)` });
  const end = Date.now() + patience;
  for (;;) {
    for (const frame of page.frames()) {
      const isShown = await frame
        .evaluate((columns) => {
          const grid = document.querySelector('[role=grid]');
          const cell = document.querySelector('[role=row][aria-rowindex="2"] [role=gridcell][aria-colindex="2"] span');
          return grid?.ariaColCount === String(columns + 1) && Boolean(cell?.textContent) && grid.ariaLabel;
        }, gridTables[name])
        .catch(() => false);
      if (isShown === `bench/${name}`) {
        const time = performance.now() - started;
        await title.waitFor();
        return time;
      }
    }
    if (Date.now() > end) throw new Error(`No rows of ${name} after ${patience / 1_000} s.`);
    await sleep(5);
  }
}

/** Returns the time until all images in the view are drawn, in milliseconds. */
async function untilImages(page: Page): Promise<number> {
  const started = performance.now();
  const frame = await frameWith(page, '[role=grid]', patience);
  await frame.waitForFunction(
    () => {
      const images = [...document.querySelectorAll('.lance-image')];
      const rows = document.querySelectorAll('.lance-rows > [role=row]').length;
      return rows > 0 && images.length >= rows - 1 && images.every((image) => !image.matches('.lance-decoding'));
    },
    undefined,
    { timeout: patience },
  );
  return performance.now() - started;
}

/** Scrolls to the last row. Returns the time until it is drawn, in milliseconds. */
const untilLastRow = (frame: Frame): Promise<number> =>
  frame.evaluate(async () => {
    const grid = document.querySelector('[role=grid]')!;
    const started = performance.now();
    grid.scrollTop = grid.scrollHeight;
    const isDrawn = () =>
      Boolean(document.querySelector(`[role=row][aria-rowindex="${grid.ariaRowCount}"] [role=gridcell] span`));
    while (!isDrawn()) {
      if (performance.now() - started > 60_000) throw new Error('The last row is not drawn after 60 s.');
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    return performance.now() - started;
  });

type Scrolled = { processorMs: number; slow: number };

/** Scrolls down frame by frame. Returns the processor time of the main thread a frame, and the share of slow frames. */
async function scroll(
  frame: Frame,
  client: CDPSession,
  step: { by: 'bar' | 'wheel'; pixels: number },
  selector = '[role=grid]',
): Promise<Scrolled> {
  const before = await taskSeconds(client);
  const slow = await frame.evaluate(
    async ([of, count, { by, pixels }]) => {
      const scroller = document.querySelector(of)!;
      let late = 0;
      let last = performance.now();
      for (let done = 0; done < count; done++) {
        if (by === 'bar') scroller.scrollTop += pixels;
        else scroller.dispatchEvent(new WheelEvent('wheel', { deltaY: pixels, bubbles: true, cancelable: true }));
        const now = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
        if (now - last > 33.5) late++;
        last = now;
      }
      return late / count;
    },
    [selector, frames, step] as const,
  );
  return { processorMs: ((await taskSeconds(client)) - before) * (1_000 / frames), slow };
}

/** Without this, Chromium counts the time that passes, so that other load on the machine would look like ours. */
const countProcessorTime = (client: CDPSession): Promise<unknown> =>
  client.send('Performance.enable', { timeDomain: 'threadTicks' });

/** Returns the processor time of the main thread, in seconds; see `countProcessorTime`. */
async function taskSeconds(client: CDPSession): Promise<number> {
  const { metrics } = await client.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
}
