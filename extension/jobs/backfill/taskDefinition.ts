import { jobFileSchema } from '#shared/jobs/jobFileSchema.ts';
import { isRecord } from '#shared/records.ts';
import { backfillTaskType } from '../../manifest.ts';

const { $schema: _schema, ...fields } = isRecord(jobFileSchema['properties']) ? jobFileSchema['properties'] : {};

/** What tasks.json takes for a backfill, as package.json has it: a job file, or the fields of one. */
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
