import { jobFileSchema } from '#shared/jobs/jobFileSchema.ts';
import { asRecord } from '#shared/records.ts';
import { backfillTaskType } from '../manifest.ts';

const { $schema: _schema, ...fields } = asRecord(jobFileSchema['properties']);

/** A backfill in tasks.json: the path of a job file, or the fields of a job file. */
export const taskDefinitions = [
  {
    type: backfillTaskType,
    properties: {
      file: {
        type: 'string',
        description: 'Job file (*.lance-job.json), relative to the workspace folder. Do not combine with other fields.',
      },
      ...fields,
    },
  },
];

/** The file with the schema of job files. It is generated from the table of fields that also reads job files. */
export const jobSchemaFile = 'media/lance-job.schema.json';
export const jsonValidation = [{ fileMatch: '*.lance-job.json', url: `./${jobSchemaFile}` }];
