import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { toSnake } from '#shared/jobs/caseKeys.ts';
import type { JobEvent } from '#shared/jobs/jobEvents.ts';

const eventsFile = 'events.ndjson';

/** Above this size only rare events are written, because the progress events of several days would fill the disk. */
const maxBytes = 16 << 20;
const frequent: ReadonlySet<JobEvent['kind']> = new Set(['progress', 'workers', 'fragment']);

type EventLog = { add(event: JobEvent): void; close(): void };

/**
 * Opens the events file of a job and starts a new run in it. The file is for later analysis only. So on a full disk
 * lines are lost, and the job continues.
 */
export function openEventLog(folder: string, run: number): EventLog {
  let file: number | undefined;
  let bytes = 0;
  let isTorn = false;

  const write = (value: object): void => {
    if (file === undefined) return;
    try {
      // If a full disk cut off the last line, a line break ends it. Readers skip the incomplete line.
      const line = Buffer.from(`${isTorn ? '\n' : ''}${JSON.stringify(toSnake(value))}\n`);
      const written = writeSync(file, line);
      isTorn = written < line.length;
      bytes += written;
    } catch {
      // The error is ignored: the disk is full, or the folder was removed. A later line may succeed.
    }
  };

  try {
    file = openSync(join(folder, eventsFile), 'a', 0o600);
  } catch {
    // This error is handled like a full disk.
  }
  // A killed process may have left half a line.
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
