import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { ageEvery } from '#shared/format/times.ts';
import { AgeTimer } from '../../../../extension/cluster/ageTimer.ts';

suite('The age of a report', () => {
  setup(() => mock.timers.enable({ apis: ['setInterval'] }));
  teardown(() => mock.timers.reset());

  test('is updated only while it is visible', () => {
    let told = 0;
    const timer = new AgeTimer(() => void told++);
    mock.timers.tick(3 * ageEvery);
    assert.equal(told, 0);
    timer.isNeeded = true;
    timer.isNeeded = true;
    mock.timers.tick(2 * ageEvery);
    assert.equal(told, 2);
    timer.isNeeded = false;
    mock.timers.tick(3 * ageEvery);
    assert.equal(told, 2);
  });
});
