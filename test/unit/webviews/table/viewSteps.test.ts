import assert from 'node:assert/strict';
import { ViewSteps, wholeTable } from '../../../../webviews/table/viewSteps.ts';

const filtered = (where: string) => ({ where, orderBy: [] });

suite('the steps of a view', () => {
  test('are undone and redone, and a new one forgets what was undone', () => {
    const steps = new ViewSteps(wholeTable);
    for (const where of ['a', 'b', 'b', 'c']) steps.add(filtered(where));
    steps.move(-1);
    assert.equal(steps.current.where, 'b');
    assert.equal(steps.peek(1)?.where, 'c');
    steps.move(-1);
    steps.add(filtered('d'));
    assert.deepEqual([steps.peek(-1)?.where, steps.current.where, steps.peek(1)], ['a', 'd', undefined]);
    for (let step = 0; step < 5; step++) steps.move(-1);
    assert.equal(steps.current, wholeTable);
  });
});
