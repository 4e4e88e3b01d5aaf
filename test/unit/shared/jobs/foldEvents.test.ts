import assert from 'node:assert/strict';
import { createProgressReducer, type JobProgress } from '#shared/jobs/foldEvents.ts';
import type { JobEvent } from '#shared/jobs/jobEvents.ts';
import { progressText, shareDone } from '#shared/jobs/jobLabels.ts';
import { someJob } from '../../extension/jobs/someJob.ts';

type Told = JobEvent extends infer E ? (E extends unknown ? Omit<E, 'at'> : never) : never;

/** Returns the state of a job at a second, after events at the given seconds. */
function after(second: number, ...events: readonly (readonly [second: number, event: Told])[]): JobProgress {
  const fold = createProgressReducer(0);
  for (const [at, event] of events) fold.add({ at: at * 1000, ...event });
  return fold.progress(second * 1000);
}

const planned = {
  kind: 'planned',
  readVersion: 3,
  fragments: 8,
  rows: 1000,
  committedFragments: 2,
  checkpointedFragments: 1,
  reusedRows: 100,
} as const;

const progress = (rows: number, seconds: { compute?: number; read?: number; write?: number } = {}): Told => ({
  kind: 'progress',
  rows,
  errors: 0,
  computeSeconds: seconds.compute ?? 0,
  readSeconds: seconds.read ?? 0,
  writeSeconds: seconds.write ?? 0,
});
const workers = (ready: number, waitingFor?: string): Told => ({
  kind: 'workers',
  ready,
  wanted: 8,
  ...(waitingFor !== undefined && { waitingFor }),
});
const conflict = (dropped: number[]): Told => ({
  kind: 'conflict',
  attempt: 1,
  dropped,
  reason: 'Rows were updated.',
});
/** Returns what delays a run, given the seconds that its workers have spent on computing, reading and writing. */
const heldUpBy = (seconds: { compute?: number; read?: number; write?: number }): string | undefined =>
  after(11, [0, planned], [5, progress(10)], [10, progress(20, seconds)]).bottleneck;
const succeeded = { kind: 'succeeded', rows: 1000, errors: 0, skipped: 0, bytesWritten: 4000, version: 9 } as const;
const sample = { fragment: 0, row: 7, message: 'no text', inputs: { text: '' } };

