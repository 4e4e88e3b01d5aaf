import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { HiddenTexts } from '#cluster/secretTexts.ts';
import { isJobEvent } from '#jobs/eventLines.ts';
import { openEventLog } from '#jobs/records/eventLog.ts';
import type { JobFolders } from '#jobs/records/jobFolder.ts';
import { openJobLog } from '#jobs/records/jobLog.ts';
import type { JobRecord } from '#jobs/records/jobRecord.ts';
import type { NewEvent } from '#jobs/runners/runner.ts';
import { counted, oneLine } from '#shared/format/markup.ts';
import { countText } from '#shared/format/numbers.ts';
import { atRest, foldRun, type JobProgress } from '#shared/jobs/foldEvents.ts';
import type { JobEvent } from '#shared/jobs/jobEvents.ts';
import { rowsText } from '#shared/jobs/jobLabels.ts';
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

/** Longer lines are cut: nobody reads them, and they would be kept in memory until they end. */
const longest = 64 << 10;
const restMs = 500;

type LineBuffer = { add(text: string): void; flush(): void };

/**
 * Hands text on in whole lines, the rest of a line after half a second: a secret that came in two pieces is seen as one.
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

/** Views are drawn four times a second at most. */
const writeMs = 250;
/** Rates and pauses are told by a clock, also when nothing comes. */
const tickMs = 2000;
/** Room that is kept on the disk, so that the end of a job can be written down when it is full. */
const reserveBytes = 64 << 10;
const reserveFile = 'reserve';

/** Writes down what happens in a run. Nothing that it does fails: a disk that is full costs a record its news, not a job. */
export type Recorder = {
  readonly event: (event: NewEvent) => void;
  /** What the function printed, or a program that works for the job. */
  readonly log: (text: string) => void;
  /** A line of our own in the same log, with its time. */
  readonly say: (sentence: string) => void;
  readonly keep: (name: string, value: string) => void;
  readonly kept: (name: string) => string | undefined;
  /** Whether an event has said how the run ended. */
  hasEnded(): boolean;
  /** Ends the run in a way that no event tells. */
  interrupt(sentence: string): void;
  close(): void;
};

/** @param secrets what must not be in any file, wherever it comes from */
export function openRecorder(folders: JobFolders, begun: JobRecord, secrets: readonly string[]): Recorder {
  const folder = folders.of(begun.id);
  const hidden = new HiddenTexts();
  hidden.add(...secrets);
  const hide = (text: string): string => hidden.hide(text);
  const reserve = join(folder, reserveFile);
  fill(reserve);
  const events = openEventLog(folder, begun.run);
  const jobLog = openJobLog(folder);
  const lines = lineBuffer((text) => jobLog.write(hide(text)));
  const say = (sentence: string, at = Date.now()): void =>
    lines.add(`${new Date(at).toISOString().slice(0, 19)}Z ${sentence}\n`);
  const fold = foldRun(begun.progress.startedAt ?? begun.createdAt);
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
      // What matters most is written with the room that was kept for it.
      rmSync(reserve, { force: true });
      try {
        folders.write(record, { isLasting: false });
        written = text;
      } catch {
        // Full again already, or gone: readers see a process that ended without a word.
      }
    }
  };
  const refresh = (): void => write(fold.progress(Date.now()), false);
  const ticks = setInterval(() => hasEnded || refresh(), tickMs);
  ticks.unref();

  return {
    event: (event) => {
      // What comes after the end is late, and would change what is told already.
      if (hasEnded) return;
      const stamped = hiddenIn({ at: Date.now(), ...event }, hide);
      // A record with a number that is none could not be read again.
      if (!isJobEvent(stamped)) return lines.add(`An event that is none: ${JSON.stringify(stamped)}\n`);
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
      // Another process must find the job on its cluster by it.
      write(fold.progress(Date.now()), true);
    },
    kept: (name) => (Object.hasOwn(record.kept, name) ? record.kept[name] : undefined),
    hasEnded: () => hasEnded,
    interrupt: (sentence) => {
      if (hasEnded) return;
      hasEnded = true;
      const now = Date.now();
      say(sentence, now);
      write(atRest(fold.progress(now), { state: 'interrupted', sentence, endedAt: now }), true);
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
    // Full already; perhaps not at the end.
  }
}

function hiddenIn<T>(value: T, hide: (text: string) => string): T {
  if (typeof value === 'string') return hide(value) as T;
  if (Array.isArray(value)) return value.map((one: unknown) => hiddenIn(one, hide)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hiddenIn(one as unknown, hide)])) as T;
}
