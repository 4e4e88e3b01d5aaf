import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { tempFolder } from '../../harness/temp.ts';
import { rowFunction } from './local/localJobs.ts';

/** A function that records each call in a file, and waits from a row on until the test lets it continue. */
export type Gated = {
  readonly function: ComputedFunction;
  /** Returns the number of calls for each id. */
  calls(): Map<number, number>;
  /** Returns the ids of the processes in which the function was called. */
  pids(): number[];
  open(): void;
};

/**
 * @param from the first id that waits
 * @param value the result, as a TypeScript expression of `id` and `text`
 */
export function gatedFunction(column: string, from: number, value = 'text.length'): Gated {
  const folder = tempFolder();
  const [calls, gate] = [join(folder, 'calls'), join(folder, 'gate')];
  const code = `
    import { appendFileSync, existsSync } from 'node:fs';
    import { setTimeout as pause } from 'node:timers/promises';
    export default async ({ id, text }) => {
      while (Number(id) >= ${from} && !existsSync(${JSON.stringify(gate)})) await pause(10);
      appendFileSync(${JSON.stringify(calls)}, id + ' ' + process.pid + '\\n');
      return ${value};
    };`;
  const lines = (): string[][] =>
    existsSync(calls)
      ? readFileSync(calls, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => line.split(' '))
      : [];
  return {
    function: rowFunction(column, code, ['id', 'text']),
    calls: () => {
      const counts = new Map<number, number>();
      for (const [id] of lines()) counts.set(Number(id), (counts.get(Number(id)) ?? 0) + 1);
      return counts;
    },
    pids: () => [...new Set(lines().map(([, pid]) => Number(pid)))],
    open: () => writeFileSync(gate, ''),
  };
}
