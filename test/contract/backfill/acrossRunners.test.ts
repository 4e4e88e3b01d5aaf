import assert from 'node:assert/strict';
import { type DataType, Field, FixedSizeList, Float32, Utf8 } from '#arrow';
import { withHash } from '#jobs/definition/hash.ts';
import { encodeOutput } from '#jobs/definition/outputType.ts';
import { registerFunction } from '#jobs/definition/registration.ts';
import { localRunner } from '#jobs/runners/localRunner.ts';
import { localPythonRunner } from '#jobs/runners/pythonRunner.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { python } from '../../harness/needs/python.ts';
import { eventually } from '../eventually.ts';
import { folderRoot } from './backfillRoot.ts';
import { gatedFunction } from './gatedFunction.ts';
import { contextOf, eventsOf, rowFunction } from './local/localJobs.ts';
import { lengthOf, lengths, textTable } from './local/localTable.ts';

const vector = new FixedSizeList(3, new Field('item', new Float32(), true));

suite('backfills that another runner goes on with, and values of other types', function () {
  this.timeout(120_000);
  const place = folderRoot();
  const { jobOf } = place;

  for (const [from, to] of [
    [localRunner, localPythonRunner],
    [localPythonRunner, localRunner],
  ] as const) {
    test(`what ${from.name} has kept ${to.name} does not compute again`, async () => {
      const name = `from_${from.name}`;
      const table = await textTable(place.db, name, { fragments: 2, rows: 4000 });
      const gated = gatedFunction('length', 3000);
      const options = { checkpointSize: 200, concurrency: 1, commitGranularity: 9, python: python() };
      const job = jobOf(name, { function: gated.function, options });
      const first = contextOf(job);
      const running = from.run(first.context);
      await eventually(() => assert.ok(gated.calls().size >= 2500), 60);
      first.abort.abort();
      await assert.rejects(running, { name: 'AbortError' });
      const computed = gated.calls();
      gated.open();
      const second = contextOf(job);
      await to.run(second.context);
      const again = [...gated.calls()].filter(([id, times]) => computed.has(id) && times > 1).length;
      // The rows of batches that were being computed are computed twice, because nothing of these batches was saved.
      assert.ok(again <= 1200, `${again} rows were computed twice`);
      assert.ok((eventsOf(second.events, 'planned')[0]?.reusedRows ?? 0) + committed(first.events, 2000) >= 1500);
      assert.deepEqual(
        (await lengths(table)).filter(([id, , length]) => length !== lengthOf(id)),
        [],
      );
    });
  }

  const kinds: readonly [string, DataType, string, (id: number) => unknown][] = [
    [
      'texts',
      new Utf8(),
      'export default ({ id }) => Number(id) % 3 === 0 ? null : "n" + id;',
      (id) => (id % 3 === 0 ? null : `n${id}`),
    ],
    ['vectors', vector, 'export default ({ id }) => [Number(id), 1, 2];', (id) => [id, 1, 2]],
  ];
  for (const [name, type, code, expected] of kinds) {
    test(`${name} are computed, kept and written like numbers`, async () => {
      const table = await textTable(place.db, name, { fragments: 3, rows: 3000 });
      const fn: ComputedFunction = withHash({
        ...rowFunction('made', code, ['id']),
        output: encodeOutput('made', type),
      });
      await registerFunction(table, 'made', fn, { signal: new AbortController().signal });
      const job = jobOf(name, { function: fn, options: { commitGranularity: 9 } });
      const first = contextOf(job, (event) => {
        if (event.kind === 'fragment' && event.fragment === 1) first.abort.abort();
      });
      await assert.rejects(localRunner.run(first.context), { name: 'AbortError' });
      const second = contextOf(job);
      await localRunner.run(second.context);
      assert.ok((eventsOf(second.events, 'planned')[0]?.reusedRows ?? 0) >= 1900);
      const found = await table.query().select(['id', 'made']).toArrow();
      assert.equal(found.numRows, await table.countRows());
      for (let row = 0; row < found.numRows; row++) {
        const value: unknown = found.getChild('made')!.get(row);
        const plain = value !== null && typeof value === 'object' ? Array.from(value as Iterable<number>) : value;
        assert.deepEqual(plain, expected(Number(found.getChild('id')!.get(row))));
      }
    });
  }
});

/** Returns the rows that a run had committed when it ended, given the rows per fragment. */
const committed = (events: Parameters<typeof eventsOf>[0], rows: number): number =>
  eventsOf(events, 'committed').reduce((total, { fragments }) => total + fragments.length * rows, 0);
