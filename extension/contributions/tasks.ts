import { backfillTaskDefinition } from '../jobs/backfill/taskDefinition.ts';

export const taskDefinitions = [backfillTaskDefinition];

/** The schema of job files: generated from the table that reads them. */
export const jobSchemaFile = 'media/lance-job.schema.json';
export const jsonValidation = [{ fileMatch: '*.lance-job.json', url: `./${jobSchemaFile}` }];
