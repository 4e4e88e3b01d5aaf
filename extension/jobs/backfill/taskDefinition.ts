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
      description: 'A job file (*.lance-job.json), seen from the folder. Leave the other fields out with it.',
    },
    ...fields,
  },
} as const;
