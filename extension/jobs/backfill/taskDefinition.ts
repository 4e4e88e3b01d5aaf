import { jobFileSchema } from '#shared/jobs/jobFileSchema.ts';
import { isRecord } from '#shared/records.ts';
import { backfillTaskType } from '../../manifest.ts';

const { $schema: _schema, ...fields } = isRecord(jobFileSchema['properties']) ? jobFileSchema['properties'] : {};

/** The properties of a backfill in tasks.json, as in package.json: a job file, or its fields. */
export const backfillTaskDefinition = {
  type: backfillTaskType,
  properties: {
    file: {
      type: 'string',
      description: 'Job file (*.lance-job.json), relative to the workspace folder. Do not combine with other fields.',
    },
    ...fields,
  },
} as const;
