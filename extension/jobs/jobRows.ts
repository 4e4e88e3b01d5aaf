import { countText } from '#shared/format/numbers.ts';
import { agoText } from '#shared/format/times.ts';
import {
  errorsText,
  isActive,
  jobTableText,
  progressText,
  rateText,
  rowsText,
  runnerLabels,
  stateLabels,
} from '#shared/jobs/jobLabels.ts';
import type { JobState, JobView } from '#shared/jobs/jobView.ts';
import { codeSpan, type InertMarkdown, markdown, paragraphs, plainText } from '../host/inertMarkdown.ts';
import type { TreeRow } from '../host/treeRow.ts';

/** Icon and theme color of each state; the state is always shown as a word, too. */
const stateIcons: Readonly<Record<JobState, { readonly id: string; readonly color?: string }>> = {
  queued: { id: 'clock' },
  starting: { id: 'loading~spin' },
  running: { id: 'sync~spin' },
  interrupted: { id: 'debug-pause', color: 'problemsWarningIcon.foreground' },
  succeeded: { id: 'pass-filled', color: 'testing.iconPassed' },
  failed: { id: 'error', color: 'problemsErrorIcon.foreground' },
  cancelled: { id: 'circle-slash', color: 'disabledForeground' },
};

/** Renders a job without `vscode`, so that tests need no editor. */
export function renderJob(view: JobView, now: number): TreeRow {
  const table = jobTableText(view.table);
  const told = toldOf(view, now);
  return {
    id: view.id,
    label: `${view.table.name}.${view.column}`,
    description: told,
    tooltip: tooltipOf(view, now),
    spoken: `Backfill of ${view.column} in ${table}: ${told}. ${view.sentence}`.trim(),
    icon: stateIcons[view.state],
    contextValue: contextOf(view),
  };
}

/**
 * Returns a short text, because a side bar is narrow: `42 % · 2 min left` for an active job, `done · 3 rows failed · 5
 * min ago` for an ended one.
 */
function toldOf(view: JobView, now: number): string {
  const failed = errorsText(view);
  const word = stateLabels[view.state];
  if (isActive(view)) {
    const progress = progressText({ ...view, rowsPerSecond: undefined });
    return [view.state === 'running' && progress !== '' ? progress : word, failed].filter(Boolean).join(' · ');
  }
  const share = view.state === 'succeeded' ? '' : progressText(view);
  const ago = view.endedAt === undefined ? '' : agoText(view.endedAt, now);
  return [word, share && `at ${share}`, failed, ago].filter(Boolean).join(' · ');
}

function tooltipOf(view: JobView, now: number): InertMarkdown {
  const { table, column, functionName, runner, rows, bottleneck, failure, sentence, state, rowsPerSecond } = view;
  const done = rows.total === undefined ? rowsText(rows.done) : `${countText(rows.done)} of ${rowsText(rows.total)}`;
  const facts = [
    `${done}${rows.reused > 0 ? `, ${rowsText(rows.reused)} from an earlier run` : ''}`,
    ...(isActive(view) && rowsPerSecond !== undefined ? [rateText(rowsPerSecond)] : []),
    `on ${runnerLabels[runner]}`,
    `created ${agoText(view.createdAt, now)}`,
  ];
  return paragraphs([
    markdown`**${plainText(column)}** of ${plainText(`${table.catalog} ${jobTableText(table)} — ${stateLabels[state]}`)}`,
    plainText(sentence),
    failure && !sentence.includes(failure.hint) ? plainText(failure.hint) : undefined,
    bottleneck === undefined ? undefined : plainText(bottleneck),
    plainText([functionName, ...facts].join(' · ')),
    codeSpan(view.id),
  ]);
}

/** Returns a value such as `job.running.cancel` or `job.failed.resume.remove`. */
const contextOf = ({ state, can }: JobView): string =>
  ['job', state, ...(['cancel', 'resume', 'retry', 'remove'] as const).filter((what) => can[what])].join('.');

export function boardMessage(views: readonly JobView[]): string {
  const cut = views.filter(({ state }) => state === 'interrupted').length;
  if (cut === 0) return '';
  return cut === 1
    ? 'A job was interrupted. Resume it to continue where it stopped.'
    : `${cut} jobs were interrupted. Resume them to continue where they stopped.`;
}