suite('Events of a run, folded', () => {
  test('say that it starts while nothing is planned', () => {
    const { state, sentence, startedAt } = after(1);
    assert.deepEqual([state, sentence, startedAt], ['starting', 'Checking what to compute.', 0]);
  });

  test('say what was to be said, however long it takes, until it goes on', () => {
    const lost: Told = { kind: 'notice', text: 'Ray does not answer. The job continues there.' };
    assert.equal(after(600, [1, planned], [2, progress(10)], [3, lost]).sentence, lost.text);
    const back: Told = { kind: 'restarted', what: 'connection', reason: 'Ray did not answer.' };
    assert.match(after(10, [1, planned], [3, lost], [9, back]).sentence, /^The connection was started again/);
    assert.match(after(10, [1, planned], [3, lost], [9, progress(20)]).sentence, /^Computing/);
  });

  test('count what an earlier run has done', () => {
    const { state, rows, fragments } = after(1, [1, planned]);
    assert.equal(state, 'running');
    assert.deepEqual(rows, { done: 100, total: 1000, reused: 100 });
    assert.deepEqual(fragments, { done: 2, total: 10 });
  });

  test('count a fragment once, however often it was committed', () => {
    const committed = { kind: 'committed', fragments: [4, 5], version: 4, milliseconds: 2 } as const;
    const { fragments, version } = after(3, [1, planned], [2, committed], [3, { ...committed, version: 5 }]);
    assert.deepEqual(fragments, { done: 4, total: 10 });
    assert.equal(version, 5);
  });

  test('never say that more rows are done than there are, though some were computed twice', () => {
    assert.deepEqual(after(3, [1, planned], [2, progress(5000)]).rows, { done: 1000, total: 1000, reused: 100 });
  });

  test('give the rate of the last half minute and not that of the whole run', () => {
    const slow = Array.from({ length: 60 }, (_, second) => [second + 1, progress(second + 1)] as const);
    const fast = Array.from({ length: 40 }, (_, second) => [second + 61, progress(60 + (second + 1) * 10)] as const);
    const { rowsPerSecond, secondsLeft, rows } = after(100, [0, { ...planned, reusedRows: 0 }], ...slow, ...fast);
    assert.equal(rows.done, 460);
    assert.equal(rowsPerSecond, 10);
    assert.equal(secondsLeft, 54);
  });

  test('give no rate before there is time to tell one', () => {
    assert.equal(after(1, [0, planned], [1, progress(500)]).rowsPerSecond, undefined);
  });

  test('let the rate fall while nothing comes', () => {
    const rates = [10, 20, 39].map((now) => after(now, [0, planned], [10, progress(100)]).rowsPerSecond ?? 0);
    assert.deepEqual(
      rates,
      rates.toSorted((a, b) => b - a),
    );
    assert.equal(rates[0], 10);
    assert.equal(rates[1], 5);
  });

  test('give no rate of long ago, and no time left that is over', () => {
    const nearlyDone = progress(890);
    const told = [10, 14, 30].map((now) => after(now, [0, planned], [10, nearlyDone]));
    assert.deepEqual(
      told.map(({ secondsLeft }) => secondsLeft !== undefined),
      [true, false, false],
    );
    assert.deepEqual(
      told.map(({ rowsPerSecond }) => rowsPerSecond !== undefined),
      [true, true, false],
    );
    assert.equal(told[2]?.bottleneck, 'No row was finished for 20 s.');
  });

  test('say which resources are missing', () => {
    const { bottleneck } = after(20, [1, workers(2, 'No node has 4 CPUs free.')]);
    assert.equal(bottleneck, 'Resources: 2 of 8 workers are ready. No node has 4 CPUs free.');
  });

  test('do not call workers that merely come up a bottleneck', () => {
    const { bottleneck, sentence } = after(2, [1, planned], [1, workers(0)]);
    assert.equal(bottleneck, undefined);
    assert.equal(sentence, 'Waiting for the first of 8 workers.');
  });

  test('name the part of the work that takes most of the time', () => {
    assert.equal(heldUpBy({ compute: 9, read: 1 }), "The function takes 90 % of the workers' time.");
    assert.equal(heldUpBy({ compute: 1, read: 3 }), "Reading from the storage takes 75 % of the workers' time.");
    assert.equal(heldUpBy({ read: 1, write: 4 }), "Writing to the storage takes 80 % of the workers' time.");
    assert.equal(heldUpBy({ compute: 5, read: 5 }), undefined, 'none of them');
    assert.equal(heldUpBy({ compute: 0.2 }), undefined, 'too little to tell');
  });

  test('name conflicts once there are several within a minute', () => {
    const one = after(11, [0, planned], [9, progress(1)], [10, conflict([])]);
    assert.equal(one.bottleneck, undefined);
    assert.equal(one.conflicts, 1);
    const two = after(12, [0, planned], [9, progress(1)], [10, conflict([3])], [11, conflict([3, 4])]);
    assert.equal(
      two.bottleneck,
      'Conflicts: another writer changed the table 2 times in the last minute, and 3 fragments were discarded. Rows were updated.',
    );
  });

  test('say for how long no row was finished, though totals keep coming', () => {
    const idle = Array.from({ length: 80 }, (_, half) => [10 + half / 2, progress(50, { compute: 1 })] as const);
    assert.equal(after(50, [0, planned], ...idle).bottleneck, 'No row was finished for 40 s.');
  });

  test('keep a few rows that failed, and count all of them', () => {
    const errors = { kind: 'errors', count: 15, samples: Array.from({ length: 15 }, () => sample) } as const;
    const { errors: told } = after(3, [0, planned], [1, errors], [2, errors]);
    assert.equal(told.count, 30);
    assert.equal(told.samples.length, 20);
  });

  test('take what the end says for the truth', () => {
    const end = { ...succeeded, rows: 990, errors: 10, skipped: 4, bytesWritten: 77 };
    const done = after(90, [0, planned], [9, progress(500)], [10, end]);
    assert.equal(done.state, 'succeeded');
    assert.equal(done.endedAt, 10_000);
    assert.deepEqual(done.rows, { done: 990, total: 990, reused: 100 });
    assert.equal(
      done.sentence,
      '890 rows computed in 10 s; 6 of them failed and stayed null; 4 of them failed, left for the next run; 100 kept from an earlier run.',
    );
    assert.deepEqual([done.errors.count, done.skipped, done.bytesWritten, done.version], [10, 4, 77, 9]);
    assert.deepEqual([done.rowsPerSecond, done.secondsLeft, done.bottleneck], [undefined, undefined, undefined]);
  });

  test('say that there was nothing to do', () => {
    const end = { ...succeeded, rows: 0, bytesWritten: 0 };
    assert.equal(
      after(2, [0, { ...planned, fragments: 0, rows: 0 }], [1, end]).sentence,
      'There was nothing to compute.',
    );
  });

  test('say why it failed, and what to do', () => {
    const failure = { code: 'StorageFull', message: 'The disk is full.', hint: 'Make room.' };
    const failed = after(3, [0, planned], [2, { kind: 'failed', ...failure }]);
    assert.deepEqual([failed.state, failed.sentence, failed.failure], ['failed', 'The disk is full.', failure]);
  });

  test('do not change their list when later events arrive', () => {
    const fold = createProgressReducer(0);
    const before = fold.progress(0);
    fold.add({ at: 1, kind: 'errors', count: 1, samples: [sample] });
    assert.deepEqual(before.errors, { count: 0, samples: [] });
  });
});

/** A million rows in one fragment, which the runner writes to the table in one step after seven seconds. */
const million = { ...planned, fragments: 1, rows: 1_000_000, committedFragments: 0, reusedRows: 0, writesBack: true };
const computed = Array.from({ length: 7 }, (_, second) => [second + 1, progress((second + 1) * 142_858)] as const);
const writing = { kind: 'writing', rows: 1_000_000 } as const;
const written = { kind: 'committed', fragments: [0], version: 4, milliseconds: 9000, rows: 1_000_000 } as const;

