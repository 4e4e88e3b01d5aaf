import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { toSnake } from '#shared/jobs/caseKeys.ts';
import type { JobEvent } from '#shared/jobs/jobEvents.ts';

const eventsFile = 'events.ndjson';

/** Beyond this only what is rare is written: a job of days would fill a disk with its progress. */
const maxBytes = 16 << 20;
const frequent: ReadonlySet<JobEvent['kind']> = new Set(['progress', 'workers', 'fragment']);

type EventLog = { add(event: JobEvent): void; close(): void };

/**
 * Appends the events of a run to those of the runs before it, a line of JSON each: what happened, for whoever wants to know
 * it later. Views do not need it, so a disk that is full costs lines and not the job.
 */
export function openEventLog(folder: string, run: number): EventLog {
  let file: number | undefined;
  let bytes = 0;
  let isTorn = false;

  const write = (value: object): void => {
    if (file === undefined) return;
    try {
      // What a full disk cut off stays a line of its own, which readers pass over.
      const line = Buffer.from(`${isTorn ? '\n' : ''}${JSON.stringify(toSnake(value))}\n`);
      const written = writeSync(file, line);
      isTorn = written < line.length;
      bytes += written;
    } catch {
      // Full, or gone. The next line may have room again.
    }
  };

  try {
    file = openSync(join(folder, eventsFile), 'a', 0o600);
  } catch {
    // As when it is full.
  }
  // A process that was killed may have left half a line.
  isTorn = run > 1;
  write({ kind: 'run', at: Date.now(), run });
  return {
    add: (event) => {
      if (bytes < maxBytes || !frequent.has(event.kind)) write(event);
    },
    close: () => {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}
