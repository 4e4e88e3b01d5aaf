import type { CheckEvent, CheckResult } from '#cluster/result.ts';
import { pluralize } from '#shared/format/markup.ts';

/** The state of a run: the finished checks, the number of all checks, and the running checks. */
export type RunProgress = {
  readonly profile: string;
  readonly results: readonly CheckResult[];
  /** `undefined` if unknown. */
  readonly total: number | undefined;
  readonly asking: readonly string[];
};

/** Returns a function that adds an event and returns the state of the run. */
export function createProgressTracker(profile: string, total: number | undefined): (event: CheckEvent) => RunProgress {
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

/** Maximum number of checks named in the line. */
const named = 3;

/** Formats the state of a run: `12 of 45 checks, 1 failed · k8s-reach, sa-exists` */
export function formatProgress({ results, total, asking }: RunProgress): string {
  const failed = results.filter(({ status }) => status === 'fail').length;
  const count =
    total === undefined ? pluralize(results.length, 'check') : `${results.length} of ${pluralize(total, 'check')}`;
  const more = asking.length > named ? ` and ${asking.length - named} more` : '';
  const now = asking.length === 0 ? '' : ` · ${asking.slice(0, named).join(', ')}${more}`;
  return `${count}${failed > 0 ? `, ${failed} failed` : ''}${now}`;
}
