import { readFileSync } from 'node:fs';
import { inRoot } from '../../../scripts/paths.ts';
import type { ViewSpec } from '#catalog/view/listRows.ts';
import { benchTable, type BenchTable } from '../data.ts';
import { memoryOf, startOurs } from '../growth/servers.ts';
import { answerOf } from '../processes.ts';
import { type Figure, lineOf, median } from '../report.ts';
import type { EngineOrder, EngineRun } from './engineSort.ts';
import type { ViewsOrder, ViewsRun } from './viewsRunner.ts';

export type ViewsOptions = {
  /** Number of measured runs of each view. */
  runs: number;
  /** Millions of rows. */
  sizes: readonly number[];
  say: (line: string) => void;
};

const columns = ['id', 'price', 'country'] as const;

/** A view, the key that the engine sorts by for comparison, and goals at one size. */
type View = { spec: ViewSpec; key?: string; filter?: string };
const views: Readonly<Record<string, View>> = {
  'sorted by a number': { spec: { orderBy: [{ column: 'price' }] }, key: 'price' },
  'sorted by text of few values': { spec: { orderBy: [{ column: 'country' }] }, key: 'country' },
  filtered: { spec: { where: 'quantity > 5' }, filter: 'quantity > 5' },
};

/** Goals in milliseconds, by the name of the figure and millions of rows. */
const firstGoal = { millions: 10, ms: 1000 };
const deepGoal = 100;
const filterGoal = { millions: 1, ms: 150 };
const listGoal = 1.3;
const memoryGoal = { millions: [10, 100], mb: 1500 };

/**
 * Measures views over a server, in a process as that of a window: the first rows, the list of row ids beside the
 * engine's own sort or filter, and a page far down.
 */
export async function benchViews({ runs, sizes, say }: ViewsOptions): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const millions of sizes) {
    const table = await benchTable(millions, say);
    for (const [title, view] of Object.entries(views)) {
      say(`${millions} M rows, ${title}:`);
      const measured = await measure(table, { ...view, title, millions, runs });
      for (const figure of measured) say(lineOf(figure));
      figures.push(...measured);
    }
  }
  return figures;
}

async function measure(
  { root, name }: BenchTable,
  { title, spec, key, filter, millions, runs }: View & { title: string; millions: number; runs: number },
): Promise<Figure[]> {
  const server = await startOurs(root);
  try {
    const watch = watchProcesses(server.pid);
    const order: ViewsOrder = { uri: server.address, name, spec, columns, runs };
    const ours = (await answerOf(process.execPath, [
      ...process.execArgv,
      inRoot('test/bench/views/viewsRunner.ts'),
      JSON.stringify(order),
    ])) as ViewsRun;
    watch.stop();
    const alone: EngineOrder = { root, name, key, filter, runs };
    const engine = (await answerOf(process.execPath, [
      ...process.execArgv,
      inRoot('test/bench/views/engineSort.ts'),
      JSON.stringify(alone),
    ])) as EngineRun;
    const [list, own] = [median(ours.list), median(engine.ms)];
    const what = `${millions} M, ${title}:`;
    const isFilter = key === undefined;
    return [
      {
        name: `${what} first 500 rows`,
        value: median(ours.first),
        unit: 'ms',
        ...(millions === firstGoal.millions && { goal: firstGoal.ms }),
      },
      {
        name: `${what} list of ${ours.rows} row ids`,
        value: list,
        unit: 'ms',
        ...(isFilter && millions === filterGoal.millions && { goal: filterGoal.ms }),
      },
      { name: `${what} the engine alone`, value: own, unit: 'ms' },
      { name: `${what} list / engine`, value: list / own, unit: '×', ...(!isFilter && { goal: listGoal }) },
      { name: `${what} page of 500 rows in the middle`, value: median(ours.deep), unit: 'ms', goal: deepGoal },
      {
        name: `${what} most memory, server and views`,
        value: watch.most() + ours.peak / 1e6,
        unit: 'MB',
        ...(memoryGoal.millions.includes(millions) && { goal: memoryGoal.mb }),
      },
    ];
  } finally {
    await server.stop();
  }
}

/** Milliseconds between two readings of the memory. */
const watchMs = 100;

/** Measures the most megabytes that a process and its child processes have together. A server sorts in a child process. */
function watchProcesses(pid: number): { most: () => number; stop: () => void } {
  let most = 0;
  const readMemory = (): void => {
    // A process that has just ended is still listed, and has no memory.
    const sizes = processesOf(pid).map((each) => memoryOf(each) || 0);
    most = Math.max(
      most,
      sizes.reduce((sum, size) => sum + size, 0),
    );
  };
  const timer = setInterval(() => {
    try {
      readMemory();
    } catch {
      // A child process has ended between two calls.
    }
  }, watchMs).unref();
  return { most: () => most, stop: () => clearInterval(timer) };
}

const processesOf = (pid: number): number[] => [
  pid,
  ...readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((text) => text !== '')
    .flatMap((text) => processesOf(Number(text))),
];
