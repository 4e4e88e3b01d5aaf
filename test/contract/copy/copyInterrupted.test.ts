import assert from 'node:assert/strict';
import { Float64, makeData, makeVector, Table as ArrowTable } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import { isUnfinished, readMark } from '#catalog/copy/copyState.ts';
import { registerRest } from '#catalog/rest/register.ts';
import type { Table } from '#catalog/table/table.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { tempFolder } from '../../harness/temp.ts';
import { UpstreamServers } from '../upstream/upstreamServers.ts';
import { rowsOf } from './copySource.ts';

const changing: ReadonlySet<PropertyKey> = new Set<keyof Catalog | keyof Table>([
  'add',
  'createEmptyTable',
  'createIndex',
  'createTable',
  'dropTable',
  'renameTable',
  'updateSchemaMetadata',
]);

const openers: ReadonlySet<PropertyKey> = new Set<keyof Catalog>(['openTable', 'createTable', 'createEmptyTable']);

/** Thrown where a real process would end. */
class Ended extends Error {}

/**
 * Stands in for a process that ends at a chosen call, because a test can't end a real process at a given call. The
 * process ends at its `last` call that changes the target: before the call is sent, or after the call was executed but
 * before its response. Later calls that open or change something fail. The target is real.
 */
function endingStandIn(
  target: Catalog,
  last: number,
  when: 'before' | 'after',
): { catalog: Catalog; calls: () => number } {
  let calls = 0;
  const wrap = <T extends object>(original: T): T =>
    new Proxy(original, {
      get: (object, key) => {
        const value: unknown = Reflect.get(object, key);
        if (typeof value !== 'function') return value;
        const call = value.bind(object) as (...args: unknown[]) => unknown;
        if (!openers.has(key) && !changing.has(key)) return call;
        return async (...args: unknown[]) => {
          if (calls >= last) throw new Ended();
          const isLast = changing.has(key) && ++calls === last;
          if (isLast && when === 'before') throw new Ended();
          const result = await call(...args);
          if (isLast) throw new Ended();
          return openers.has(key) ? wrap(result as Table) : result;
        };
      },
    });
  return { catalog: wrap(target), calls: () => calls };
}

const count = 500;
const chunkBytes = 800;
const numbers = (start: number): ArrowTable =>
  new ArrowTable({
    x: makeVector(makeData({ type: new Float64(), data: Float64Array.from({ length: count }, (_, x) => start + x) })),
  });

suite('A copy that is interrupted at any call', function () {
  this.timeout(120_000);
  const upstream = new UpstreamServers();
  let source: Catalog;
  let whole: string[];

  suiteSetup(async () => {
    registerRest();
    source = await openDir({ root: tempFolder() });
    const table = await source.createTable('numbers', numbers(0));
    await table.createIndex('x', { type: 'BTREE' });
    whole = await rowsOf(source, ['numbers']);
  });
  suiteTeardown(async () => {
    await source.close();
    await upstream.stop();
  });

  const targets = {
    'a directory, which renames': (root: string) => openDir({ root }),
    "upstream's server, which marks": async (root: string) =>
      connectNamespace('rest', { uri: await upstream.serve(root) }),
  };

  for (const [name, open] of Object.entries(targets)) {
    for (const when of ['before', 'after'] as const) {
      for (const replaces of [false, true]) {
        const what = replaces ? 'in the place of another table' : 'anew';
        test(`is whole after another try, ${what}, ended ${when} the call: ${name}`, async () => {
          let finished = false;
          for (let last = 1; !finished; last++) {
            const target = await open(tempFolder());
            let old: string[] | undefined;
            if (replaces) {
              await target.createTable('copied', numbers(1000));
              old = await rowsOf(target, ['copied']);
            }
            const ending = endingStandIn(target, last, when);
            const options = { chunkBytes, overwrite: replaces };
            const first = source.copy(['numbers'], { catalog: ending.catalog, path: ['copied'] }, options);
            finished = await first.then(
              () => true,
              (error: unknown) => {
                assert.ok(error instanceof Ended, String(error));
                return false;
              },
            );
            await neverTakenForWhole(target, whole, old);
            await source.copy(['numbers'], { catalog: target, path: ['copied'] }, options);
            assert.deepEqual(await rowsOf(target, ['copied']), whole, `after call ${last}`);
            assert.deepEqual(await target.tableNames(), ['copied'], `after call ${last}`);
            const indexes = await (await target.openTable('copied')).listIndices();
            assert.deepEqual(
              indexes.map((index) => index.name),
              ['x_idx'],
            );
            if (finished) assert.ok(ending.calls() >= 7, `only ${ending.calls()} calls`);
            await target.close();
          }
        });
      }
    }
  }
});

/** Checks that the table with the name of the copy is the earlier table, the complete copy, or marked as unfinished. */
async function neverTakenForWhole(target: Catalog, whole: string[], old: string[] | undefined): Promise<void> {
  if (!(await target.tableExists('copied'))) return;
  const rows = await rowsOf(target, ['copied']);
  const mark = readMark(await (await target.openTable('copied')).schema());
  if (mark && isUnfinished(mark, 'copied')) return;
  if (mark) assert.deepEqual(rows, whole);
  else assert.deepEqual(rows, old);
}
