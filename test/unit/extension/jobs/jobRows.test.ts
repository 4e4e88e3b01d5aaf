import assert from 'node:assert/strict';
import { jobsInOrder, endedSince, withJobs } from '../../../../extension/jobs/jobBoard.ts';
import { boardMessage, renderJob } from '../../../../extension/jobs/jobRows.ts';
import { endedJob, noon, someJob } from './someJob.ts';

suite('a row of the Jobs view', () => {
  test('shows the progress and the remaining time of a running job, and its speed in the tooltip', () => {
    const row = renderJob(someJob(), noon);
    assert.equal(row.label, 'orders.note_length');
    assert.equal(row.description, '42 % · 2 min left');
    assert.match(row.tooltip, / · 12,300 rows\/s · /);
    assert.equal(row.icon.id, 'sync~spin');
  });

  test('says nothing of a rate before there is one', () => {
    const view = someJob({ rows: { done: 0, total: undefined, reused: 0 }, fragments: { done: 0, total: undefined } });
    const row = renderJob({ ...view, state: 'starting', rowsPerSecond: undefined, secondsLeft: undefined }, noon);
    assert.equal(row.description, 'starting');
  });

  test('says of a job that has ended how, and when', () => {
    assert.equal(renderJob(endedJob(), noon).description, 'done · 2 min ago');
  });

  test('counts the rows that failed', () => {
    const errors = { count: 1200, samples: [] };
    assert.equal(renderJob(endedJob({ errors }), noon).description, 'done · 1,200 rows failed · 2 min ago');
    assert.match(renderJob(someJob({ errors }), noon).description, / · 1,200 rows failed$/);
  });

  test('says how far a job came that was cut off', () => {
    const view = someJob({ state: 'interrupted', endedAt: noon - 7_200_000 });
    assert.equal(renderJob(view, noon).description, 'interrupted · at 42 % · 2 h ago');
  });

  test('is read aloud with its column, its table and what it does', () => {
    assert.equal(
      renderJob(someJob(), noon).spoken,
      'Backfill of note_length in shop/eu/orders: 42 % · 2 min left. Computing fragment 12 of 40.',
    );
  });

  test('carries what can be done with the job for menus', () => {
    assert.equal(renderJob(someJob(), noon).contextValue, 'job.running.cancel');
    const can = { cancel: false, resume: true, retry: true, remove: true };
    assert.equal(renderJob(endedJob({ state: 'failed', can }), noon).contextValue, 'job.failed.resume.retry.remove');
  });

  test('shows what a function said as text and as nothing else', () => {
    const { tooltip } = renderJob(someJob({ sentence: 'It said <img src=x> [click](command:evil)' }), noon);
    assert.doesNotMatch(tooltip, /<img|\[click\]\(/);
  });

  test('names what holds the job up', () => {
    const bottleneck = 'Waiting for 4 of 8 workers: no node has a free GPU.';
    assert.match(renderJob(someJob({ bottleneck }), noon).tooltip, /no node has a free GPU/);
  });
});

suite('the board of jobs', () => {
  const [done, running, cut] = [
    endedJob({ id: 'bf-1', endedAt: noon }),
    someJob({ id: 'bf-2', createdAt: noon - 9_000_000 }),
    someJob({ id: 'bf-3', state: 'interrupted' }),
  ];

  test('lists running jobs first, then interrupted ones, then the others, newest first', () => {
    const older = endedJob({ id: 'bf-4', endedAt: noon - 1000 });
    const board = withJobs(new Map(), [older, done, cut, running]);
    assert.deepEqual(
      jobsInOrder(board).map(({ id }) => id),
      ['bf-2', 'bf-3', 'bf-1', 'bf-4'],
    );
  });

  test('forgets jobs that were removed, and leaves the board before as it was', () => {
    const before = withJobs(new Map(), [done, running]);
    const after = withJobs(before, [], ['bf-1']);
    assert.deepEqual([before.size, [...after.keys()]], [2, ['bf-2']]);
  });

  test('returns the jobs that have ended since, except those that it never saw running', () => {
    const before = withJobs(new Map(), [running]);
    const after = withJobs(before, [endedJob({ id: 'bf-2' }), endedJob({ id: 'bf-5' })]);
    assert.deepEqual(
      endedSince(before, after).map(({ id }) => id),
      ['bf-2'],
    );
  });

  test('says that jobs were cut off and can go on', () => {
    assert.equal(boardMessage([done, running]), '');
    assert.match(boardMessage([cut, done]), /^A job was interrupted\. Resume it to continue where it stopped\.$/);
  });
});
