import type { JobRecord } from '#jobs/records/jobRecord.ts';
import { createProgressReducer } from '#shared/jobs/foldEvents.ts';

/** Returns the record of a started job, with these changes. */
export const recordFor = (id: string, more: Partial<JobRecord> = {}): JobRecord => ({
  id,
  createdAt: 1000,
  table: { catalog: 'Shop', implementation: 'dir', namespacePath: ['eu'], name: 'words' },
  place: 'p',
  column: 'length',
  functionName: 'length',
  functionHash: 'a'.repeat(64),
  options: { where: 'x > 1', onError: { mode: 'null' } },
  runner: 'local',
  runnerReason: 'It needs nothing else.',
  run: 1,
  kept: { 'rest.jobId': '7' },
  progress: createProgressReducer(1000).progress(1000),
  ...more,
});
