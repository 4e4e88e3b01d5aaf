import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { inRoot } from '../../../scripts/paths.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';
import { startEngine } from '../subjects.ts';

suite('SQL too deep for the stack of the engine', function () {
  this.timeout(60_000);

  test('is refused wherever SQL is given, and the process lives', async () => {
    const engine = await startEngine();
    try {
      const db = engine.catalog(tempFolder());
      const table = await db.createTable('t', [{ x: 1, y: 'a' }]);
      const bomb = `x${'+x'.repeat(2000)}`;
      const filter = `${bomb}=1`;
      const calls: (() => Promise<unknown>)[] = [
        () => table.countRows(filter),
        () => table.query().where(filter).toArrow(),
        () => table.query().select({ z: bomb }).toArrow(),
        () => table.query().where(filter).explainPlan(),
        () => table.query().where(filter).analyzePlan(),
        () => table.update({ where: filter, values: { x: 2 } }),
        () => table.update({ valuesSql: { x: bomb } }),
        () => table.delete(filter),
        () => table.addColumns([{ name: 'z', expression: bomb }]),
        () =>
          table
            .mergeInsert('x')
            .whenMatchedUpdateAll({ where: filter })
            .execute([{ x: 1, y: 'b' }]),
        () =>
          table
            .mergeInsert('x')
            .whenNotMatchedBySourceDelete({ where: filter })
            .execute([{ x: 1, y: 'b' }]),
      ];
      for (const call of calls) await fails(call, 'InvalidInput');
      assert.equal(await table.countRows(Array.from({ length: 200 }, (_, i) => `x = ${i}`).join(' OR ')), 1);
      assert.equal(await table.countRows(`x IN (${Array.from({ length: 10_000 }, (_, i) => i).join(',')})`), 1);
      assert.ok(engine.isRunning);
    } finally {
      await engine.dispose();
    }
  });

  test('has room for several times as much on that stack as is let through', async () => {
    const { RUST_MIN_STACK: _, ...env } = process.env;
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, [inRoot('test/contract/serve/deepFilter.ts'), tempFolder()], {
      env,
    });
    assert.equal(stdout, '1');
  });
});
