import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connectNamespace } from '@lancedb/lancedb';
import { openDir } from '#engine/dir/dirCatalog.ts';
import type { CatalogErrorKind } from '#shared/errors.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { tempFolder } from '../../harness/temp.ts';
import type { Operation, Outcome, Path } from '../model/operations.ts';
import { perform } from '../model/perform.ts';
import { Random } from '../model/random.ts';
import { readTree, type Tree } from '../model/trees.ts';
import { type Moto, startMoto } from '../moto.ts';
import type { RaceRequest } from './raceForNames.ts';

type Place = { root: string; storageOptions?: Record<string, string> };

const createTable = (path: Path, name: string): Operation => ({
  call: 'createTable',
  path,
  name,
  rows: 2,
  content: 1,
  mode: 'create',
});
const createNamespace = (path: Path): Operation => ({ call: 'createNamespace', path, mode: 'create' });

/** Maximum delay between the starts of two processes. The slower operation starts first in some rounds. */
const spreadMs = { directory: 40, store: 150 } as const;

const isOk = ({ error }: Outcome): boolean => error === undefined;

suite('Two processes that race for one name', function () {
  this.timeout(300_000);
  let processes: ChildProcess[];
  let moto: Moto;

  suiteSetup(async () => {
    processes = [1, 2].map(() => fork(inRoot('test/contract/names/raceForNames.ts')));
    [moto] = await Promise.all([startMoto('lenient'), ...processes.map((one) => once(one, 'message'))]);
  });
  suiteTeardown(async () => {
    await Promise.all([
      moto.stop(),
      ...processes.map((one) => {
        one.disconnect();
        return once(one, 'exit');
      }),
    ]);
  });

  const random = new Random(20_26);
  let count = 0;
  const places = {
    directory: { rounds: 20, create: (): Place => ({ root: tempFolder() }) },
    store: {
      rounds: 5,
      create: (): Place => ({ root: moto.root(`race-${count++}`), storageOptions: { ...moto.storageOptions } }),
    },
  } as const;

  /** Runs two operations almost simultaneously on a root with the objects that `prepare` creates. */
  async function race(
    where: keyof typeof places,
    prepare: readonly Operation[],
    operations: readonly [Operation, Operation],
  ): Promise<{ outcomes: [Outcome, Outcome]; tree: Tree; told: string }> {
    const place = places[where].create();
    const db = await openDir(place);
    for (const operation of prepare) assert.equal((await perform(db, operation, new Map())).error, undefined);
    const answers = processes.map((one) => once(one, 'message'));
    const startAt = Date.now() + (where === 'store' ? 150 : 60);
    const delays = operations.map(() => random.below(spreadMs[where]));
    processes.forEach((one, index) => {
      const request: RaceRequest = { ...place, operation: operations[index]!, startAt: startAt + delays[index]! };
      one.send(request);
    });
    const outcomes = (await Promise.all(answers)).map(([answer]) => answer as Outcome) as [Outcome, Outcome];
    const tree = await readTree(db);
    await db.close();
    return {
      outcomes,
      tree,
      told: `delays ${delays.join()}: ${JSON.stringify(outcomes)}, tree ${JSON.stringify(tree)}`,
    };
  }

  test('a table in the root of a store is dropped alone where a namespace has its name too', async () => {
    const { root, storageOptions = {} } = places.store.create();
    const db = await openDir({ root, storageOptions });
    await db.createNamespace(['n']);
    await db.createTable('x', [{ id: 1 }]);
    const properties = Object.entries(storageOptions).map(([name, value]) => [`storage.${name}`, value] as const);
    const upstream = await connectNamespace('dir', { root, extraProperties: Object.fromEntries(properties) });
    await upstream.createNamespace(['x']);
    upstream.close();
    await db.dropTable('x');
    assert.deepEqual(await readTree(db), { 'n/': { namespace: {} }, 'x/': { namespace: {} } });
    await db.close();
  });

  for (const where of ['directory', 'store'] as const) {
    const { rounds } = places[where];
    const fresh = [createNamespace(['n'])];

    for (const path of [[], ['n']]) {
      const parent = path.length === 0 ? 'the root' : 'a namespace';
      const key = [...path, 'x'].join('/');
      const above: Tree = { 'n/': { namespace: {} } };

      test(`one creates a table and the other a namespace in ${parent} of a ${where}: one wins`, async () => {
        for (let round = 0; round < rounds; round++) {
          // The first namespace of a root creates its manifest, which is a separate race.
          const prepare = path.length === 0 && round % 2 === 0 ? [] : fresh;
          const operations = [createTable(path, 'x'), createNamespace([...path, 'x'])] as const;
          const { outcomes, tree, told } = await race(where, prepare, operations);
          const [table, namespace] = outcomes;
          assert.notEqual(isOk(table), isOk(namespace), told);
          const refused: CatalogErrorKind = isOk(table) ? 'TableAlreadyExists' : 'NamespaceAlreadyExists';
          assert.equal(isOk(table) ? namespace.error : table.error, refused, told);
          const winner: Tree = isOk(table) ? { [key]: { table: 2 } } : { [`${key}/`]: { namespace: {} } };
          assert.deepEqual(tree, { ...(prepare.length > 0 && above), ...winner }, told);
        }
      });

      // Skip this case, because nothing in the root of an object store can be renamed.
      if (where === 'store' && path.length === 0) continue;
      test(`one renames a table to the name of a namespace that the other creates in ${parent} of a ${where}: one wins`, async () => {
        for (let round = 0; round < rounds; round++) {
          const rename: Operation = { call: 'renameTable', path, name: 'old', newPath: path, newName: 'x' };
          const prepare = [...fresh, createTable(path, 'old')];
          const { outcomes, tree, told } = await race(where, prepare, [rename, createNamespace([...path, 'x'])]);
          const [renamed, namespace] = outcomes;
          assert.notEqual(isOk(renamed), isOk(namespace), told);
          const refused: CatalogErrorKind = isOk(renamed) ? 'TableAlreadyExists' : 'NamespaceAlreadyExists';
          assert.equal(isOk(renamed) ? namespace.error : renamed.error, refused, told);
          const old = [...path, 'old'].join('/');
          const winner: Tree = isOk(renamed)
            ? { [key]: { table: 2 } }
            : { [old]: { table: 2 }, [`${key}/`]: { namespace: {} } };
          assert.deepEqual(tree, { ...above, ...winner }, told);
        }
      });
    }

    for (const behavior of ['restrict', 'cascade'] as const) {
      test(`one drops a namespace (${behavior}) and the other creates a table in it, in a ${where}: never both`, async () => {
        for (let round = 0; round < rounds; round++) {
          const drop: Operation = { call: 'dropNamespace', path: ['n'], mode: 'fail', behavior };
          const { outcomes, tree, told } = await race(where, fresh, [drop, createTable(['n'], 'x')]);
          const [dropped, created] = outcomes;
          if (isOk(dropped)) {
            // A cascade may also drop the table, after it was created or before it is opened.
            const ends =
              behavior === 'restrict' ? ['NamespaceNotFound'] : ['NamespaceNotFound', 'TableNotFound', undefined];
            assert.ok(ends.includes(created.error), told);
            assert.deepEqual(tree, {}, told);
          } else {
            assert.equal(dropped.error, 'NamespaceNotEmpty', told);
            assert.equal(created.error, undefined, told);
            assert.deepEqual(tree, { 'n/': { namespace: {} }, 'n/x': { table: 2 } }, told);
          }
        }
      });
    }
  }
});
