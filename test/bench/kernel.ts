import { setTimeout as sleep } from 'node:timers/promises';
import { kernelFlags } from '#processes/nodeVersion.ts';
import { isUsable, snapshotOf, snapshotVariable } from '#processes/startSnapshot.ts';
import { inRoot } from '../../scripts/paths.ts';
import { python } from '../harness/needs/python.ts';
import { cellsFor, type KernelName, lineCharacters, manyLines, printProgram } from './kernelCells.ts';
import { installKernels, type Kernels } from './kernelPeers.ts';
import { answerOf } from './processes.ts';
import { type Figure, goalOf, lineOf, median, numberOf } from './report.ts';

export type KernelBenchOptions = {
  /** Number of measured runs of each kernel. */
  runs: number;
  /** Number of cells between the two measurements of each run. */
  cells: number;
  say: (line: string) => void;
};

const names: readonly KernelName[] = ['ours', 'tslab', 'deno', 'ipykernel'];
const few = 20;
/** Seconds before the cell with the imports. A user types it meanwhile, and an idle kernel may prepare for it. */
const typing = 1;
const mega = 1e6;
const snapshotLimitMs = 120_000;
/**
 * Pause after the imports in the first run of a kernel, in seconds. An idle kernel saves data for later kernels in this
 * pause. The kernel can't do this later, because it is killed in the end, as most kernels are.
 */
const firstPause = 3;

/** The results of one run of kernelSession.py, in milliseconds and bytes. */
type Life = {
  info: number;
  first: number;
  trivial: number;
  declaring: number;
  imports: number;
  complete: Completion;
  trivialLater: number;
  declaringLater: number;
  completeLater: Completion;
  memoryReady: Memory;
  memoryImports: Memory;
  memoryCells: Memory;
  heartbeat: number;
  print: Printed;
  /** Null if the cell got no reply, or the kernel was lost. */
  interrupt: number | null;
};
/** Resident bytes of the process that runs cells, and of this process with its child processes. */
type Memory = { own: number; all: number };
type Completion = { ms: number; first: number; matches: number };
type Printed = { ms: number; characters: number; lines: number };

type Line = { name: string; unit: Figure['unit']; of: (life: Life) => number; goal?: number };

const lines = (cells: number): readonly Line[] => [
  { name: 'start → kernel_info', unit: 'ms', of: (life) => life.info, goal: 250 },
  { name: 'start → first result', unit: 'ms', of: (life) => life.first, goal: 350 },
  { name: 'trivial cell', unit: 'ms', of: (life) => life.trivial, goal: 8 },
  { name: 'declaring cell', unit: 'ms', of: (life) => life.declaring, goal: 15 },
  { name: 'importing the table client and Arrow', unit: 'ms', of: (life) => life.imports, goal: 300 },
  { name: 'completion of members after imports', unit: 'ms', of: (life) => life.complete.ms, goal: 30 },
  { name: `trivial cell after imports and ${cells} cells`, unit: 'ms', of: (life) => life.trivialLater, goal: 8 },
  { name: `declaring cell after imports and ${cells} cells`, unit: 'ms', of: (life) => life.declaringLater, goal: 15 },
  { name: `completion after imports and ${cells} cells`, unit: 'ms', of: (life) => life.completeLater.ms, goal: 30 },
  { name: 'interrupt of an endless loop', unit: 'ms', of: (life) => life.interrupt ?? Number.NaN, goal: 100 },
  { name: 'heartbeat in a busy cell, latest', unit: 'ms', of: (life) => life.heartbeat, goal: 50 },
  { name: 'memory after the first result', unit: 'MB', of: (life) => life.memoryReady.own / mega },
  { name: 'memory after both imports', unit: 'MB', of: (life) => life.memoryImports.own / mega, goal: 300 },
  { name: `memory after ${cells} cells`, unit: 'MB', of: (life) => life.memoryCells.own / mega, goal: 400 },
  // The sum counts a memory page twice if two processes share it, for example a page of Node's code.
  { name: 'that, with all that it has started', unit: 'MB', of: (life) => life.memoryCells.all / mega },
  { name: 'a megabyte of stdout', unit: 'ms', of: (life) => perMegabyte(life.print) },
];

/**
 * Compares our kernel, started by its installed launcher, with tslab, Deno's kernel and ipykernel. The same real
 * Jupyter client drives all of them. The kernels run in turns, so that other load on the machine affects all of them.
 * Before each measured run the kernel has a short run.
 * @throws Error if a peer can't be measured or printed text is lost
 */
