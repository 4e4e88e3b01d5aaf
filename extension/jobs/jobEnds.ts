import type { JobView } from '#shared/jobs/jobView.ts';
import { errorsText, jobTableText } from '#shared/jobs/jobLabels.ts';

/** Returns how a job ended, as plain text without Markdown. */
export function endText({ state, column, table, sentence, failure, errors }: JobView): string {
  const what = `The backfill of "${column}" of ${jobTableText(table)}`;
  if (state === 'failed') return `${what} failed. ${failure?.message ?? sentence}`;
  if (state === 'interrupted') return `${what} was interrupted. Resume it to continue where it stopped.`;
  return errors.count > 0 ? `${what} is done; ${errorsText({ errors })}.` : `${what} is done.`;
}
