import { readdirSync, readFileSync } from 'node:fs';
import type { Frame } from 'playwright-core';
import { processMemory } from '../../harness/processMemory.ts';
import type { Window } from '../../harness/window.ts';
import type { Figure } from '../report.ts';

const megabyte = 1e6;
/** Number of samples of a run. */
const samples = 20;
/** The largest growth of a process, in megabytes a minute, once its caches are full. */
const flat = 5;

/** A shorter run says nothing about growth. */
const leastMinutes = 5;

type GridProcesses = { readonly engine: number[]; readonly host: number[]; readonly page: number[] };
type MemorySample = { readonly minute: number } & Readonly<Record<keyof GridProcesses, number>>;

/**
 * Measures the memory of the engine, the extension host and the pages of the browser while tables are opened and
 * scrolled. Prints each sample, and returns how much each grows in the second half, when caches are full.
 * @param scrollOnce opens one table after another and scrolls in it
 */
export async function benchGridMemory(
  window: Window,
  { minutes, say }: { minutes: number; say: (line: string) => void },
  scrollOnce: (turn: number) => Promise<void>,
): Promise<Figure[]> {
  say(`memory in MB while scrolling for ${minutes} minutes:`);
  const series: MemorySample[] = [];
  const started = performance.now();
  const minute = (): number => (performance.now() - started) / 60_000;
  for (let turn = 0; minute() < minutes; turn++) {
    await scrollOnce(turn);
    if (minute() < (series.length * minutes) / samples) continue;
    const sample = takeSample(minute(), findProcesses(window));
    series.push(sample);
    const { engine, host, page } = sample;
    say(
      `  minute ${sample.minute.toFixed(1)}: engine ${engine.toFixed(0)}, host ${host.toFixed(0)}, page ${page.toFixed(0)}`,
    );
  }
  const later = series.slice(Math.floor(series.length / 2));
  return (['engine', 'host', 'page'] as const).map((name) => ({
    name: `growth of the ${name}`,
    value: slopeOf(later.map((sample) => [sample.minute, sample[name]])),
    unit: 'MB a minute',
    ...(minutes >= leastMinutes && { goal: flat }),
  }));
}

/** Returns the slope of the straight line that is nearest to the points. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  let [products, squares] = [0, 0];
  for (const [x, y] of points) {
    products += (x - meanX) * (y - meanY);
    squares += (x - meanX) ** 2;
  }
  return products / squares;
}

const memoryOf = (pids: readonly number[]): number =>
  pids.reduce((total, pid) => total + processMemory(pid, 'now') / megabyte, 0);

function takeSample(minute: number, processes: GridProcesses): MemorySample {
  const { engine, host, page } = processes;
  return { minute, engine: memoryOf(engine), host: memoryOf(host), page: memoryOf(page) };
}

/** Finds the engine and the host below the server of the window, and the pages below its browser. */
function findProcesses({ server, browser }: Window): GridProcesses {
  const all = readProcesses();
  const below = (pid: number): number[] =>
    all.filter(({ parent }) => parent === pid).flatMap((child) => [child.pid, ...below(child.pid)]);
  const commandOf = new Map(all.map(({ pid, command }) => [pid, command]));
  const withText = (pids: readonly number[], text: string): number[] =>
    pids.filter((pid) => commandOf.get(pid)?.includes(text) === true);
  const ofServer = server.child.pid === undefined ? [] : below(server.child.pid);
  const browsers = all.filter(({ command }) => command.includes(browser.folder) && !command.includes('--type='));
  return {
    engine: withText(ofServer, 'engine.cjs'),
    host: withText(ofServer, '--type=extensionHost'),
    page: withText([...new Set(browsers.flatMap(({ pid }) => below(pid)))], '--type=renderer'),
  };
}

function readProcesses(): { pid: number; parent: number; command: string }[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      // The name of the program is in brackets and may have spaces.
      const parent = /\) \S (\d+) /.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))?.[1];
      return [{ pid: Number(name), parent: Number(parent), command: readFileSync(`/proc/${name}/cmdline`, 'utf8') }];
    } catch {
      // The process has ended meanwhile.
      return [];
    }
  });
}

/** Scrolls a grid in all ways: frame by frame, by jumps, to the last row and to other columns. */
export const scrollAround = (frame: Frame): Promise<void> =>
  frame.evaluate(async () => {
    const scroller = document.querySelector('[role=grid]')!;
    for (let step = 0; step < 60; step++) {
      scroller.scrollTop += 120;
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    for (let step = 0; step < 30; step++) {
      scroller.scrollTop = (scroller.scrollHeight * ((step * 7) % 30)) / 30;
      scroller.scrollLeft = (scroller.scrollWidth * ((step * 11) % 30)) / 30;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    scroller.scrollTop = scroller.scrollHeight;
    await new Promise((resolve) => setTimeout(resolve, 200));
    scroller.scrollTop = 0;
    scroller.scrollLeft = 0;
  });
