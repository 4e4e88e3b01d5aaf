import type { JobView } from '#shared/jobs/jobView.ts';

/** Noon of the day that these tests use as today. */
export const noon = Date.UTC(2026, 4, 4, 12);

/** Returns a running job with these changes. */
export const someJob = (change: Partial<JobView> = {}): JobView => ({
  id: 'bf-0001',
  table: { catalog: 'sample', implementation: 'dir', namespacePath: ['shop', 'eu'], name: 'orders' },
  column: 'note_length',
  functionName: 'note_length',
  functionHash: 'ab'.repeat(32),
  runner: 'local',
  runnerReason: 'Nothing else has to be installed.',
  options: {},
  state: 'running',
  sentence: 'Computing fragment 12 of 40.',
  failure: undefined,
  createdAt: noon - 180_000,
  startedAt: noon - 175_000,
  endedAt: undefined,
  rows: { done: 420_000, total: 1_000_000, reused: 0 },
  fragments: { done: 16, total: 40 },
  rowsPerSecond: 12_345,
  secondsLeft: 118,
  errors: { count: 0, samples: [] },
  skipped: 0,
  conflicts: 0,
  bytesWritten: 1_680_000,
  version: 7,
  bottleneck: undefined,
  can: { cancel: true, resume: false, retry: false, remove: false },
  ...change,
});

/** Returns the same job after a successful end. */
export const endedJob = (change: Partial<JobView> = {}): JobView =>
  someJob({
    state: 'succeeded',
    sentence: 'All 1,000,000 rows are computed.',
    endedAt: noon - 120_000,
    rows: { done: 1_000_000, total: 1_000_000, reused: 0 },
    fragments: { done: 40, total: 40 },
    rowsPerSecond: undefined,
    secondsLeft: undefined,
    can: { cancel: false, resume: false, retry: false, remove: true },
    ...change,
  });
