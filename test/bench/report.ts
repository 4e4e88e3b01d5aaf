import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { inRoot } from '../../scripts/paths.ts';

/** One line of the result: what was measured, the figure, and its limit. */
export type Figure = {
  name: string;
  value: number;
  unit: keyof typeof digits;
  /** The maximum allowed figure. */
  goal?: number;
};

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

/**
 * Calls all ways in turns, so that other load on the machine affects all of them. Each turn has another order, because
 * a call leaves data in the processor's caches for the next call. Returns the median of each way in milliseconds, after
 * a warm-up: V8 compiles our code only after many calls, but peers in native code are compiled already.
 */
export async function inTurns<K extends string>(
  ways: Readonly<Record<K, () => Promise<unknown>>>,
  runs: number,
  warmUps = 1,
): Promise<Record<K, number>> {
  const names = Object.keys(ways) as K[];
  const times = Object.fromEntries(names.map((name): [K, number[]] => [name, []])) as Record<K, number[]>;
  for (let run = -warmUps; run < runs; run++) {
    for (const name of shuffled(names)) {
      const started = performance.now();
      await ways[name]();
      if (run >= 0) times[name].push(performance.now() - started);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(times[name])])) as Record<K, number>;
}

const shuffled = <T>(values: readonly T[]): T[] =>
  values
    .map((value) => ({ value, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ value }) => value);

export const isMissed = ({ value, goal }: Figure): boolean => goal !== undefined && !(value <= goal);

const digits = {
  ms: 0,
  'ms, exact': 2,
  code: 0,
  MB: 0,
  'MB a minute': 1,
  '×': 2,
  '%': 1,
  requests: 0,
  operations: 0,
  differences: 0,
  names: 0,
  versions: 0,
} as const;

// Returns the value with its unit; `never` if nothing could be measured, for example because an interrupt ended the
// kernel.
export const numberOf = ({ value, unit }: Figure): string =>
  Number.isNaN(value) ? 'never' : `${value.toFixed(digits[unit])} ${unit.replace(', exact', '')}`;

/** Returns the goal of a figure and whether it is met; empty without a goal. */
export const goalOf = (figure: Figure): string =>
  figure.goal === undefined ? '' : `   goal ≤ ${figure.goal} ${figure.unit}: ${isMissed(figure) ? 'MISSED' : 'met'}`;

/** Returns a figure as a line of text. The mark is at the end, so that the names are aligned. */
export const lineOf = (figure: Figure): string =>
  `  ${figure.name.padEnd(58)}${numberOf(figure).padStart(16)}${goalOf(figure)}`;

/** Returns the properties of the machine that affect the figures. */
export function machine(): { cores: number; cpu: string; memoryMb: number; load: number; node: string } {
  const [cpu] = cpus();
  return {
    cores: cpus().length,
    cpu: cpu?.model.trim() ?? 'unknown',
    memoryMb: Math.round(totalmem() / 1e6),
    load: loadavg()[0]!,
    node: process.versions.node,
  };
}

/** Saves a result as JSON, to compare it with later ones. @returns the file */
export function keep(name: string, result: unknown): string {
  const folder = inRoot('test-results/bench');
  mkdirSync(folder, { recursive: true });
  const file = `${folder}/${name}.json`;
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
  return file;
}

/** Returns how busy the machine is: the share of processor time that is in use during the given time. */
export async function busyShare(milliseconds = 1000): Promise<number> {
  const before = ticks();
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  const after = ticks();
  return 1 - (after.idle - before.idle) / Math.max(1, after.all - before.all);
}

function ticks(): { idle: number; all: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const numbers = line.split(/\s+/).slice(1).map(Number);
  const idle = (numbers[3] ?? 0) + (numbers[4] ?? 0);
  return { idle, all: numbers.reduce((sum, number) => sum + number, 0) };
}
