import { inspect } from 'node:util';
import { isCatalogError } from '#shared/errors.ts';
import type { CellError } from '#session/coreMessages.ts';
import type { CellMaps } from './cellMaps.ts';

/** Frames of the kernel and of Node, which say nothing about the cell. */
const innerFrame = /(?:kernel\.cjs|node:|tslab[\\/]dist)/;
const maxCauses = 5;

/** What code threw, as Jupyter's three fields. The traceback has the frames of the person's own code, and the causes. */
export function describeError(thrown: unknown, maps: CellMaps): CellError {
  if (!isErrorLike(thrown)) {
    const evalue = typeof thrown === 'string' ? thrown : safeInspect(thrown);
    return { ename: 'Error', evalue, traceback: [`Uncaught ${evalue}`] };
  }
  const ename = nameOf(thrown);
  const evalue = thrown.message;
  const frames = maps
    .translate(String(thrown.stack))
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && !innerFrame.test(line));
  return { ename, evalue, traceback: [`${ename}: ${evalue}`, ...frames, ...causesOf(thrown)] };
}

/** What the type checker has against a cell: it did not run. */
export function describeProblems(problems: readonly string[]): CellError {
  return { ename: 'TypeScriptError', evalue: problems.join('\n'), traceback: [...problems] };
}

function causesOf(thrown: Error): string[] {
  // Its sentence says it all; what is below are the engine's own words, with paths of the machine that built it.
  if (isCatalogError(thrown)) return [];
  const lines: string[] = [];
  let at: unknown = thrown;
  for (let depth = 0; depth < maxCauses && isErrorLike(at); depth++) {
    if (at instanceof AggregateError)
      for (const each of at.errors.slice(0, maxCauses)) lines.push(`  one of them: ${sentence(each)}`);
    at = at.cause;
    if (at !== undefined) lines.push(`Caused by ${sentence(at)}`);
  }
  return lines;
}

// Code can put anything in place of a name.
const nameOf = ({ name }: { name: unknown }): string => (typeof name === 'string' && name ? name : 'Error');
const sentence = (value: unknown): string =>
  isErrorLike(value) ? `${nameOf(value)}: ${value.message}` : safeInspect(value);

// An Error of another realm, from `node:vm` for instance, is not an instance of ours.
const isErrorLike = (value: unknown): value is Error =>
  typeof value === 'object' &&
  value !== null &&
  'stack' in value &&
  'message' in value &&
  typeof value.message === 'string';

/** `util.inspect` without colours, and without trusting the value's own `inspect` not to throw. */
export function safeInspect(value: unknown): string {
  try {
    return inspect(value, { colors: false, depth: 4, maxArrayLength: 100, maxStringLength: 10_000 });
  } catch (error) {
    return `[a value that can't be shown: ${error instanceof Error ? error.message : 'its inspect threw'}]`;
  }
}