/** Returns the state at a second of a run that writes from the seventh to the sixteenth second. */
const at = (second: number): JobProgress =>
  after(
    second,
    [0, million],
    ...computed.filter(([when]) => when <= second),
    ...(second >= 7 ? [[7, writing] as const] : []),
    ...(second >= 16 ? [[16, written] as const] : []),
  );

suite('The phase of a run that writes rows to the table', () => {
  test('has its own share of the bar, so that computed rows are not 99 % of the work', () => {
    const shares = [1, 3, 5, 7, 12, 15, 16].map((second) => shareDone(someJob(at(second))) ?? Number.NaN);
    assert.deepEqual(
      shares,
      shares.toSorted((a, b) => a - b),
    );
    assert.ok(shares[3]! > 0.3 && shares[3]! < 0.6, `${shares[3]} after computing`);
    assert.equal(shares[5], shares[3], 'no progress is shown that nobody has measured');
    assert.equal(shares[6], 0.99);
  });

  test('says what it does, and has no estimate, rate or bottleneck until a step was measured', () => {
    const { phase, sentence, secondsLeft, rowsPerSecond, bottleneck } = at(15);
    assert.deepEqual(
      [phase, sentence, secondsLeft, rowsPerSecond, bottleneck],
      ['writing', 'Writing 1,000,000 rows to the table…', undefined, undefined, undefined],
    );
    assert.match(progressText(someJob(at(15))), /^\d+ % · writing$/);
    assert.deepEqual([at(5).phase, at(5).sentence, at(5).written], ['computing', 'Computing.', 0]);
    const done = at(17);
    assert.deepEqual(
      [done.written, done.secondsLeft, done.sentence],
      [1_000_000, undefined, 'All rows are in the table. Finishing the column.'],
    );
  });

  test('never counts as a time in which nothing happens', () => {
    assert.equal(at(15).bottleneck, undefined);
    const long = after(60, [0, million], ...computed, [7, writing]);
    assert.equal(long.bottleneck, undefined);
    assert.match(long.sentence, /^Writing/);
  });

  test('is part of the estimate while rows are computed', () => {
    const { secondsLeft = 0, rowsPerSecond } = at(6);
    assert.equal(rowsPerSecond, 142_858);
    // One second of computing, and ten of writing.
    assert.ok(secondsLeft > 10.9 && secondsLeft < 11.1, String(secondsLeft));
  });

  test('is estimated from the steps before, and does not slow down the rate of computing', () => {
    const steps = { ...million, fragments: 3, rows: 3000 };
    const events = [
      [0, steps],
      [10, progress(1000)],
      [10, { kind: 'writing', rows: 1000 }],
      [15, { kind: 'committed', fragments: [0], version: 4, milliseconds: 5000, rows: 1000 }],
      [25, progress(2000)],
      [25, { kind: 'writing', rows: 1000 }],
    ] as const;
    const computing = after(20, ...events.slice(0, 4));
    const step = after(27, ...events);
    assert.equal(step.sentence, 'Writing 1,000 rows to the table: 1,000 of 3,000 rows are written.');
    // 3 s of this step, 10 s of computing and a step of 5 s.
    assert.equal(step.secondsLeft, 18);
    assert.equal(computing.phase, 'computing');
    assert.equal(after(40, ...events).secondsLeft, undefined, 'it takes longer than the step before');
  });

  test('has a share even if it takes no time', () => {
    const kept = { ...million, rows: 10, reusedRows: 10 };
    const step = { ...written, rows: 10, milliseconds: 0 };
    const { share } = after(2, [1, kept], [1, { kind: 'writing', rows: 10 }], [1, step]);
    assert.equal(share, 1);
  });

  test('ends with the run', () => {
    const cancelled = after(9, [0, million], ...computed, [7, writing], [8, { kind: 'cancelled' }]);
    assert.deepEqual([cancelled.phase, cancelled.secondsLeft], [undefined, undefined]);
  });
});

suite('Rows that an earlier run has computed', () => {
  const resumed = { ...million, reusedRows: 333_728 };
  const end = { ...succeeded, rows: 1_000_000 };

  test('do not count as computed', () => {
    const told = after(90, [0, resumed], [83, { ...end, reusedRows: 333_728 }]);
    assert.equal(told.sentence, '666,272 rows computed in 83 s; 333,728 kept from an earlier run.');
    assert.deepEqual(told.rows, { done: 1_000_000, total: 1_000_000, reused: 333_728 });
  });

  test('are those that the run has reused, if it planned to reuse more', () => {
    const told = after(90, [0, resumed], [83, { ...end, reusedRows: 300_000 }]);
    assert.match(told.sentence, /^700,000 rows computed in 83 s; 300,000 kept/);
    assert.match(after(90, [0, resumed], [83, end]).sentence, /^666,272 rows computed/);
  });

  test('can be all rows', () => {
    const told = after(9, [0, million], [6, { ...end, reusedRows: 1_000_000 }]);
    assert.equal(told.sentence, '1,000,000 rows kept from an earlier run, written in 6 s.');
  });
});
