import type { BackfillPlan, Figure } from '#shared/jobs/jobPlan.ts';

const counted = (value: number): Figure => ({ value, basis: 'counted' });
const estimated = (value: number, estimatedFrom: string): Figure => ({ value, basis: { estimatedFrom } });

/** Returns a plan of an expression over a million rows, a quarter of which have a value. */
export const somePlan = (change: Partial<BackfillPlan> = {}): BackfillPlan => ({
  column: 'note_length',
  function: {
    name: 'note_length',
    version: '',
    hash: 'ab'.repeat(32),
    inputs: ['note'],
    output: '',
    onError: { mode: 'fail' },
    kind: 'sql',
    expression: 'length(note)',
  },
  runner: 'local',
  runnerReason: 'Nothing else has to be installed.',
  others: [
    { runner: 'local-python', isPossible: false, reason: 'No Python with pylance was found.' },
    { runner: 'ray', isPossible: false, reason: 'No Ray is connected.' },
    { runner: 'rest', isPossible: false, reason: 'A directory has no server.' },
  ],
  options: {},
  readVersion: 12,
  rows: { total: counted(1_000_000), toCompute: counted(750_000), done: counted(250_000), reused: counted(0) },
  fragments: { total: counted(40), toCompute: counted(30), done: counted(10) },
  bytes: {
    read: estimated(48_000_000, 'the sizes of the data files'),
    written: estimated(3_000_000, '4 bytes a row'),
    rewritten: counted(0),
  },
  versions: counted(8),
  rowsPerSecond: undefined,
  seconds: undefined,
  notes: [
    { level: 'info', text: 'Rows that are appended meanwhile stay null; the next run computes them.' },
    { level: 'warning', text: 'An update of the same rows meanwhile makes their fragments be computed again.' },
  ],
  ...change,
});
