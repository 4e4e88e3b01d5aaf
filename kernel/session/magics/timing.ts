import type { CellOutcome } from '#session/run/cellRunner.ts';
import { exactDurationText } from '#shared/format/times.ts';
import { alone } from './cellParts.ts';
import { MagicError, type MagicDeps, type MagicRun, type MagicUse, nothing } from './magicTypes.ts';

/** `%time`: runs the code as a cell, and returns the value of the cell. */
export const time: MagicRun = async (use, { runner }) => {
  const code = codeOf(use);
  let milliseconds: number | undefined;
  let cpu: NodeJS.CpuUsage | undefined;
  // Only the execution is measured, without the type check.
  const outcome = await runner.run(code, use.count, async (body) => {
    const started = performance.now();
    const cpuBefore = process.cpuUsage();
    try {
      return await body();
    } finally {
      milliseconds = performance.now() - started;
      cpu = process.cpuUsage(cpuBefore);
    }
  });
  if (milliseconds !== undefined && cpu && !use.signal.aborted) {
    const { user, system } = cpu;
    const parts = [`user ${exactDurationText(user * 1000)}`, `sys ${exactDurationText(system * 1000)}`];
    process.stdout.write(`CPU times: ${parts.join(', ')}, total ${exactDurationText((user + system) * 1000)}\n`);
    process.stdout.write(`Wall time: ${exactDurationText(milliseconds * 1e6)}\n`);
  }
  return outcome;
};

const defaultRuns = 7;
/** Minimum duration of a measured run. In a shorter run the error of the clock is too large. */
const leastRunMs = 200;
const maxLoops = 1e9;

/** Runs the code `loops` times and returns the duration in milliseconds. */
type Loop = (loops: number, stop: Stop) => Promise<number>;
type Stop = { readonly isOver: boolean };

export const timeit: MagicRun = async (use, parts) => {
  const wanted = optionsOf(use);
  const code = codeOf(use);
  const made = await compileLoop(use, code, parts);
  if ('error' in made) return made;
  // The loop reads `isOver` in each iteration to find out whether to stop. `isOver` is true from the start if the
  // interrupt arrived during compilation.
  const stop: Stop = {
    get isOver() {
      return use.signal.aborted;
    },
  };
  const loops = wanted.loops ?? (await chooseLoops(made.loop, stop));
  const each: number[] = [];
  for (let run = 0; run < wanted.runs && !stop.isOver; run++) each.push(((await made.loop(loops, stop)) * 1e6) / loops);
  if (!stop.isOver) process.stdout.write(`${summary(each, loops)}\n`);
  return nothing;
};

async function chooseLoops(loop: Loop, stop: Stop): Promise<number> {
  for (let loops = 1; loops < maxLoops && !stop.isOver; loops *= 10)
    if ((await loop(loops, stop)) >= leastRunMs) return loops;
  return maxLoops;
}

/**
 * Compiles the code as a loop inside one function, so that no kernel code is measured. First runs the code as a cell,
 * so that errors are reported at their positions. The code is put into a block, so that its declarations are local.
 */
async function compileLoop(
  { code: span, count }: MagicUse,
  code: string,
  { runner }: MagicDeps,
): Promise<{ loop: Loop } | CellOutcome> {
  const start = span?.start ?? 0;
  const block = (open: string, close: string) => `${before(code.slice(0, start), open)}${code.slice(start)}\n${close}`;
  const first = await runner.run(block(';{', '}'), count);
  if (first.error) return first;
  const { compiler } = runner;
  const mode = compiler.typeCheck;
  // The first run has checked the types. The check is off for the loop, because the added code has no type annotations:
  // JavaScript cells must not contain any.
  compiler.typeCheck = 'off';
  const open =
    '(async ($loops, $stop) => { const $start = globalThis.performance.now(); ' +
    'for (let $loop = 0; $loop < $loops && !$stop.isOver; $loop++) {';
  const made = runner.run(block(open, '} return globalThis.performance.now() - $start; })'), count);
  compiler.typeCheck = mode;
  const { value, error } = await made;
  if (error) return { value: undefined, error };
  return { loop: value?.shown as Loop };
}

/** Puts text into the blanks before the code, so that the code keeps its position. */
const before = (blanks: string, text: string): string =>
  blanks.endsWith('\n') ? `${blanks.slice(0, -1)}${text}\n` : `${blanks.slice(0, -text.length)}${text}`;

function optionsOf({ name, source, code, rest }: MagicUse): { loops: number | undefined; runs: number } {
  const end = code?.start ?? source.length;
  const head = source.slice(0, end);
  const options = head.slice(head.lastIndexOf(`%${name}`) + name.length + 1) || rest;
  const found = Object.fromEntries(
    [...options.matchAll(/-([a-z])\s*(\d+)/g)].map(([, key, value]) => [key, Number(value)]),
  );
  const strange = Object.keys(found).find((key) => key !== 'n' && key !== 'r');
  if (strange !== undefined)
    throw new MagicError(`Unknown option -${strange}. Use -n for the loops per run and -r for the number of runs.`);
  const [wrong] = /^-[nr](?=\s+[\p{ID_Start}$_])/u.exec(source.slice(end)) ?? [];
  if (wrong !== undefined) throw new MagicError(`Expected a number after ${wrong}, for example %${name} ${wrong} 100.`);
  if (found['n'] === 0 || found['r'] === 0) throw new MagicError('At least one loop and one run are needed.');
  return { loops: found['n'], runs: found['r'] ?? defaultRuns };
}

function codeOf({ source, code, name }: MagicUse): string {
  if (!code || source.slice(code.start, code.end).trim() === '')
    throw new MagicError(`There is no code: write it after %${name}, or below %%${name}.`);
  return alone(source, code);
}

const many = (count: number, unit: string): string => `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`;

/** @param each nanoseconds per loop, for each run */
function summary(each: readonly number[], loops: number): string {
  const mean = each.reduce((sum, one) => sum + one, 0) / each.length;
  const deviation = Math.sqrt(each.reduce((sum, one) => sum + (one - mean) ** 2, 0) / each.length);
  return (
    `${exactDurationText(mean)} ± ${exactDurationText(deviation)} per loop, best ${exactDurationText(Math.min(...each))} ` +
    `(mean ± std. dev. of ${many(each.length, 'run')}, ${many(loops, 'loop')} each)`
  );
}
