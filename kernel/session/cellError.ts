import { inspect } from 'node:util';
import type { CellError } from './coreMessages.ts';
import type { CellMaps } from './cellMaps.ts';

/** Frames of the kernel and of Node, which say nothing about the cell. */
const innerFrame = /^\s+at .*(?:kernel\.cjs|node:vm|node:internal|tslab[\\/]dist)/;

/** What code threw, as Jupyter's three fields; causes and further properties are in the traceback. */
export function describeError(thrown: unknown, maps: CellMaps): CellError {
  if (!(thrown instanceof Error) && !isErrorLike(thrown)) {
    const evalue = typeof thrown === 'string' ? thrown : safeInspect(thrown);
    return { ename: 'Error', evalue, traceback: [`Uncaught ${evalue}`] };
  }
  const ename = thrown.name || 'Error';
  const evalue = thrown.message;
  const text = safeInspect(thrown);
  const traceback = maps
    .translate(text)
    .split('\n')
    .filter((line) => !innerFrame.test(line));
  return { ename, evalue, traceback };
}

/** What the type checker has against a cell: it did not run. */
export function describeProblems(problems: readonly string[]): CellError {
  return { ename: 'TypeScriptError', evalue: problems.join('\n'), traceback: [...problems] };
}

// An Error of another realm, from `node:vm` for instance, is not an instance of ours.
const isErrorLike = (value: unknown): value is Error =>
  typeof value === 'object' && value !== null && 'stack' in value && 'message' in value;

/** `util.inspect` without colours, and without trusting the value's own `inspect` not to throw. */
export function safeInspect(value: unknown): string {
  try {
    return inspect(value, { colors: false, depth: 4, maxArrayLength: 100, maxStringLength: 10_000 });
  } catch (error) {
    return `[a value that can't be shown: ${error instanceof Error ? error.message : 'its inspect threw'}]`;
  }
}
