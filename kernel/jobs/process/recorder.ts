import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { isJobEvent } from '#jobs/eventLines.ts';
import { openEventLog } from '#jobs/records/eventLog.ts';
import type { JobFolders } from '#jobs/records/jobFolder.ts';
import { openJobLog } from '#jobs/records/jobLog.ts';
import type { JobRecord } from '#jobs/records/jobRecord.ts';
import type { NewEvent } from '#jobs/runners/runner.ts';
import { withHint } from '#shared/errors.ts';
import { pluralize, oneLine } from '#shared/format/markup.ts';
import { countText } from '#shared/format/numbers.ts';
import { idleProgress, createProgressReducer, type JobProgress } from '#shared/jobs/foldEvents.ts';
import type { JobEvent } from '#shared/jobs/jobEvents.ts';
import { rowsText } from '#shared/jobs/jobLabels.ts';

/**
 * Returns the log line for an event, `undefined` for mere progress.
 * @param progressNow returns the progress including this event; called only if needed
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
      return `Reading version ${readVersion}: ${rowsText(rows)} in ${pluralize(fragments, 'fragment')} to compute${kept}.`;
    }
    case 'conflict':
      return `Another writer changed the table: ${event.reason} (${pluralize(event.dropped.length, 'fragment')} to compute again)`;
    case 'restarted':
      return `The ${event.what} restarted: ${event.reason}`;
    case 'errors': {
      const [first] = event.samples;
      return `${rowsText(event.count)} failed${first ? `, the first with: ${first.message}` : '.'}`;
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
    case 'writing':
    case 'committed':
      return undefined;
  }
}

function keptText({ rows, fragments }: JobProgress): string {
  if (rows.total === undefined || fragments.total === undefined) return 'no rows are computed.';
  const there = `${countText(fragments.done)} of ${countText(fragments.total)} fragments are in the table`;
  return `${countText(rows.done)} of ${rowsText(rows.total)} are computed and kept; ${there}.`;
}

/** Characters of an incomplete line. A longer one is written at once, to limit the memory. */
const longest = 64 << 10;
const restMs = 500;

type LineBuffer = { add(text: string): void; flush(): void };

/**
 * Passes on whole lines, so that a secret that arrives in two pieces is still redacted. An incomplete line is passed on
 * after half a second.
 */
function lineBuffer(onLines: (text: string) => void): LineBuffer {
  let rest = '';
  let timer: NodeJS.Timeout | undefined;
  const give = (text: string): void => {
    if (text !== '') onLines(text);
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    give(rest);
    rest = '';
  };
  return {
    add: (text) => {
      rest += text;
      const end = rest.lastIndexOf('\n') + 1;
      give(rest.slice(0, end));
      rest = rest.slice(end);
      if (rest.length > longest) flush();
      else if (rest !== '') timer ??= setTimeout(flush, restMs);
    },
    flush,
  };
}

/** Minimum interval between two writes of the record, because views refresh at most four times a second. */
const writeMs = 250;
/** The record is also written at this interval, because rates and pauses change without events too. */
const tickMs = 2000;
/** Bytes that a file reserves on disk, so that the end of a job can be written even if the disk is full. */
const reserveBytes = 64 << 10;
const reserveFile = 'reserve';

/** Records a run. No method throws: on a full disk the record loses progress, and the job continues. */
export type Recorder = {
  readonly event: (event: NewEvent) => void;
  /** Adds output of the function, or of a program that the runner started. */
  readonly log: (text: string) => void;
  /** Adds a line of this program, with a timestamp. */
  readonly say: (sentence: string) => void;
  readonly keep: (name: string, value: string) => void;
  readonly kept: (name: string) => string | undefined;
  hasEnded(): boolean;
  /** Ends the run without an event. */
  interrupt(sentence: string): void;
  close(): void;
};

