import type { JobEvent, JobEventKind } from '#shared/jobs/jobEvents.ts';
import { toCamel } from '#shared/jobs/caseKeys.ts';
import { isRowError } from '#shared/jobs/jobShapes.ts';
import { isRecord } from '#shared/records.ts';
import {
  type Check,
  isBoolean,
  isCount,
  isNonNegativeNumber,
  isString,
  listOf,
  oneOf,
  optional,
  shape,
} from '#shared/shape.ts';

// An event line is `@@` followed by JSON in snake_case. Drivers print event lines, and job records store them.

const mark = '@@';

/** Maximum length of a line. Real lines are far shorter, because drivers truncate row samples. */
const longest = 1_000_000;

const checks: { readonly [K in JobEventKind]: Check } = {
  planned: shape({
    readVersion: isCount,
    fragments: isCount,
    rows: isCount,
    committedFragments: isCount,
    checkpointedFragments: isCount,
    reusedRows: isCount,
    writesBack: optional(isBoolean),
  }),
  workers: shape({ ready: isCount, wanted: isCount, waitingFor: optional(isString) }),
  progress: shape({
    rows: isCount,
    errors: isCount,
    computeSeconds: isNonNegativeNumber,
    readSeconds: isNonNegativeNumber,
    writeSeconds: isNonNegativeNumber,
  }),
  fragment: shape({
    fragment: isCount,
    computedRows: isCount,
    reusedRows: isCount,
    bytesWritten: isCount,
    seconds: isNonNegativeNumber,
  }),
  errors: shape({ count: isCount, samples: listOf(isRowError) }),
  writing: shape({ rows: isCount }),
  committed: shape({
    fragments: listOf(isCount),
    version: isCount,
    milliseconds: isNonNegativeNumber,
    rows: optional(isCount),
  }),
  conflict: shape({ attempt: isCount, dropped: listOf(isCount), reason: isString }),
  restarted: shape({ what: oneOf('function', 'worker', 'connection'), reason: isString }),
  notice: shape({ text: isString }),
  succeeded: shape({
    rows: isCount,
    reusedRows: optional(isCount),
    errors: isCount,
    skipped: isCount,
    bytesWritten: isCount,
    version: isCount,
  }),
  failed: shape({ code: isString, message: isString, hint: isString }),
  cancelled: shape({}),
};

/** Returns the fields of an event line in camelCase, `undefined` for ordinary output. */
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

/** Whether a value is a complete event. Unknown fields are allowed. */
export function isJobEvent(value: unknown): value is JobEvent {
  if (!isRecord(value) || !isNonNegativeNumber(value['at'])) return false;
  const { kind } = value;
  return typeof kind === 'string' && Object.hasOwn(checks, kind) && checks[kind as JobEventKind](value);
}

/** Parses an event line. Returns `undefined` for any other line; such lines belong in the log. */
export function readEventLine(line: string): JobEvent | undefined {
  const fields = readMarkedLine(line);
  return isJobEvent(fields) ? fields : undefined;
}
