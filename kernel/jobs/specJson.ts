import { toCamel, toSnake } from '#shared/jobs/caseKeys.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { isComputedFunction } from '#shared/jobs/jobShapes.ts';
import { isCount, isText, mapOf, optional, shape, type Check } from '#shared/jobs/shapes.ts';
import { isRecord } from '#shared/records.ts';
import type { JobSpec } from './jobSpec.ts';

const isPositive: Check = (value) => isCount(value) && value !== 0;

const fieldsOfSpec = {
  version: (value) => value === 1,
  jobId: isText,
  table: shape({ uri: isText, storageOptions: mapOf(isText) }),
  column: isText,
  function: isComputedFunction,
  where: optional(isText),
  concurrency: isPositive,
  taskSize: optional(isPositive),
  checkpointSize: isPositive,
  commitGranularity: isPositive,
  numFrags: optional(isPositive),
  readVersion: optional(isPositive),
} satisfies { readonly [K in keyof Required<JobSpec>]: Check };

/** A job with its keys in snake_case, as drivers read it. It holds the settings of the object store: by a pipe alone. */
export const specToJson = (spec: JobSpec): Record<string, unknown> => toSnake(spec) as Record<string, unknown>;

/** The same without anything that may be a secret, for files. */
export const specWithoutSecrets = (spec: JobSpec): Record<string, unknown> =>
  specToJson({ ...spec, table: { ...spec.table, storageOptions: {} } });

/**
 * Reads a job back; null counts as not given.
 * @throws JobError RequestInvalid, which names the first field that is wrong
 */
export function specFromJson(value: unknown): JobSpec {
  const fields = withoutNulls(toCamel(value));
  if (isJobSpec(fields)) return fields;
  throw new JobError('RequestInvalid', `This is no job: ${whatIsWrong(fields)}.`, 'It may be of another release.');
}

const isJobSpec = (value: unknown): value is JobSpec => shape(fieldsOfSpec)(value);

const withoutNulls = (value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null)) : value;

function whatIsWrong(value: unknown): string {
  if (!isRecord(value)) return 'it is no object';
  if (value['version'] !== 1) return `its version is ${JSON.stringify(value['version']) ?? 'missing'}`;
  const names = Object.keys(fieldsOfSpec) as (keyof typeof fieldsOfSpec)[];
  const wrong = names.find((name) => !fieldsOfSpec[name](value[name]));
  return `"${wrong ?? 'function'}" is missing or of another type`;
}
