import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { KernelProcess } from '#processes/kernelProcess.ts';
import { inRoot } from '../../scripts/paths.ts';
import { tempFolder } from '../harness/temp.ts';
import { lineOf, median, type Figure } from './report.ts';

export type LifeBenchOptions = {
  /** Number of cells in the run of a kernel. */
  long: number;
  say: (line: string) => void;
};

const tenths = 10;
/**
 * After this many tenths of the run, stores with a limited number of entries, such as maps of two thousand, are full.
 */
const filled = 3;
const idleMs = 5000;
/** Pause until the work after a cell is done, such as the crash note and V8's garbage collection. */
const restMs = 30_000;
/** Linux counts times in /proc in these units. */
const ticksPerSecond = 100;

// Code that collects garbage first, because memory that can be freed is not growth.
const look = `{
  require('node:v8').setFlagsFromString('--expose-gc');
  const gc = require('node:vm').runInNewContext('gc');
  for (let i = 0; i < 3; i++) gc();
}
[process.memoryUsage().heapUsed, process.memoryUsage.rss()]`;

type Look = { heap: number; rss: number };

/**
 * Measures a long run of one kernel: whether memory and time per cell stay constant, and the cost of an idle kernel.
 */
export async function benchLife({ long, say }: LifeBenchOptions): Promise<Figure[]> {
  const kernel = await KernelProcess.start({
    entry: inRoot('dist/kernel.cjs'),
    node: { path: process.execPath, env: {} },
    cwd: tempFolder(),
    catalog: null,
  });
  try {
    const looks: Look[] = [await lookAt(kernel)];
    const perCell: number[] = [];
    for (let tenth = 1; tenth <= tenths; tenth++) {
      const before = await cpuOf(kernel);
      for (let i = 0; i < long / tenths; i++) await run(kernel, '1 + 1');
      perCell.push(((await cpuOf(kernel)) - before) / (long / tenths));
      looks.push(await lookAt(kernel));
      const { heap, rss } = looks.at(-1)!;
      say(
        `  ${(long / tenths) * tenth} cells: heap ${(heap / 1e6).toFixed(1)} MB, process ${(rss / 1e6).toFixed(0)} MB, ` +
          `${perCell.at(-1)!.toFixed(2)} ms of processor a cell`,
      );
    }
    const first = looks[filled];
    const last = looks.at(-1);
    if (!first || !last) throw new Error('The life was too short to be looked at.');
    const [early, later] = [median(perCell.slice(0, filled)), median(perCell.slice(-filled))];
    const pid = Number(await run(kernel, 'process.pid'));
    await sleep(restMs);
    const idle = processorMs(pid);
    await sleep(idleMs);
    const figures: Figure[] = [
      {
        name: `heap: growth from cell ${(long / tenths) * filled} to ${long}`,
        value: (last.heap - first.heap) / 1e6,
        unit: 'MB',
        goal: 3,
      },
      {
        name: `process: growth from cell ${(long / tenths) * filled} to ${long}`,
        value: (last.rss - first.rss) / 1e6,
        unit: 'MB',
        goal: 30,
      },
      { name: 'processor a cell, last tenths / first', value: later / early, unit: '×', goal: 1.2 },
      { name: `processor over ${idleMs / 1000} idle seconds`, value: processorMs(pid) - idle, unit: 'ms', goal: 20 },
    ];
    for (const figure of figures) say(lineOf(figure));
    return figures;
  } finally {
    await kernel.shutdown();
  }
}

async function run(kernel: KernelProcess, code: string): Promise<string> {
  let shown = '';
  const reply = await kernel.execute(code, (output) => {
    if (output.type === 'execute_result') shown = String(output.content.data['text/plain']);
    if (output.type === 'error') shown = output.content.evalue;
  });
  if (reply.status !== 'ok') throw new Error(`The cell failed: ${shown}`);
  return shown;
}

async function lookAt(kernel: KernelProcess): Promise<Look> {
  const [heap = 0, rss = 0] = JSON.parse(await run(kernel, look)) as number[];
  return { heap, rss };
}

const cpuOf = async (kernel: KernelProcess): Promise<number> =>
  Number(await run(kernel, 'process.cpuUsage().user + process.cpuUsage().system')) / 1000;

/** Returns the processor time of all threads of a process, as counted by the system. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}
