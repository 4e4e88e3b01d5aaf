import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { isCatalogError } from '#shared/errors.ts';
import { tempFolder } from '../../harness/temp.ts';
import { type Moto, startMoto } from '../moto.ts';
import { type ServeProcess, startServe } from './serveProcess.ts';

const rowsPerWrite = 10;

/** Rows that contain the name of their writer. */
const batchOf = (writer: string, count: number) =>
  Array.from({ length: rowsPerWrite }, (_, index) => ({ writer, batch: count, index }));

const open = ({ address }: ServeProcess): Promise<Catalog> => connectNamespace('rest', { uri: address, retries: 0 });

suite('two servers on one root', function () {
  this.timeout(120_000);
  let moto: Moto;
  suiteSetup(async () => {
    registerRest();
    moto = await startMoto();
  });
  suiteTeardown(() => moto.stop());

  const places = {
    'a directory': () => ({ root: tempFolder(), args: [], env: {} }),
    'an object store': () => ({
      // Use a new root each time, so that a repeated test finds no earlier data.
      root: moto.root(`two-${randomUUID()}`),
      args: Object.entries(moto.storageOptions).flatMap(([name, value]) =>
        name.includes('secret')
          ? ['--storage-option-env', `${name}=TEST_STORE_SECRET`]
          : ['--storage-option', `${name}=${value}`],
      ),
      env: { TEST_STORE_SECRET: moto.storageOptions['aws_secret_access_key']! },
    }),
  };

  for (const [what, place] of Object.entries(places)) {
    suite(`in ${what}`, () => {
      let servers: [ServeProcess, ServeProcess];
      let dbs: [Catalog, Catalog];
      setup(async () => {
        const { root, args, env } = place();
        const start = () => startServe(['--root', root, '--no-auth', ...args], { env });
        servers = await Promise.all([start(), start()]);
        dbs = await Promise.all([open(servers[0]), open(servers[1])]);
      });
      teardown(async () => {
        await Promise.all(dbs.map((db) => db.close()));
        await Promise.all(servers.map((server) => server.stop()));
      });

      test('see at once what the other one made, wrote and dropped', async () => {
        const [left, right] = dbs;
        const name = `seen-${what.length}`;
        await left.createNamespace([name]);
        await left.createTable('t', batchOf('left', 0), [name]);
        const table = await right.openTable('t', [name]);
        assert.equal(await table.countRows(), rowsPerWrite);
        await (await left.openTable('t', [name])).add(batchOf('left', 1));
        assert.equal(await table.countRows(), 2 * rowsPerWrite);
        await right.dropTable('t', [name]);
        assert.deepEqual(await left.tableNames([name]), []);
        await left.dropNamespace([name]);
        assert.deepEqual((await right.listNamespaces()).namespaces.includes(name), false);
      });

      test('keep every write of both, and one killed in the midst leaves nothing half made', async () => {
        const [left, right] = dbs;
        await left.createTable('t', batchOf('start', 0));
        const written = { left: 0, right: 0 };
        const end = new AbortController();
        const write = async (who: 'left' | 'right', db: Catalog): Promise<void> => {
          const table = await db.openTable('t');
          for (let count = 1; !end.signal.aborted; count++) {
            try {
              await table.add(batchOf(who, count));
              written[who] = count;
            } catch (error) {
              // A writer may lose the race for a version. Then it gets this error, and nothing was written.
              if (isCatalogError(error, 'ConcurrentModification')) continue;
              if (who === 'left' && isCatalogError(error, 'ServiceUnavailable')) return;
              throw error;
            }
          }
        };
        const writing = Promise.all([write('left', left), write('right', right)]);
        const made = (async () => {
          for (let count = 0; !end.signal.aborted; count++) {
            const done = await left.createTable(`made${count}`, batchOf('left', count)).then(
              () => true,
              () => false,
            );
            if (!done) return count;
          }
          return undefined;
        })();
        while (written.left < 3 || written.right < 3) await new Promise((resolve) => setTimeout(resolve, 10));
        process.kill(servers[0].pid, 'SIGKILL');
        const before = written.right;
        while (written.right < before + 3) await new Promise((resolve) => setTimeout(resolve, 10));
        end.abort();
        await writing;

        // Every confirmed write is complete. The write in progress when its server was killed is complete or absent.
        const rows = (await (await right.openTable('t')).query().toArray()) as { writer: string; batch: number }[];
        const counts = new Map<string, number>();
        for (const { writer, batch } of rows) {
          counts.set(`${writer}${batch}`, (counts.get(`${writer}${batch}`) ?? 0) + 1);
        }
        for (const [batch, count] of counts) assert.equal(count, rowsPerWrite, batch);
        for (let count = written.right; count > written.right - 3; count--) assert.ok(counts.has(`right${count}`));
        for (let count = written.left; count > written.left - 2; count--) assert.ok(counts.has(`left${count}`));

        // The table that was just being created is either complete, or it is not listed and its name is free. Only in
        // the root of an object store may the name stay in use, because nothing can be renamed there.
        const last = await made;
        assert.ok(last !== undefined);
        for (const name of (await right.tableNames()).filter((one) => one.startsWith('made'))) {
          const counted = await (await right.openTable(name)).countRows().catch((error: unknown) => error);
          const isTaken = name === `made${last}` && isCatalogError(counted, 'InvalidTableState');
          if (what !== 'an object store' || !isTaken) assert.equal(counted, rowsPerWrite, name);
        }
        await right.createTable(`made${last}`, batchOf('right', 0), { mode: 'overwrite' });
        assert.equal(await (await right.openTable(`made${last}`)).countRows(), rowsPerWrite);
      });
    });
  }
});
