import type { CheckEvent, CheckResult } from '#cluster/result.ts';
import { counted } from '#shared/format/markup.ts';

/** How far a run is: checks that have finished, how many there will be, and those that are being asked. */
export type RunSoFar = {
  readonly profile: string;
  readonly results: readonly CheckResult[];
  /** `undefined` where that is not known. */
  readonly total: number | undefined;
  readonly asking: readonly string[];
};

/** Gathers the events of a run, and gives after each how far it is. */
export function runFollower(profile: string, total: number | undefined): (event: CheckEvent) => RunSoFar {
  const results: CheckResult[] = [];
  const asking = new Set<string>();
  return (event) => {
    if (event.type === 'started') asking.add(event.id);
    else {
      asking.delete(event.result.id);
      results.push(event.result);
    }
    return { profile, results, total, asking: [...asking] };
  };
}

/** Names of checks that are said in one line. */
const named = 3;

/** How far a run is, in one line: `12 of 45 checks, 1 failed · k8s-reach, sa-exists` */
export function progressOf({ results, total, asking }: RunSoFar): string {
  const failed = results.filter(({ status }) => status === 'fail').length;
  const count =
    total === undefined ? counted(results.length, 'check') : `${results.length} of ${counted(total, 'check')}`;
  const more = asking.length > named ? ` and ${asking.length - named} more` : '';
  const now = asking.length === 0 ? '' : ` · ${asking.slice(0, named).join(', ')}${more}`;
  return `${count}${failed > 0 ? `, ${failed} failed` : ''}${now}`;
}
