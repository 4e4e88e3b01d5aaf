import type { BackfillPlan } from '#shared/jobs/jobPlan.ts';
import { jobOutputMime, type JobOutput } from '#shared/jobs/jobOutput.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { isActive, isRefused, shareDone } from '#shared/jobs/jobLabels.ts';
import { escapeHtml, htmlRow } from '#shared/format/markup.ts';
import { endText, errorLines, jobLine, jobPlace } from '#jobs/report/jobText.ts';
import { planRows, planText } from '#jobs/report/planRows.ts';
import { htmlAndText, type RenderedOutput } from '#session/display/mimeBundle.ts';

/**
 * Renders a job: a bar and a line while it runs, then its result with the failed rows. The output also has the job as
 * data.
 */
export function showJob(view: JobView): RenderedOutput {
  const [bar, share] = [barHtml(view), isActive(view) ? jobLine(view) : endText(view)];
  const errors = errorLines(view);
  const how = hintOf(view);
  const details = errors.length === 0 ? '' : `<pre>${escapeHtml(errors.join('\n'))}</pre>`;
  const html = `<div>${bar} ${escapeHtml(share)}</div>${details}<div><small>${escapeHtml(how)}</small></div>`;
  return withJob(view, htmlAndText(html, [share, ...errors, how].join('\n')));
}

/**
 * Adds the job as data. The editor draws the job from this data, with buttons, and updates the drawing. The data comes
 * first, because it is the richest form.
 */
function withJob(job: JobView, { data, metadata }: RenderedOutput): RenderedOutput {
  const output: JobOutput = { version: 1, job };
  return { data: { [jobOutputMime]: output, ...data }, metadata };
}

function barHtml(view: JobView): string {
  const share = shareDone(view);
  if (share === undefined) return isActive(view) ? '<progress></progress>' : '';
  return `<progress value="${share.toFixed(4)}" max="1"></progress>`;
}

function hintOf(view: JobView): string {
  const { id, can, state } = view;
  if (can.cancel) return `Job ${id}. Call cancel() to stop it.`;
  return can.resume && state !== 'succeeded' && !isRefused(view)
    ? `Job ${id}. Run the cell again to continue.`
    : `Job ${id}`;
}

/** Renders the message shown when the cell no longer follows a job. */
export function showLeft(id: string, view: JobView | undefined): RenderedOutput {
  const what = view ? jobPlace(view) : 'The backfill';
  const text = `${what}: job ${id} continues without this cell. Run the cell again to follow the job, or cancel it: lance-catalog jobs cancel ${id}`;
  const left = htmlAndText(`<div>${escapeHtml(text)}</div>`, text);
  return view ? withJob(view, left) : left;
}

/** Renders the state before the job exists. */
export const showBefore = (column: string, text: string): RenderedOutput =>
  htmlAndText(`<div><progress></progress> ${escapeHtml(`${column}: ${text}`)}</div>`, `${column}: ${text}`);

export function showPlan(plan: BackfillPlan): RenderedOutput {
  const rows = planRows(plan).map((row) => htmlRow('td', row));
  const title = `Backfill of ${plan.column}`;
  return htmlAndText(
    `<p><strong>${escapeHtml(title)}</strong></p><table><tbody>${rows.join('')}</tbody></table>`,
    `${title}\n${planText(plan)}`,
  );
}
