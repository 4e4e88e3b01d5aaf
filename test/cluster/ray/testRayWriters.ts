import assert from 'node:assert/strict';
import { countedFunction, gateAt, ofKind, open, rowsCalled, untilRows } from '../parts/rayRun.ts';
import { allRight, type RayWorld } from '../parts/rayWorld.ts';

/** Defines the tests of other writers that change the table during a backfill, for the suite of a release. */
export function testRayWriters(ray: () => RayWorld): void {
  suite('a backfill whose table others write to', () => {
    setup(() => ray().renew());

    test('computes rows that are appended meanwhile, each once', async () => {
      await ray().make();
      const { calls, tables, uri } = ray();
      const gate = gateAt(20_000);
      const run = ray().begin({ function: countedFunction(calls, { gates: [gate] }) });
      await untilRows(calls, 20_000, run);
      await tables.append({ uri }, 40_000, 5000);
      open(gate);
      await run.ended;
      assert.deepEqual(await ray().compare(), allRight(45_000, 9));
      assert.equal(rowsCalled(calls), 45_000);
      assert.deepEqual(ofKind(run.events, 'conflict'), []);
    });

    test('is right after rows were changed and deleted, and the table was compacted meanwhile', async () => {
      await ray().make();
      const { calls, tables, uri } = ray();
      const [early, late] = [gateAt(10_000), gateAt(30_000)];
      const computed = countedFunction(calls, { gates: [early, late] });
      const run = ray().begin({ function: computed, more: { commitGranularity: 3 } });
      await untilRows(calls, 10_000, run);
      // Change rows that are computed but not committed, rows that are being computed, and rows that wait.
      await tables.update({ uri }, 'id % 5000 < 100');
      await tables.delete({ uri }, 'id % 5000 >= 4900');
      open(early);
      await untilRows(calls, 28_000, run);
      await tables.compact({ uri }, 10_000);
      open(late);
      await run.ended;
      const { rows, nulls, wrong } = await ray().compare();
      assert.deepEqual({ rows, nulls, wrong }, { rows: 40_000 - 8 * 100, nulls: 0, wrong: 0 });
      assert.ok(ofKind(run.events, 'conflict').length > 0, JSON.stringify(run.events));
    });
  });
}
