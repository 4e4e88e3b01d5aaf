import { tableFromIPC } from '#arrow';
import { countText } from '#shared/formatNumber.ts';
import type { BackfillTrial } from '#shared/jobs/jobPlan.ts';
import { durationText, rowsText } from '#shared/jobs/jobWords.ts';
import { tableText } from '#session/display/tableText.ts';

/** A trial for a terminal: how it went, and the first rows of the fragment after it. */
export function trialText(trial: BackfillTrial, column: string): string {
  const { fragment, rows, seconds, errors, after } = trial;
  const rate = seconds > 0 ? ` (${countText(Math.round(rows / seconds))} rows/s)` : '';
  const failed = errors > 0 ? `; ${rowsText(errors)} failed` : '';
  const head = `Fragment ${fragment}: ${rowsText(rows)} in ${durationText(seconds)}${rate}${failed}. Nothing was written.`;
  const table = tableFromIPC(Buffer.from(after, 'base64'));
  const nothing = errors === 0 && rows > 0 && table.getChild(column)?.nullCount === table.numRows;
  const note = nothing ? `\nEvery value of "${column}" is null: does its function return one?` : '';
  return `${head}${note}\n\n${tableText(table, table.numRows)}`;
}
