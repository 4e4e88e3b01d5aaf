import { withHint } from '#shared/errors.ts';
import { countText, sizeText } from '#shared/format/numbers.ts';
import { durationText } from '#shared/format/times.ts';
import type { RunnerName } from './backfill.ts';
import type { BackfillPlan, Figure } from './jobPlan.ts';
import type { JobState, JobTable, JobView } from './jobView.ts';

// Short labels of a job, the same in the editor, in a notebook and in a terminal.

export const stateLabels: Readonly<Record<JobState, string>> = {
  queued: 'queued',
  starting: 'starting',
  running: 'running',
  interrupted: 'interrupted',
  succeeded: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
};

export const runnerLabels: Readonly<Record<RunnerName, string>> = {
  local: 'this machine',
  'local-python': 'this machine, with Python',
  ray: 'Ray',
  rest: 'the catalog’s server',
};

/** Whether a job waits for its process, starts or runs. */
export const isActive = ({ state }: Pick<JobView, 'state'>): boolean =>
  state === 'queued' || state === 'starting' || state === 'running';

/** Whether the server rejected a job before it ran, so that there is nothing to resume. */
export const isRefused = ({ state, failure, rows }: Pick<JobView, 'state' | 'failure' | 'rows'>): boolean =>
  state === 'failed' && failure?.code === 'ServerRefused' && rows.total === undefined;

/** `shop/eu/orders` */
export const jobTableText = ({ namespacePath, name }: JobTable): string => [...namespacePath, name].join('/');

/** `950 rows/s`, `12,300 rows/s`, `0.4 rows/s`: three digits, because rates vary. */
export function rateText(rowsPerSecond: number): string {
  const rounded = Number(rowsPerSecond.toPrecision(3));
  return `${rounded < 10 ? String(rounded) : countText(Math.round(rounded))} rows/s`;
}

const mostUnwritten = 0.99;

/**
 * Returns the finished share, from 0 to 1; 1 means that everything is in the table. `undefined` while the total is
 * unknown.
 */
export function shareDone({ rows, fragments, state, skipped, share: counted }: JobView): number | undefined {
  // Skipped rows count as not done, because they are left for the next run.
  if (state === 'succeeded') return rows.done === 0 ? 1 : Math.max(0, rows.done - skipped) / rows.done;
  const [done, total] = rows.total === undefined ? [fragments.done, fragments.total] : [rows.done, rows.total];
  if (total === undefined) return undefined;
  const share = total === 0 ? 1 : Math.min(1, Math.max(0, counted ?? done / total));
  // Computed rows may not be written to the table yet, even if the run has ended.
  const isWritten = fragments.total !== undefined && fragments.done >= fragments.total;
  return isActive({ state }) || !isWritten ? Math.min(share, mostUnwritten) : share;
}

/** `42 %`: rounded down, so that 100 % is never shown while rows are left. */
export const percentText = (share: number): string => `${Math.floor(share * 100)} %`;

/** `42 % · 12,300 rows/s · 2 min left` or `80 % · writing`, with the known parts only. */
export function progressText(view: JobView): string {
  const share = shareDone(view);
  const { rowsPerSecond, secondsLeft } = view;
  return [
    ...(share === undefined ? [] : [percentText(share)]),
    ...(isActive(view) && view.phase === 'writing' ? ['writing'] : []),
    ...(isActive(view) && rowsPerSecond !== undefined && rowsPerSecond > 0 ? [rateText(rowsPerSecond)] : []),
    ...(isActive(view) && secondsLeft !== undefined ? [`${durationText(secondsLeft)} left`] : []),
  ].join(' · ');
}

/** `1 row`, `1,200 rows` */
export const rowsText = (count: number): string => `${countText(count)} ${count === 1 ? 'row' : 'rows'}`;

/** `3 rows failed`; empty if no row failed. */
export const errorsText = ({ errors }: Pick<JobView, 'errors'>): string =>
  errors.count === 0 ? '' : `${rowsText(errors.count)} failed`;

/** Why a job stopped, and the next step. */
export function failureText({ failure, sentence }: Pick<JobView, 'failure' | 'sentence'>): string {
  if (!failure) return sentence;
  return failure.message.includes(failure.hint) ? failure.message : withHint(failure.message, failure.hint);
}

// A plan as text for a page, which shows the basis beside a figure. Terminals and notebooks have no space for that, so
// they use `planRows`.

/** One line of a plan. `basis` is the basis of an estimate; `undefined` if the figure was counted. */
type PlanLine = { readonly label: string; readonly text: string; readonly basis: string | undefined };

const line = (label: string, figure: Figure, write: (value: number) => string): PlanLine => {
  const { value, basis } = figure;
  if (basis === 'counted') return { label, text: write(value), basis: undefined };
  return { label, text: `about ${write(value)}`, basis: basis.estimatedFrom };
};

/** Lists what a run would do, most important first. Details that are zero are left out. */
export function planLines(plan: BackfillPlan): readonly PlanLine[] {
  const { rows, fragments, bytes, versions, rowsPerSecond, seconds } = plan;
  const optional = (label: string, figure: Figure, write: (value: number) => string): readonly PlanLine[] =>
    figure.value > 0 ? [line(label, figure, write)] : [];
  return [
    line('Rows to compute', rows.toCompute, (value) => `${countText(value)} of ${countText(rows.total.value)}`),
    ...optional('Rows already filled', rows.done, countText),
    ...optional('Rows kept from an earlier run', rows.reused, countText),
    line(
      'Fragments to compute',
      fragments.toCompute,
      (value) => `${countText(value)} of ${countText(fragments.total.value)}`,
    ),
    ...optional('Fragments already done', fragments.done, countText),
    line('Read', bytes.read, sizeText),
    line('Written', bytes.written, sizeText),
    ...optional('Rewritten in addition to the column', bytes.rewritten, sizeText),
    ...(versions === undefined ? [] : [line('New versions, at most', versions, countText)]),
    ...(rowsPerSecond === undefined ? [] : [line('Speed', rowsPerSecond, rateText)]),
    ...(seconds === undefined ? [] : [line('Time', seconds, durationText)]),
  ];
}

/** `On this machine. Nothing else has to be installed.` */
export const planRunnerText = ({ runner, runnerReason }: BackfillPlan): string =>
  `On ${runnerLabels[runner]}. ${runnerReason}`.trim();

/** `SQL: length(note)`, `TypeScript function note_length 2`; without a language for a function of the server. */
export function functionText({ function: made }: Pick<BackfillPlan, 'function'>): string {
  if (made.kind === 'sql') return `SQL: ${made.expression}`;
  if (made.kind === 'server') return 'A function that only the catalog server knows';
  const version = made.version === '' ? '' : ` ${made.version}`;
  return `${made.kind === 'python' ? 'Python' : 'TypeScript'} function ${made.name}${version}`;
}