export async function benchKernel({ runs, cells, say }: KernelBenchOptions): Promise<Figure[]> {
  const kernels = installKernels();
  const lives: Record<KernelName, Life[]> = { ours: [], tslab: [], deno: [], ipykernel: [] };
  const rested: Start[] = [];
  const plain: Start[] = [];
  const pipes: number[] = [];
  say('a first start of each, not measured: it fills caches …');
  const known = new Map<KernelName, Life>();
  for (const name of names) known.set(name, await live(kernels, name, 0));
  await ownSnapshot(kernels.env);
  for (let round = 1; round <= runs; round++) {
    say(`round ${round} of ${runs} …`);
    for (const name of names) {
      const before = await touch(kernels, name);
      if (name === 'ours') rested.push(before);
      lives[name].push(await live(kernels, name, cells, known.get(name)));
    }
    await startWithoutSnapshot(kernels);
    plain.push(await startWithoutSnapshot(kernels));
    pipes.push(await printToPipe());
  }
  const figures: Figure[] = [];
  const tell = (figure: Figure) => {
    figures.push(figure);
    say(lineOf(figure));
  };
  say(rowOf('medians', names));
  for (const { name, unit, of, goal } of lines(cells)) {
    const row = names.map((kernel): Figure => {
      const value = median(lives[kernel].map(of));
      // Only our kernel has goals.
      return { name: `${kernel}: ${name}`, value, unit, ...(kernel === 'ours' && goal !== undefined && { goal }) };
    });
    figures.push(...row);
    say(`${rowOf(name, row.map(numberOf))}${goalOf(row[0]!)}`);
  }
  for (const [what, of] of [
    ['kernel_info', ({ info }: Start) => info],
    ['first result', ({ first }: Start) => first],
  ] as const)
    tell({ name: `ours, when others ran for minutes: start → ${what}`, value: median(rested.map(of)), unit: 'ms' });
  const without = (of: (start: Start) => number) => ({ value: median(plain.map(of)), unit: 'ms' as const });
  tell({ name: 'ours, without a snapshot: start → kernel_info', ...without(({ info }) => info), goal: 250 });
  tell({ name: 'ours, without a snapshot: start → first result', ...without(({ first }) => first), goal: 900 });
  const pipe = median(pipes);
  tell({ name: 'node: 100 MB of stdout to a pipe', value: pipe, unit: 'ms' });
  const print = median(lives.ours.map((life) => life.print.ms));
  tell({ name: 'ours: 100 MB of stdout / node to a pipe', value: print / pipe, unit: '×', goal: 2 });
  return figures;
}

/** Returns the milliseconds per megabyte; NaN if a part of the text is missing. */
const perMegabyte = ({ ms, lines: printed, characters }: Printed): number =>
  characters === printed * lineCharacters ? (ms * mega) / characters : Number.NaN;

const rowOf = (name: string, cells: readonly string[]): string =>
  `  ${name.padEnd(48)}${cells.map((cell) => cell.padStart(11)).join('')}`;

/** Runs a kernel once. Skips the steps that the kernel could not do in the earlier run `known`. */
async function live(kernels: Kernels, name: KernelName, cells: number, known?: Life): Promise<Life> {
  const order = cellsFor(name, { few, cells, typing, pause: known ? 0 : firstPause });
  if (known && Number.isNaN(perMegabyte(known.print))) order.print = null;
  if (known?.interrupt === null) order.endless = null;
  const seen = (await session(kernels, name, order)) as Partial<Life>;
  const life = { ...(known && { print: known.print, interrupt: known.interrupt }), ...seen } as Life;
  const lost = life.print.lines * lineCharacters - life.print.characters;
  if (lost !== 0 && name === 'ours') throw new Error(`${lost} of the printed characters were lost.`);
  if (life.complete.matches === 0 && name === 'ours') throw new Error('Nothing completes "db.".');
  return life;
}

const session = (kernels: Kernels, name: KernelName, order: object): Promise<unknown> =>
  answerOf(python(), [inRoot('test/bench/python/kernelSession.py'), kernels.specs[name], JSON.stringify(order)], {
    env: kernels.env,
    cwd: kernels.notebooks,
  });

type Start = Pick<Life, 'info' | 'first'>;

/**
 * Runs a kernel for a short time before the measured run, so that the files that it reads are in the memory cache, even
 * if the kernels before it have used the memory.
 */
async function touch(kernels: Kernels, name: KernelName): Promise<Start> {
  const cells = cellsFor(name, { few: 1, cells: 0, typing, pause: 0 });
  return (await session(kernels, name, { ...cells, busy: cells.trivial, print: null, endless: null })) as Start;
}

async function startWithoutSnapshot(kernels: Kernels): Promise<Start> {
  const env = { ...kernels.env, [snapshotVariable]: 'off' };
  const order = { ...cellsFor('ours', { few, cells: 0, typing, pause: 0 }), startOnly: true };
  return (await session({ ...kernels, env }, 'ours', order)) as Start;
}

/** Waits for the snapshot that the first start creates. */
async function ownSnapshot(env: NodeJS.ProcessEnv): Promise<void> {
  const { execPath: node, versions, platform } = process;
  const owner = { node, version: versions.node, flags: kernelFlags(versions.node), entry: inRoot('dist/kernel.cjs') };
  const snapshot = snapshotOf(owner, { env, platform, home: env['HOME'] ?? '' });
  for (const end = Date.now() + snapshotLimitMs; Date.now() < end; await sleep(200)) {
    if (snapshot && isUsable(snapshot)) return;
  }
  throw new Error('The first start of our kernel has left no start-up snapshot behind.');
}

async function printToPipe(): Promise<number> {
  const script = inRoot('test/bench/python/pipeReader.py');
  const { ms, characters } = (await answerOf(python(), [
    script,
    process.execPath,
    '-e',
    printProgram(manyLines),
  ])) as Printed;
  if (characters !== manyLines * lineCharacters) throw new Error(`Node printed ${characters} characters to the pipe.`);
  return ms;
}
