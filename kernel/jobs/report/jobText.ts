import { alignColumns, cutText, oneLine } from '#shared/format/markup.ts';
import { countText, sizeText } from '#shared/format/numbers.ts';
import { durationText } from '#shared/format/times.ts';
import { toSnake } from '#shared/jobs/caseKeys.ts';
import {
  errorsText,
  failureText,
  isActive,
  jobTableText,
  progressText,
  rowsText,
  runnerLabels,
  stateLabels,
} from '#shared/jobs/jobLabels.ts';
import type { BackfillPlan, BackfillTrial } from '#shared/jobs/jobPlan.ts';
import type { JobView } from '#shared/jobs/jobView.ts';

/** Builds the output of `--json`, with all stored error samples. A view contains no secret. */
export const jobJson = (view: JobView): unknown => toSnake(withoutToken(view));

/** Builds the output of `--json`, with the hash instead of the code of the function. */
export function planJson(plan: BackfillPlan): unknown {
  const { name, version, hash, kind, inputs } = plan.function;
  return toSnake(withoutToken({ ...plan, function: { name, version, hash, kind, inputs } }));
}

/** Builds the output of `--json`; rows are Arrow IPC streams in base64. */
export const trialJson = (trial: BackfillTrial): unknown => toSnake(trial);

/** Removes the token that Ray options may include. */
function withoutToken<T extends { readonly options: JobView['options'] }>(shown: T): T {
  const { ray } = shown.options;
  if (!ray || !('token' in ray)) return shown;
  const { token: _, ...place } = ray;
  return { ...shown, options: { ...shown.options, ray: place } };
}

/** Returns for instance `shop/products.length`. */
export const jobPlace = (view: JobView): string => `${jobTableText(view.table)}.${view.column}`;

/** Formats a job as one status line. */
export function jobLine(view: JobView): string {
  const parts = [`${jobPlace(view)}: ${stateLabels[view.state]}`, progressText(view), errorsText(view)];
  return oneLine([...parts, view.bottleneck ?? view.sentence].filter((part) => part !== '').join(' · '));
}

/** Columns of the job table, by heading. */
const jobCells = {
  id: ({ id }) => id,
  column: jobPlace,
  function: ({ functionName }) => functionName,
  runner: ({ runner }) => runner,
  state: ({ state }) => stateLabels[state],
  progress: progressText,
  begun: ({ createdAt }, now) => `${durationText((now - createdAt) / 1000)} ago`,
} as const satisfies Record<string, (view: JobView, now: number) => string>;

type JobCell = keyof typeof jobCells;

/** Columns that are left out, in this order, if the terminal is narrow. They are not needed to identify a job. */
const expendable: readonly JobCell[] = ['function', 'runner', 'begun', 'progress'];

/**
 * Formats jobs as aligned columns.
 * @param width maximum length of a line. Columns are left out until the lines fit. Lines that still do not fit are cut
 */
export function jobTable(views: readonly JobView[], now: number, width = Infinity): string {
  const all = Object.keys(jobCells) as JobCell[];
  const tables = [0, 1, 2, 3, 4].map((few) => all.filter((cell) => !expendable.slice(0, few).includes(cell)));
  const linesOf = (cells: readonly JobCell[]): string[] =>
    alignColumns([cells, ...views.map((view) => cells.map((cell) => jobCells[cell](view, now)))], 60);
  const fits = (lines: readonly string[]): boolean => lines.every((line) => line.length <= width);
  const lines = tables.map(linesOf).find(fits) ?? linesOf(tables.at(-1) ?? all);
  return lines.map((line) => cutText(line, width)).join('\n');
}

const of = (done: number, total: number | undefined): string =>
  total === undefined ? countText(done) : `${countText(done)} of ${countText(total)}`;

export function jobDetails(view: JobView): string {
  const { rows, fragments, failure, startedAt, endedAt } = view;
  const lines: [string, string][] = [
    ['column', `${jobPlace(view)} in ${view.table.catalog}`],
    ['function', `${view.functionName} ${view.functionHash.slice(0, 16)}`],
    ['runner', `${view.runner} (${runnerLabels[view.runner]}): ${view.runnerReason}`],
    ['state', [stateLabels[view.state], progressText(view)].filter((part) => part !== '').join(' · ')],
    ['now', view.sentence],
    ['rows', `${of(rows.done, rows.total)}${rows.reused > 0 ? `, ${countText(rows.reused)} from an earlier run` : ''}`],
    ['fragments', of(fragments.done, fragments.total)],
    ['written', `${sizeText(view.bytesWritten)}${view.version === undefined ? '' : `, version ${view.version}`}`],
  ];
  // If a job ended without a report, its duration is unknown.
  if (startedAt !== undefined && (endedAt !== undefined || isActive(view)))
    lines.push([
      'took',
      durationText(((endedAt ?? Date.now()) - startedAt) / 1000) + (endedAt === undefined ? ' so far' : ''),
    ]);
  if (view.bottleneck !== undefined) lines.push(['held up by', view.bottleneck]);
  if (view.conflicts > 0) lines.push(['conflicts', `${countText(view.conflicts)}, all retried`]);
  if (view.skipped > 0) lines.push(['skipped', `${rowsText(view.skipped)}, for the next run`]);
  if (failure) lines.push(['failure', failure.message]);
  return [...lined([['job', view.id], ...lines]), ...errorLines(view)].join('\n');
}

function lined(lines: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, text]) => `${name.padEnd(width)}  ${oneLine(text)}`);
}

/** Formats the stored samples of failed rows. */
export function errorLines({ errors }: JobView): string[] {
  if (errors.count === 0) return [];
  const samples = errors.samples.map(({ fragment, row, message, inputs }) => {
    const given = Object.entries(inputs).map(([name, value]) => `${name} = ${value}`);
    const what = `fragment ${fragment}, row ${row}: ${message}${given.length === 0 ? '' : ` (${given.join(', ')})`}`;
    return `  ${oneLine(what)}`;
  });
  const more = errors.count - samples.length;
  return [
    `${rowsText(errors.count)} failed${samples.length === 0 ? '.' : ':'}`,
    ...samples,
    ...(more > 0 && samples.length > 0 ? [`  … and ${countText(more)} more`] : []),
  ];
}

/** Formats how a job ended and, if it failed, what to do. */
export function endText(view: JobView): string {
  const took = view.startedAt === undefined ? 0 : ((view.endedAt ?? view.startedAt) - view.startedAt) / 1000;
  if (view.state === 'succeeded') {
    const skipped = view.skipped > 0 ? `; ${countText(view.skipped)} of them failed, left for the next run` : '';
    const { done, reused } = view.rows;
    const kept = reused > 0 ? `; ${countText(reused)} kept from an earlier run` : '';
    return `${jobPlace(view)}: ${rowsText(done - reused)} in ${durationText(took)}${skipped}${kept}.`;
  }
  if (isActive(view)) return `${jobPlace(view)}: ${stateLabels[view.state]}.`;
  return `${jobPlace(view)}: ${failureText(view)}`;
}
