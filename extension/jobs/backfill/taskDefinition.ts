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
      description: 'Job file (*.lance-job.json), relative to the workspace folder. Do not combine with other fields.',
    },
    ...fields,
  },
} as const;
