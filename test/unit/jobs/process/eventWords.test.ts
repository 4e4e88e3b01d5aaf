import assert from 'node:assert/strict';
import { eventWords } from '#jobs/process/recorder.ts';
import { createProgressReducer } from '#shared/jobs/foldEvents.ts';
import type { JobEvent } from '#shared/jobs/jobEvents.ts';

const planned: JobEvent = {
  at: 1,
  kind: 'planned',
  readVersion: 7,
  fragments: 6,
  rows: 3000,
  committedFragments: 0,
  checkpointedFragments: 0,
  reusedRows: 200,
};

/** Returns the log line of the last of these events. */
function lastOf(...events: readonly JobEvent[]): string | undefined {
  const fold = createProgressReducer(0);
  let words: string | undefined;
  for (const event of events) {
    fold.add(event);
    words = eventWords(event, () => fold.progress(event.at));
  }
  return words;
}

suite('What the log of a job says of its events', () => {
  test('is what there is to do', () => {
    assert.equal(
      lastOf(planned),
      'Reading version 7: 3,000 rows in 6 fragments to compute, 200 of them kept from an earlier run.',
    );
  });

  test('is how much is kept of one that was cancelled', () => {
    const committed: JobEvent = { at: 2, kind: 'committed', fragments: [0], version: 8, milliseconds: 1 };
    assert.equal(
      lastOf(planned, committed, { at: 3, kind: 'cancelled' }),
      'Cancelled: 200 of 3,000 rows are computed and kept; 1 of 6 fragments are in the table.',
    );
    assert.equal(lastOf({ at: 1, kind: 'cancelled' }), 'Cancelled: no rows are computed.');
  });

  test('is why one failed and what can be done, in a line that a terminal can show', () => {
    const failed = {
      at: 2,
      kind: 'failed',
      code: 'StorageFull',
      message: 'It is\nfull\u001b[31m.',
      hint: 'Make room.',
    };
    assert.equal(lastOf(planned, failed as JobEvent), 'Failed: It is full\\x1b[31m. Make room.');
    const unended = { ...failed, message: 'No space left on device (os error 28)' };
    assert.equal(lastOf(planned, unended as JobEvent), 'Failed: No space left on device (os error 28). Make room.');
  });

  test('is nothing of what only counts', () => {
    assert.equal(lastOf({ at: 1, kind: 'workers', ready: 1, wanted: 2 }), undefined);
  });

  test('reads the state of the job only if a line needs it', () => {
    let asked = 0;
    const fold = createProgressReducer(0);
    const progressNow = () => {
      asked++;
      return fold.progress(1);
    };
    eventWords(planned, progressNow);
    eventWords({ at: 1, kind: 'workers', ready: 1, wanted: 2 }, progressNow);
    assert.equal(asked, 0);
    eventWords({ at: 1, kind: 'cancelled' }, progressNow);
    assert.equal(asked, 1);
  });
});
