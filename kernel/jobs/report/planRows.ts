import { pluralize } from '#shared/format/markup.ts';
import { countText, sizeText } from '#shared/format/numbers.ts';
import { durationText } from '#shared/format/times.ts';
import { rateText, rowsText, runnerLabels } from '#shared/jobs/jobLabels.ts';
import type { BackfillPlan, Figure } from '#shared/jobs/jobPlan.ts';

type Said = (value: number) => string;

/** Formats a figure, with the basis of an estimate. */
function said({ value, basis }: Figure, words: Said): string {
  return basis === 'counted' ? words(value) : `about ${words(value)} (estimate from ${basis.estimatedFrom})`;
}

const fragmentsText: Said = (count) => pluralize(count, 'fragment');
const mostVersionsText: Said = (count) => `${pluralize(count, 'version')} at most`;

/** Formats a plan as pairs of name and text, for terminals, notebooks and logs. */
export function planRows(plan: BackfillPlan): readonly (readonly [name: string, text: string])[] {
  const { rows, fragments, bytes, versions, rowsPerSecond, seconds } = plan;
  const already = [
    ...(rows.done.value > 0 ? [`${said(rows.done, countText)} done`] : []),
    ...(rows.reused.value > 0 ? [`${said(rows.reused, countText)} kept from an earlier run`] : []),
  ];
  return [
    ['function', functionText(plan)],
    ['runner', `${plan.runner} (${runnerLabels[plan.runner]}): ${plan.runnerReason}`],
    ['version', `reads version ${plan.readVersion}`],
    ['rows', [`${said(rows.toCompute, rowsText)} of ${said(rows.total, countText)} to compute`, ...already].join(', ')],
    ['fragments', `${said(fragments.toCompute, fragmentsText)} of ${said(fragments.total, countText)}`],
    ['reads', said(bytes.read, sizeText)],
    ['writes', said(bytes.written, sizeText)],
    ...(bytes.rewritten.value > 0 ? [['rewrites', said(bytes.rewritten, sizeText)] as const] : []),
    ...(versions ? [['creates', said(versions, mostVersionsText)] as const] : []),
    ...(seconds ? [['takes', said(seconds, durationText)] as const] : []),
    ...(rowsPerSecond ? [['rate', said(rowsPerSecond, rateText)] as const] : []),
    ...plan.notes.map(({ level, text }) => [level === 'warning' ? 'warning' : 'note', text] as const),
    ...plan.others.map(
      ({ runner, isPossible, reason }) => [isPossible ? 'or' : 'not', `${runner}: ${reason}`] as const,
    ),
  ];
}

const kinds = {
  sql: 'SQL',
  typescript: 'TypeScript',
  python: 'Python',
  server: 'known only to the server',
} as const;

function functionText({ function: { name, version, kind, inputs } }: BackfillPlan): string {
  const called = version === '' ? name : `${name} ${version}`;
  return `${called} (${kinds[kind]})${inputs.length === 0 ? '' : ` of ${inputs.join(', ')}`}`;
}

/** Formats a plan as lines of text. Long notes are not cut. */
export function planText(plan: BackfillPlan): string {
  const all = planRows(plan);
  const width = Math.max(...all.map(([name]) => name.length));
  return all.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`).join('\n');
}
