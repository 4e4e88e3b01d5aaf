import type { BackfillOptions, RunnerName } from '#shared/jobs/backfill.ts';
import { toCamel, toSnake } from '#shared/jobs/caseKeys.ts';
import { isJobId } from '#shared/jobs/jobId.ts';
import { isBackfillOptions, isJobProgress, isJobTable, isRunnerName } from '#shared/jobs/jobShapes.ts';
import type { JobProgress } from '#shared/jobs/foldEvents.ts';
import type { JobTable } from '#shared/jobs/jobView.ts';
import { isRecord } from '#shared/records.ts';
import { type Check, isCount, isNonNegativeNumber, isString, mapOf, optional, shape } from '#shared/shape.ts';

/**
 * The stored state of a job, without its events and secrets. The process of the job writes it. If the job has no
 * process, the process that starts, resumes or ends the job writes it.
 */
export type JobRecord = {
  readonly id: string;
  readonly createdAt: number;
  readonly table: JobTable;
  /** Identifies table and column, whichever connection and API key are used. Not for display. */
  readonly place: string;
  readonly column: string;
  readonly functionName: string;
  readonly functionHash: string;
  readonly options: BackfillOptions;
  readonly runner: RunnerName;
  readonly runnerReason: string;
  /** Number of the run: 1 until the job is resumed. */
  readonly run: number;
  /** Values that the runner keeps for the process that resumes the job. */
  readonly kept: Readonly<Record<string, string>>;
  readonly progress: JobProgress;
  /** The record as read, including fields of a newer version. */
  readonly source?: Readonly<Record<string, unknown>> | undefined;
};

/** Newer versions only add fields; an incompatible format needs another file. */
const version = 1;

const fields = {
  id: (value): value is string => isString(value) && isJobId(value),
  createdAt: isNonNegativeNumber,
  table: isJobTable,
  place: isString,
  column: isString,
  functionName: isString,
  functionHash: isString,
  options: isBackfillOptions,
  runner: isRunnerName,
  runnerReason: isString,
  run: isCount,
  kept: optional(mapOf(isString)),
  progress: isJobProgress,
} as const satisfies Partial<Record<keyof JobRecord, Check>>;

const isJobRecord = shape(fields);

export function recordText({ source, ...record }: JobRecord): string {
  const known = toSnake(record) as Record<string, unknown>;
  return `${JSON.stringify({ ...source, version, ...known }, undefined, 1)}\n`;
}

/** Returns `undefined` if the record is damaged, or if its id differs from `id`, the name of its folder. */
export function parseRecord(text: string, id: string): JobRecord | undefined {
  try {
    const source: unknown = JSON.parse(text);
    if (!isRecord(source)) return undefined;
    const record = toCamel(source);
    if (!isJobRecord(record) || record.id !== id) return undefined;
    // Unknown fields stay in `source`, so that the next write preserves them.
    const known = Object.fromEntries(Object.entries(record).filter(([name]) => Object.hasOwn(fields, name))) as Omit<
      JobRecord,
      'source'
    >;
    return { ...known, kept: known.kept ?? {}, source };
  } catch {
    return undefined;
  }
}
