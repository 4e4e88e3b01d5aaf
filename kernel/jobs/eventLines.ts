import type { JobEvent, JobEventKind } from '#shared/jobs/jobEvents.ts';
import { toCamel } from '#shared/jobs/caseKeys.ts';
import { isRowError } from '#shared/jobs/jobShapes.ts';
import { isAmount, isCount, isText, listOf, oneOf, optional, shape, type Check } from '#shared/jobs/jobShapes.ts';
import { isRecord } from '#shared/records.ts';

// An event as a line: `@@` and JSON in snake_case. Drivers print them and records keep them.

const mark = '@@';

/** The longest line that is taken for one; samples of rows are cut short, so that a real one is far below. */
const longest = 1_000_000;

const checks: { readonly [K in JobEventKind]: Check } = {
  planned: shape({
    readVersion: isCount,
    fragments: isCount,
    rows: isCount,
    committedFragments: isCount,
    checkpointedFragments: isCount,
    reusedRows: isCount,
  }),
  workers: shape({ ready: isCount, wanted: isCount, waitingFor: optional(isText) }),
  progress: shape({
    rows: isCount,
    errors: isCount,
    computeSeconds: isAmount,
    readSeconds: isAmount,
    writeSeconds: isAmount,
  }),
  fragment: shape({
    fragment: isCount,
    computedRows: isCount,
    reusedRows: isCount,
    bytesWritten: isCount,
    seconds: isAmount,
  }),
  errors: shape({ count: isCount, samples: listOf(isRowError) }),
  committed: shape({ fragments: listOf(isCount), version: isCount, milliseconds: isAmount }),
  conflict: shape({ attempt: isCount, dropped: listOf(isCount), reason: isText }),
  restarted: shape({ what: oneOf('function', 'worker', 'connection'), reason: isText }),
  notice: shape({ text: isText }),
  succeeded: shape({ rows: isCount, errors: isCount, skipped: isCount, bytesWritten: isCount, version: isCount }),
  failed: shape({ code: isText, message: isText, hint: isText }),
  cancelled: shape({}),
};

/** The fields of a line that claims to be an event, in camelCase; `undefined` where it is text like any other. */
export function readMarkedLine(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith(`${mark}{`) || line.length > longest) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line.slice(mark.length));
  } catch {
    return undefined;
  }
  const fields = toCamel(value);
  return isRecord(fields) ? fields : undefined;
}

/** Whether something is an event, complete and of the types that it says; what else it has is let pass. */
export function isJobEvent(value: unknown): value is JobEvent {
  if (!isRecord(value) || !isAmount(value['at'])) return false;
  const { kind } = value;
  return typeof kind === 'string' && Object.hasOwn(checks, kind) && checks[kind as JobEventKind](value);
}

/** The event that a line tells; `undefined` where the line is none and belongs to the log. */
export function readEventLine(line: string): JobEvent | undefined {
  const fields = readMarkedLine(line);
  return isJobEvent(fields) ? fields : undefined;
}
