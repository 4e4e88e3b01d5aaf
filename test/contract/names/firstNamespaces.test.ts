import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  manifestClaimFolder,
  createInObjectStore,
  createUnlessExists,
  manifestSchema,
} from '#engine/dir/files/createManifest.ts';
import { datasetName, withDataset } from '#engine/dir/dataset.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { tempFolder } from '../../harness/temp.ts';
import { type Moto, startMoto } from '../moto.ts';

/** Without protection, one round in about fifteen loses a namespace. */
const rounds = 10;

type Root = { root: string; storageOptions?: Record<string, string> };

/** In each new root, two processes start at the same moment and each creates the first namespaces one after another. */
suite('The first namespaces of a root, made by two processes at once', function () {
  this.timeout(120_000);
  const names = ['left', 'right'];
  let processes: ChildProcess[];
  let moto: Moto;

  suiteSetup(async () => {
    processes = names.map((name) => fork(inRoot('test/contract/names/makeNamespaces.ts'), [name]));
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

  test('stay where a process learns only while it makes the list that another was faster, in an object store', async () => {
    const place = { location: moto.root('second'), isLocal: false, storageOptions: { ...moto.storageOptions } };
    const db = await openDir({ root: place.location, storageOptions: place.storageOptions });
    await db.createNamespace(['left']);
    await createInObjectStore(place);
    await createUnlessExists(place, await manifestSchema());
    assert.deepEqual((await db.listNamespaces()).namespaces, ['left']);
    await db.createNamespace(['right']);
    assert.deepEqual((await db.listNamespaces()).namespaces, names);
    await db.close();
  });

  test('are created in an object store after the process that was to create the list has ended', async () => {
    const place = { location: moto.root('ended'), isLocal: false, storageOptions: { ...moto.storageOptions } };
    const schema = await manifestSchema();
    await withDataset(place, manifestClaimFolder, async (claims) =>
      (await claims.createEmptyTable(datasetName, schema)).close(),
    );
    await createInObjectStore(place, 200);
    const db = await openDir({ root: place.location, storageOptions: place.storageOptions });
    await db.createNamespace(['left']);
    assert.deepEqual((await db.listNamespaces()).namespaces, ['left']);
    assert.deepEqual((await db.listTables()).tables, []);
    await db.close();
  });

  const roots: Record<string, (round: number) => Root> = {
    'in a directory': () => ({ root: tempFolder() }),
    'in an object store': (round) => ({
      root: moto.root(`first-${round}`),
      storageOptions: { ...moto.storageOptions },
    }),
  };
  for (const [where, rootOf] of Object.entries(roots)) {
    test(`are all there: ${where}`, async () => {
      for (let round = 0; round < rounds; round++) {
        const place = rootOf(round);
        const answers = processes.map((one) => once(one, 'message'));
        for (const one of processes) one.send({ ...place, at: Date.now() + 60 });
        const said = (await Promise.all(answers)).map(([answer]) => String(answer));
        assert.deepEqual(said, ['made', 'made'], `round ${round}`);
        const db = await openDir(place);
        const all = names.flatMap((name) => [name, `${name}-2`, `${name}-3`]);
        assert.deepEqual((await db.listNamespaces()).namespaces, all, `round ${round}`);
        for (const name of all) assert.equal(await db.namespaceExists([name]), true, `round ${round}`);
        await db.close();
      }
    });
  }
});
