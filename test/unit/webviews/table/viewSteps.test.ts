import assert from 'node:assert/strict';
import { wholeTable } from '#shared/protocol/panelViews.ts';
import { ViewSteps } from '../../../../webviews/table/viewSteps.ts';

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

  test('are kept and found again, but only if they lead to the shown view', () => {
    const steps = new ViewSteps(wholeTable);
    for (const where of ['a', 'b', 'c']) steps.add(filtered(where));
    steps.move(-1);
    const kept: unknown = JSON.parse(JSON.stringify(steps.kept));
    const again = ViewSteps.from(kept, filtered('b'));
    assert.deepEqual([again?.peek(-1)?.where, again?.peek(1)?.where], ['a', 'c']);
    assert.equal(ViewSteps.from(kept, filtered('a')), undefined);
    for (const wrong of [
      null,
      [],
      { views: [{ where: 1 }], at: 0 },
      { views: [], at: 0 },
      { views: [wholeTable], at: 7 },
    ])
      assert.equal(ViewSteps.from(wrong, wholeTable), undefined);
  });

  test('that are too long are kept in part, around the current one', () => {
    const steps = new ViewSteps(wholeTable);
    for (let step = 0; step < 20; step++) steps.add(filtered(`${step} ${'x'.repeat(50_000)}`));
    for (let step = 0; step < 9; step++) steps.move(-1);
    const { views, at } = steps.kept;
    assert.equal(views[at]?.where.slice(0, 3), '10 ');
    assert.ok(views.length > 2 && JSON.stringify(views).length <= 256 * 1024, `${views.length} views`);
    assert.deepEqual(ViewSteps.from({ views, at }, steps.current)?.kept, { views, at });
  });

  test('tell views apart by every field, also by one of a later version', () => {
    const steps = new ViewSteps(wholeTable);
    steps.add({ ...wholeTable, other: 'x' } as typeof wholeTable);
    assert.notEqual(steps.current, wholeTable);
    steps.add({ other: 'x', ...wholeTable, orderBy: [], where: ' ' } as typeof wholeTable);
    assert.equal(steps.peek(-1), wholeTable);
  });
});
