import { durationText } from './jobWords.ts';

/** Totals of a run at a moment; seconds are those of all workers together. */
export type Sample = {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly rows: number;
  readonly computeSeconds: number;
  readonly readSeconds: number;
  readonly writeSeconds: number;
};

export type Workers = { readonly ready: number; readonly wanted: number; readonly waitingFor?: string };

export type Pace = {
  /** Of the time that is looked at, oldest first. */
  readonly samples: readonly Sample[];
  readonly workers: Workers | undefined;
  readonly conflicts: readonly { readonly at: number; readonly dropped: number; readonly reason: string }[];
  readonly isPlanned: boolean;
  /** When the last row was finished, or the run was planned. */
  readonly lastRowAt: number;
  /** Milliseconds since 1970. */
  readonly now: number;
};

/** From this share of the workers' time on, one thing is said to hold a job up. */
const mostOfIt = 0.6;
/** With less time of workers than this nothing can be said of its parts. */
const leastSeconds = 1;
/** After so long without a row something seems to stand still. */
export const silenceMs = 15_000;
/** Conflicts of the last minute, from this many on. */
const manyConflicts = 2;
const conflictMs = 60_000;

/** What holds a job up, in words, the one that should be seen to first; `undefined` where nothing is known to. */
export function bottleneckOf(pace: Pace): string | undefined {
  return resources(pace) ?? conflicted(pace) ?? silence(pace) ?? slowPart(pace);
}

function resources({ workers }: Pace): string | undefined {
  if (!workers || workers.ready >= workers.wanted) return undefined;
  const { ready, wanted, waitingFor } = workers;
  // Without a reason they are merely coming up.
  if (waitingFor === undefined) return undefined;
  return `Resources: ${ready} of ${wanted} workers are up. ${waitingFor}`;
}

function conflicted({ conflicts, now }: Pace): string | undefined {
  const recent = conflicts.filter(({ at }) => at > now - conflictMs);
  const last = recent.at(-1);
  if (!last || recent.length < manyConflicts) return undefined;
  const dropped = recent.reduce((sum, one) => sum + one.dropped, 0);
  const again = dropped === 0 ? '' : `, and ${dropped} ${dropped === 1 ? 'fragment was' : 'fragments were'} in vain`;
  return `Conflicts: somebody else changes the table, ${recent.length} times in the last minute${again}. ${last.reason}`;
}

function silence({ isPlanned, lastRowAt, now }: Pace): string | undefined {
  // Before the plan there was nothing to be heard.
  if (!isPlanned || now - lastRowAt < silenceMs) return undefined;
  return `No row was finished for ${durationText((now - lastRowAt) / 1000)}.`;
}

function slowPart({ samples }: Pace): string | undefined {
  const first = samples[0];
  const last = samples.at(-1);
  if (!first || !last) return undefined;
  const parts = [
    { seconds: last.computeSeconds - first.computeSeconds, words: 'The function' },
    { seconds: last.readSeconds - first.readSeconds, words: 'Reading from the storage' },
    { seconds: last.writeSeconds - first.writeSeconds, words: 'Writing to the storage' },
  ];
  const all = parts.reduce((sum, { seconds }) => sum + seconds, 0);
  const most = parts.find(({ seconds }) => seconds >= all * mostOfIt);
  if (!most || all < leastSeconds) return undefined;
  return `${most.words}: it takes ${Math.round((100 * most.seconds) / all)} % of the workers' time.`;
}
