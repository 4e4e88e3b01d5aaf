import assert from 'node:assert/strict';
import { sizeText } from '#shared/format/numbers.ts';
import { durationText } from '#shared/format/times.ts';
import { percentText, progressText, rateText, shareDone } from '#shared/jobs/jobLabels.ts';
import { endedJob, someJob } from '../../extension/jobs/someJob.ts';

suite('the words of a job', () => {
  for (const [seconds, text] of [
    [0.2, 'less than a second'],
    [45, '45 s'],
    [89.4, '89 s'],
    [118, '2 min'],
    [3600, '1 h'],
    [4800, '1 h 20 min'],
    [400_000, '5 d'],
  ] as const)
    test(`say ${seconds} seconds as "${text}"`, () => assert.equal(durationText(seconds), text));

  for (const [rate, text] of [
    [12_345, '12,300 rows/s'],
    [950.4, '950 rows/s'],
    [0.4, '0.4 rows/s'],
    [1_234_567, '1,230,000 rows/s'],
  ] as const)
    test(`say a rate of ${rate} as "${text}"`, () => assert.equal(rateText(rate), text));

  for (const [bytes, text] of [
    [1, '1 byte'],
    [999, '999 bytes'],
    [1500, '1.5 KB'],
    [38_400, '38 KB'],
    [999_999, '1 MB'],
    [1_200_000_000, '1.2 GB'],
  ] as const)
    test(`say ${bytes} bytes as "${text}"`, () => assert.equal(sizeText(bytes), text));

  test('never show 100 % while computed rows are still being processed', () => {
    const rows = { done: 1000, total: 1000, reused: 0 };
    assert.match(progressText(someJob({ rows })), /^99 %/);
    assert.equal(progressText(endedJob({ rows })), '100 %');
  });

  test('never say 100 % while rows are left', () => {
    const share = shareDone(someJob({ rows: { done: 999_999, total: 1_000_000, reused: 0 } }));
    assert.equal(percentText(share ?? Number.NaN), '99 %');
  });

  test('never say 100 % of a run that ended before it wrote what it had computed', () => {
    const rows = { done: 1000, total: 1000, reused: 0 };
    const failed = endedJob({ state: 'failed', rows, fragments: { done: 0, total: 6 } });
    assert.equal(progressText(failed), '99 %');
  });

  test('say of a run that skipped rows how much of them it filled', () => {
    const rows = { done: 3000, total: 3000, reused: 0 };
    assert.equal(progressText(endedJob({ rows, skipped: 1500 })), '50 %');
  });

  test('take fragments for the measure where rows are not counted', () => {
    assert.equal(shareDone(someJob({ rows: { done: 5, total: undefined, reused: 0 } })), 0.4);
  });

  test('know no share where nothing is counted', () => {
    const view = someJob({ rows: { done: 5, total: undefined, reused: 0 }, fragments: { done: 0, total: undefined } });
    assert.equal(shareDone(view), undefined);
    assert.equal(progressText(view), '12,300 rows/s · 2 min left');
  });

  test('say that a job without a row to do is done, and not that it is not a number', () => {
    assert.equal(shareDone(endedJob({ state: 'failed', rows: { done: 0, total: 0, reused: 0 } })), 1);
    assert.equal(progressText(endedJob({ rows: { done: 0, total: 0, reused: 0 } })), '100 %');
  });
});
