import { countText } from '#shared/formatNumber.ts';
import type { JobProgress } from '#shared/jobs/foldEvents.ts';
import type { JobEvent } from '#shared/jobs/jobEvents.ts';
import { rowsText } from '#shared/jobs/jobWords.ts';
import { counted, oneLine } from '#shared/markup.ts';
import { withHint } from '#shared/withHint.ts';

/**
 * What the log of a job says of an event, in a line; `undefined` for those that only count. A log is read when something went
 * otherwise than it was meant, so it has the story, and not the progress.
 * @param progressNow of the job with this event in it; asked for only where it is told
 */
export function eventWords(event: JobEvent, progressNow: () => JobProgress): string | undefined {
  const words = wordsOf(event, progressNow);
  return words === undefined ? undefined : oneLine(words);
}

function wordsOf(event: JobEvent, progressNow: () => JobProgress): string | undefined {
  switch (event.kind) {
    case 'planned': {
      const { readVersion, rows, fragments, reusedRows } = event;
      const kept = reusedRows > 0 ? `, ${countText(reusedRows)} of them kept from an earlier run` : '';
      return `Version ${readVersion} is read: ${rowsText(rows)} in ${counted(fragments, 'fragment')} to compute${kept}.`;
    }
    case 'conflict':
      return `Somebody else changed the table: ${event.reason} (${counted(event.dropped.length, 'fragment')} to compute again)`;
    case 'restarted':
      return `The ${event.what} was started again: ${event.reason}`;
    case 'errors': {
      const [first] = event.samples;
      return `${rowsText(event.count)} failed${first ? `, the first of them with: ${first.message}` : '.'}`;
    }
    case 'notice':
      return event.text;
    case 'succeeded':
      return `Done: ${progressNow().sentence}`;
    case 'failed':
      return `Failed: ${withHint(event.message, event.hint)}`;
    case 'cancelled':
      return `Cancelled: ${keptText(progressNow())}`;
    case 'workers':
    case 'progress':
    case 'fragment':
    case 'committed':
      return undefined;
  }
}

/** What there is of a run that ended too early. */
function keptText({ rows, fragments }: JobProgress): string {
  if (rows.total === undefined || fragments.total === undefined) return 'nothing was computed yet.';
  const there = `${countText(fragments.done)} of ${countText(fragments.total)} fragments are in the table`;
  return `${countText(rows.done)} of ${rowsText(rows.total)} are computed and kept; ${there}.`;
}
