import type { JobFolders } from '#jobs/records/jobFolder.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { isActive } from '#shared/jobs/jobWords.ts';
import { JobWatch } from './jobWatch.ts';

export type Follow = {
  readonly folders: JobFolders;
  readonly id: string;
  /** How it is now. @throws JobError JobMissing */
  readonly first: () => Promise<JobView>;
  readonly signal: AbortSignal;
};

/**
 * A job as it changes, the latest view whenever one is asked for: who draws slowly misses some and is never behind. Ends after
 * the view of its end, or when the record is removed.
 * @throws JobError JobMissing; AbortError when the signal aborts
 */
export async function* followJob({ folders, id, first, signal }: Follow): AsyncGenerator<JobView, void> {
  const now = await first();
  yield now;
  if (!isActive(now)) return;
  const stop = new AbortController();
  let latest: JobView | undefined;
  let isRemoved = false;
  let wake: (() => void) | undefined;
  const onChange = (changed: readonly JobView[], removed: readonly string[]): void => {
    latest = changed[0] ?? latest;
    isRemoved = removed.length > 0;
    wake?.();
  };
  const watching = new JobWatch(folders, onChange, { only: id, signal: AbortSignal.any([signal, stop.signal]) }).run();
  const aborted = (): void => wake?.();
  signal.addEventListener('abort', aborted, { once: true });
  try {
    for (;;) {
      // Nothing comes between the question and the wait: both are one turn.
      if (!latest && !isRemoved && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
      signal.throwIfAborted();
      const view = latest;
      latest = undefined;
      if (view) yield view;
      if (isRemoved || (view && !isActive(view))) return;
    }
  } finally {
    signal.removeEventListener('abort', aborted);
    stop.abort();
    await watching;
  }
}