/** @param secrets strings to redact in every file that the recorder writes */
export function openRecorder(folders: JobFolders, begun: JobRecord, secrets: readonly string[]): Recorder {
  const folder = folders.of(begun.id);
  const hidden = new SecretRedactor();
  hidden.add(...secrets);
  const hide = (text: string): string => hidden.hide(text);
  const reserve = join(folder, reserveFile);
  fill(reserve);
  const events = openEventLog(folder, begun.run);
  const jobLog = openJobLog(folder);
  const lines = lineBuffer((text) => jobLog.write(hide(text)));
  const say = (sentence: string, at = Date.now()): void =>
    lines.add(`${new Date(at).toISOString().slice(0, 19)}Z ${sentence}\n`);
  const fold = createProgressReducer(begun.progress.startedAt ?? begun.createdAt);
  let record = begun;
  let written = '';
  let hasEnded = false;
  let timer: NodeJS.Timeout | undefined;

  const write = (progress: JobProgress, isLasting: boolean): void => {
    clearTimeout(timer);
    timer = undefined;
    record = { ...record, progress };
    const text = JSON.stringify([record.progress, record.kept]);
    if (text === written) return;
    try {
      folders.write(record, { isLasting });
      written = text;
    } catch {
      if (!isLasting) return;
      // Releases the reserved space for the end of the job.
      rmSync(reserve, { force: true });
      try {
        folders.write(record, { isLasting: false });
        written = text;
      } catch {
        // The error is ignored. Readers will see a process that ended without a report.
      }
    }
  };
  const refresh = (): void => write(fold.progress(Date.now()), false);
  const ticks = setInterval(() => hasEnded || refresh(), tickMs);
  ticks.unref();

  return {
    event: (event) => {
      // Events after the end are ignored, because they would change the reported result.
      if (hasEnded) return;
      const stamped = hiddenIn({ at: Date.now(), ...event }, hide);
      // A record with an invalid number could not be read again.
      if (!isJobEvent(stamped)) return lines.add(`Invalid event: ${JSON.stringify(stamped)}\n`);
      fold.add(stamped);
      events.add(stamped);
      const words = eventWords(stamped, () => fold.progress(stamped.at));
      if (words !== undefined) say(words, stamped.at);
      hasEnded = stamped.kind === 'succeeded' || stamped.kind === 'failed' || stamped.kind === 'cancelled';
      if (hasEnded) write(fold.progress(stamped.at), true);
      else timer ??= setTimeout(refresh, writeMs);
    },
    log: (text) => lines.add(text),
    say: (sentence) => say(sentence),
    keep: (name, value) => {
      record = { ...record, kept: { ...record.kept, [name]: value } };
      // This write is synced to disk, because another process needs this value to find the job on its cluster.
      write(fold.progress(Date.now()), true);
    },
    kept: (name) => (Object.hasOwn(record.kept, name) ? record.kept[name] : undefined),
    hasEnded: () => hasEnded,
    interrupt: (sentence) => {
      if (hasEnded) return;
      hasEnded = true;
      const now = Date.now();
      say(sentence, now);
      write(idleProgress(fold.progress(now), { state: 'interrupted', sentence, endedAt: now }), true);
    },
    close: () => {
      clearInterval(ticks);
      clearTimeout(timer);
      lines.flush();
      jobLog.close();
      events.close();
      rmSync(reserve, { force: true });
    },
  };
}

function fill(path: string): void {
  try {
    const file = openSync(path, 'w', 0o600);
    try {
      writeSync(file, Buffer.alloc(reserveBytes));
    } finally {
      closeSync(file);
    }
  } catch {
    // The error is ignored: the disk may have space again when the job ends.
  }
}

function hiddenIn<T>(value: T, hide: (text: string) => string): T {
  if (typeof value === 'string') return hide(value) as T;
  if (Array.isArray(value)) return value.map((one: unknown) => hiddenIn(one, hide)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hiddenIn(one as unknown, hide)])) as T;
}
