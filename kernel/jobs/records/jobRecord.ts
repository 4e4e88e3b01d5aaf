import type { BackfillOptions, RunnerName } from '#shared/jobs/backfill.ts';
import { toCamel, toSnake } from '#shared/jobs/caseKeys.ts';
import { isJobId } from '#shared/jobs/jobId.ts';
import { isBackfillOptions, isJobProgress, isJobTable, isRunnerName } from '#shared/jobs/jobShapes.ts';
import type { JobProgress } from '#shared/jobs/foldEvents.ts';
import type { JobTable } from '#shared/jobs/jobView.ts';
import { isCount, isText, mapOf, shape, isAmount, optional, type Check } from '#shared/jobs/jobShapes.ts';
import { isRecord } from '#shared/records.ts';

/**
 * What is kept of a job beside its events: what it is, and how far it came. Written by the process of the job while there is
 * one, and by whoever starts, resumes or ends it otherwise. It holds no secret.
 */
export type JobRecord = {
  readonly id: string;
  readonly createdAt: number;
  readonly table: JobTable;
  /** What tells this table and column from all others, whoever connects and with whichever key. Not for people to read. */
  readonly place: string;
  readonly column: string;
  readonly functionName: string;
  readonly functionHash: string;
  readonly options: BackfillOptions;
  readonly runner: RunnerName;
  readonly runnerReason: string;
  /** How often it was begun: 1 until it is resumed. */
  readonly run: number;
  /** What a runner keeps of itself for the next process that takes the job up. */
  readonly kept: Readonly<Record<string, string>>;
  readonly progress: JobProgress;
  /** As it was read, with what a newer version of ours knows beside this. */
  readonly source?: Readonly<Record<string, unknown>> | undefined;
};

/** Newer versions add fields and change none; one that has to change them takes another file. */
const version = 1;

const fields = {
  id: (value) => typeof value === 'string' && isJobId(value),
  createdAt: isAmount,
  table: isJobTable,
  place: isText,
  column: isText,
  functionName: isText,
  functionHash: isText,
  options: isBackfillOptions,
  runner: isRunnerName,
  runnerReason: isText,
  run: isCount,
  kept: optional(mapOf(isText)),
  progress: isJobProgress,
} as const satisfies Partial<Record<keyof JobRecord, Check>>;

const isJobRecord = shape(fields);

/** The text of `record.json`. */
export function recordText({ source, ...record }: JobRecord): string {
  const known = toSnake(record) as Record<string, unknown>;
  return `${JSON.stringify({ ...source, version, ...known }, undefined, 1)}\n`;
}

/** Reads the text of `record.json`; `undefined` for one that is damaged, or of another job than its folder says. */
export function parseRecord(text: string, id: string): JobRecord | undefined {
  try {
    const source: unknown = JSON.parse(text);
    if (!isRecord(source)) return undefined;
    const record = toCamel(source) as Record<string, unknown>;
    if (!isJobRecord(record) || record['id'] !== id) return undefined;
    // The fields that are known: what else is there is carried along, and never used.
    const known = Object.fromEntries(Object.keys(fields).map((name) => [name, record[name]])) as Omit<
      JobRecord,
      'source'
    >;
    return { ...known, kept: known.kept ?? {}, source };
  } catch {
    return undefined;
  }
}
