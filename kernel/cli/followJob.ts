import type { Jobs } from '#jobs/service/jobs.ts';
import { endText, errorLines, jobJson, jobLine } from '#jobs/report/jobText.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { isActive, isRefused, jobTableText } from '#shared/jobs/jobLabels.ts';
import { progressLine, terminalText } from './terminal.ts';

/** Exit codes of commands for one job. Scripts depend on them, so their meanings never change. */
export const jobExitCodes = { done: 0, failed: 1, notRun: 2, rowErrors: 3, cancelled: 130 } as const;

type FollowOptions = {
  readonly json: boolean;
  /** Whether rows for which the function threw change the exit code of a finished job. */
  readonly strict: boolean;
  readonly signal: AbortSignal;
};

/**
 * Shows a job until it ends: one overwritten line in a terminal, occasional lines elsewhere, or a line of JSON per
 * change.
 * @returns the exit code; rejects with an AbortError if the signal aborts, which does not affect the job
 */
export async function followJob(jobs: Jobs, id: string, options: FollowOptions): Promise<number> {
  const show = options.json ? jsonLines() : textLines();
  let last: JobView | undefined;
  try {
    for await (const view of jobs.follow(id, options.signal)) {
      last = view;
      show.change(view);
    }
  } finally {
    show.clear();
  }
  options.signal.throwIfAborted();
  last ??= await jobs.view(id, options.signal);
  if (isActive(last)) return recordGone(last);
  show.end(last);
  return exitCodeOf(last, options.strict);
}

/** Reports that the record of a running job was deleted, so that the state of the job is unknown. */
function recordGone({ id, table, column }: JobView): number {
  console.error(`The record of job ${id} was removed while the job ran. The job may still run, but can't be followed or cancelled.
To see the progress of "${column}" in ${jobTableText(table)}: lance-catalog backfill … --plan`);
  return jobExitCodes.failed;
}

function exitCodeOf({ state, errors, skipped }: JobView, strict: boolean): number {
  if (state === 'cancelled') return jobExitCodes.cancelled;
  if (state !== 'succeeded') return jobExitCodes.failed;
  return strict && errors.count + skipped > 0 ? jobExitCodes.rowErrors : jobExitCodes.done;
}

type Shower = { change(view: JobView): void; clear(): void; end(view: JobView): void };

const jsonLines = (): Shower => ({
  change: (view) => console.log(JSON.stringify({ kind: 'job', job: jobJson(view) })),
  clear: () => {},
  end: () => {},
});

/** Milliseconds between two lines of progress in a log. */
const logPause = 5000;

function textLines(): Shower {
  const line = progressLine();
  let state: JobView['state'] | undefined;
  let saidAt = 0;
  return {
    change: (view) => {
      if (process.stderr.isTTY) return line.show(jobLine(view));
      // Nothing is printed here, because `end` prints the same line.
      if (!isActive(view) && view.state !== 'succeeded') return;
      // A log gets every state, and progress at intervals.
      const now = performance.now();
      if (view.state === state && now - saidAt < logPause) return;
      [state, saidAt] = [view.state, now];
      console.error(terminalText(jobLine(view)));
    },
    clear: () => line.clear(),
    end: (view) => {
      for (const each of errorLines(view)) console.error(terminalText(each));
      if (view.state === 'succeeded') return console.log(terminalText(endText(view)));
      console.error(terminalText(endWithHint(view)));
    },
  };
}

/** Describes how a job ended, with the command that resumes it if that is possible. */
export function endWithHint(view: JobView): string {
  if (!view.can.resume || isRefused(view)) return endText(view);
  const again = `lance-catalog jobs resume ${view.id}`;
  const past = view.failure?.code === 'FunctionFailed' ? `\nTo skip failing rows: ${again} --on-error skip` : '';
  return `${endText(view)}\nTo resume: ${again}${past}`;
}
