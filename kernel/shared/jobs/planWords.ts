// A plan in the words of a page; terminals and notebooks, which have no room beside a figure, say it in lines (`planRows`).
import { countText } from '#shared/formatNumber.ts';
import type { BackfillPlan, Figure } from './jobPlan.ts';
import { durationText, rateText, runnerWords, sizeText } from './jobWords.ts';

/** One line of a plan. `basis` is what an estimate rests on; `undefined` where the figure was counted. */
export type PlanLine = { readonly label: string; readonly text: string; readonly basis: string | undefined };

const line = (label: string, figure: Figure, write: (value: number) => string): PlanLine => {
  const { value, basis } = figure;
  if (basis === 'counted') return { label, text: write(value), basis: undefined };
  return { label, text: `about ${write(value)}`, basis: basis.estimatedFrom };
};

/** What a run would do, in the order in which a person asks about it. Lines that would say "none" of a detail are left out. */
export function planLines(plan: BackfillPlan): readonly PlanLine[] {
  const { rows, fragments, bytes, rowsPerSecond, seconds } = plan;
  const optional = (label: string, figure: Figure, write: (value: number) => string): readonly PlanLine[] =>
    figure.value > 0 ? [line(label, figure, write)] : [];
  return [
    line('Rows to compute', rows.toCompute, (value) => `${countText(value)} of ${countText(rows.total.value)}`),
    ...optional('Rows filled already', rows.done, countText),
    ...optional('Rows kept from an earlier run', rows.reused, countText),
    line(
      'Fragments to compute',
      fragments.toCompute,
      (value) => `${countText(value)} of ${countText(fragments.total.value)}`,
    ),
    ...optional('Fragments done already', fragments.done, countText),
    line('Read', bytes.read, sizeText),
    line('Written', bytes.written, sizeText),
    ...optional('Of it rewritten beside the column', bytes.rewritten, sizeText),
    ...(rowsPerSecond === undefined ? [] : [line('Speed', rowsPerSecond, rateText)]),
    ...(seconds === undefined ? [] : [line('Time', seconds, durationText)]),
  ];
}

/** `On this machine. Nothing else has to be installed.` */
export const planRunnerText = ({ runner, runnerReason }: BackfillPlan): string =>
  `On ${runnerWords[runner]}. ${runnerReason}`.trim();

/** `SQL: length(note)`, `TypeScript function note_length 2`; of what nobody here has seen no language is said. */
export function functionText({ function: made }: Pick<BackfillPlan, 'function'>): string {
  if (made.kind === 'sql') return `SQL: ${made.expression}`;
  if (made.kind === 'server') return 'A function that the server of the catalog alone knows';
  const version = made.version === '' ? '' : ` ${made.version}`;
  return `${made.kind === 'python' ? 'Python' : 'TypeScript'} function ${made.name}${version}`;
}
