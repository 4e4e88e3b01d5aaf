import { loadavg } from 'node:os';
import type { Frame, Page } from 'playwright-core';
import { inRoot } from '../../../scripts/paths.ts';
import { makeSample } from '../../../scripts/sample.ts';
import { openWindow } from '../../harness/window.ts';
import { frameWith } from '../../harness/workbench.ts';
import { expand, openCatalog, treeRow } from '../../ui/parts/catalogWindow.ts';
import { lineOf, type Figure } from '../report.ts';
import { galleryCatalog } from './galleryTable.ts';

type GalleryBenchOptions = { say: (line: string) => void };

const patience = 120_000;

/** How the gallery is scrolled: pixels a step, and the time between steps. */
const ways = [
  { name: 'a notch of the wheel each 100 ms', pixels: 120, everyMs: 100, steps: 150 },
  { name: 'a notch of the wheel each frame', pixels: 120, everyMs: 16, steps: 600 },
  { name: 'a jump each 1.5 s', pixels: 20_000, everyMs: 1_500, steps: 12 },
] as const;

type Way = { readonly pixels: number; readonly everyMs: number; readonly steps: number };

/**
 * Scrolls the gallery of a table of images of 120 KB in the real workbench, and measures how long a tile in the view
 * was blank, and how long no tile in the view had its image.
 */
export async function benchGallery({ say }: GalleryBenchOptions): Promise<Figure[]> {
  const root = await galleryCatalog(say);
  // A window of the tests has their sample too.
  await makeSample(inRoot('.sample/tests'), { log: say });
  const window = await openWindow({ 'lanceCatalog.defaultConnections': [{ name: 'bench', root }] });
  const figures: Figure[] = [];
  try {
    await openCatalog(window.page);
    await expand(window.page, 'Connection bench');
    const frame = await openGallery(window.page);
    for (const { name, ...way } of ways) {
      await frame.locator('.lance-gallery').evaluate((scroller) => (scroller.scrollTop = 0));
      await untilDrawn(frame);
      const { tileMs, screenMs, tiles } = await scroll(frame, way);
      say(`${name}: ${tiles} tiles, load ${loadavg()[0]!.toFixed(1)}`);
      const measured: Figure[] = [
        { name: `longest blank tile, ${name}`, value: tileMs, unit: 'ms', goal: 1_000 },
        { name: `longest time without an image, ${name}`, value: screenMs, unit: 'ms', goal: 1_000 },
      ];
      for (const figure of measured) {
        figures.push(figure);
        say(lineOf(figure));
      }
    }
  } finally {
    await window.close();
  }
  return figures;
}

async function openGallery(page: Page): Promise<Frame> {
  await treeRow(page, 'Table photos').click();
  const frame = await frameWith(page, '.lance-switch:not([hidden])', patience);
  await frame.getByRole('button', { name: 'Gallery', exact: true }).click();
  await untilDrawn(frame);
  return frame;
}

const untilDrawn = (frame: Frame): Promise<unknown> =>
  frame.waitForFunction(
    () => {
      const tiles = [...document.querySelectorAll('.lance-tile')];
      return tiles.length > 0 && tiles.every((tile) => tile.querySelector('canvas:not(.lance-decoding)'));
    },
    undefined,
    { timeout: patience },
  );

type Blank = { readonly tileMs: number; readonly screenMs: number; readonly tiles: number };

/** Scrolls down, and two seconds longer watches how long tiles are blank. A tile is watched while it is in the view. */
const scroll = (frame: Frame, way: Way): Promise<Blank> =>
  frame.evaluate(async ({ pixels, everyMs, steps }) => {
    const scroller = document.querySelector('.lance-gallery')!;
    const blankSince = new Map<string, number>();
    const seen = new Set<string>();
    let [tileMs, screenMs] = [0, 0];
    let drawnAt = performance.now();
    const watch = (now: number): void => {
      const shown = new Set<string>();
      let hasImage = false;
      for (const tile of document.querySelectorAll('.lance-tile')) {
        shown.add(tile.id);
        seen.add(tile.id);
        if (tile.querySelector('canvas:not(.lance-decoding)')) {
          blankSince.delete(tile.id);
          hasImage = true;
        } else {
          const since = blankSince.get(tile.id) ?? now;
          blankSince.set(tile.id, since);
          tileMs = Math.max(tileMs, now - since);
        }
      }
      for (const id of blankSince.keys()) if (!shown.has(id)) blankSince.delete(id);
      if (hasImage) drawnAt = now;
      screenMs = Math.max(screenMs, now - drawnAt);
    };
    const started = performance.now();
    let step = 0;
    for (let now = started; now < started + steps * everyMs + 2_000;) {
      const due = Math.min(steps, Math.floor((now - started) / everyMs));
      for (; step < due; step++) scroller.scrollTop += pixels;
      now = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
      watch(now);
    }
    return { tileMs, screenMs, tiles: seen.size };
  }, way);
