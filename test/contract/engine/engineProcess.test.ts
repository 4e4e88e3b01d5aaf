import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Float64, makeData, makeVector, Table } from '#arrow';
import { type EngineExit, EngineProcess } from '#catalog/engineProcess.ts';
import { isAbort } from '#shared/errors.ts';
import { tempFolder } from '../../harness/temp.ts';
import { eventually } from '../eventually.ts';
import { fails } from '../expect.ts';
import { startEngine } from '../subjects.ts';

const node = { path: process.execPath, env: {} };

function script(text: string): string {
  const file = join(tempFolder(), 'engine.cjs');
  writeFileSync(file, text);
  return file;
}

const folders = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('lance-engine-'));

suite('the engine process and its parent', function () {
  this.timeout(60_000);

  test('a call in flight fails with a sentence when the process is killed, and so do later ones', async () => {
    const engine = await startEngine();
    const exits: EngineExit[] = [];
    engine.onDidExit((exit) => exits.push(exit));
    const db = engine.catalog(tempFolder());
    const count = 500_000;
    const table = await db.createTable(
      't',
      new Table({ x: makeVector(Float64Array.from({ length: count }, Math.random)) }),
    );
    await fails(
      async () => {
        for await (const batch of table.query()) {
          if (engine.isRunning && batch.numRows > 0) process.kill(engine.handshake.pid, 'SIGKILL');
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      },
      'ServiceUnavailable',
      'engine process ended',
      'Restart',
    );
    await fails(() => db.listTables(), 'ServiceUnavailable', 'engine process ended', 'Restart');
    assert.deepEqual(exits, [{ code: null, signal: 'SIGKILL', expected: false }]);
    assert.equal(engine.isRunning, false);
    await engine.dispose();
  });

  test('an answer that breaks off says so, and not that the process ended', async () => {
    const engine = await startEngine();
    const root = tempFolder();
    const db = engine.catalog(root);
    const rows = new Table({ x: makeVector(new Float64Array(500_000)) });
    const files = () => readdirSync(join(root, 't.lance/data'));
    const table = await db.createTable('t', rows);
    const before = files();
    await table.add(rows);
    for (const file of files().filter((name) => !before.includes(name))) rmSync(join(root, 't.lance/data', file));
    const read = async () => {
      for await (const batch of table.query()) assert.ok(batch.numRows > 0);
    };
    await fails(read, 'ServiceUnavailable', 'did not finish its response', 'then try again');
    assert.equal(engine.isRunning, true);
    assert.deepEqual(await db.tableNames(), ['t']);
    await engine.dispose();
  });

  test('dispose ends it and leaves no folder', async () => {
    const before = folders();
    const engine = await startEngine();
    assert.equal(folders().length, before.length + 1);
    const exits: EngineExit[] = [];
    engine.onDidExit((exit) => exits.push(exit));
    await engine.dispose();
    assert.deepEqual(exits, [{ code: 0, signal: null, expected: true }]);
    assert.deepEqual(folders(), before);
    assert.throws(() => process.kill(engine.handshake.pid, 0));
    await engine.dispose();
  });

  test('dispose closes the catalogs that are open, and forgot those that were closed', async () => {
    const engine = await startEngine();
    const closed = engine.catalog(tempFolder());
    const open = engine.catalog(tempFolder());
    await closed.close();
    const again: string[] = [];
    closed.close = async () => void again.push('closed');
    open.close = async () => void again.push('open');
    await engine.dispose();
    assert.deepEqual(again, ['open']);
  });

  test('the secret is in neither its arguments nor its environment', async () => {
    const engine = await startEngine();
    const arguments_ = readFileSync(`/proc/${engine.handshake.pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
    assert.equal(arguments_.length, 2);
    const inherited = new Set(Object.entries(process.env).map(([name, value]) => `${name}=${value}`));
    const environment = readFileSync(`/proc/${engine.handshake.pid}/environ`, 'utf8').split('\0').filter(Boolean);
    // In addition to the inherited variables, only those that limit memory are set.
    const memory = ['MALLOC_ARENA_MAX=1', 'LANCE_DEFAULT_FRAGMENT_READAHEAD=1'];
    assert.deepEqual(
      environment.filter((entry) => !inherited.has(entry) && !memory.includes(entry)),
      [],
    );
    await engine.dispose();
  });

  test('a process that ends while starting is an error with what it said', async () => {
    const entry = script(`console.error('the disk is on fire'); process.exit(3)`);
    await fails(() => EngineProcess.start({ entry, node }), 'ServiceUnavailable', 'code 3', 'the disk is on fire');
  });

  test('a process that is not there is an error', async () => {
    const missing = { path: '/nonexistent/node', env: {} };
    await fails(() => EngineProcess.start({ entry: 'x', node: missing }), 'ServiceUnavailable', "can't start");
  });

  test('starting can be given up, and nothing stays', async () => {
    const before = folders();
    const entry = script(
      `require('fs').writeFileSync(__filename + '.pid', String(process.pid)); setInterval(() => {}, 1000)`,
    );
    const abort = new AbortController();
    const starting = EngineProcess.start({ entry, node, signal: abort.signal });
    while (!existsSync(`${entry}.pid`)) await new Promise((resolve) => setTimeout(resolve, 20));
    abort.abort();
    await assert.rejects(starting, isAbort);
    const pid = Number(readFileSync(`${entry}.pid`, 'utf8'));
    await eventually(() => {
      assert.throws(() => process.kill(pid, 0));
      assert.deepEqual(folders(), before);
    });
  });

  test('where the engine does not load it says so, and its calls name what works instead', async () => {
    // A bundle loads packages from its own folder. The folder of this test has an engine package without the native
    // part.
    const folder = tempFolder();
    const { engineEntry } = await import('../subjects.ts');
    const { inRoot } = await import('../../../scripts/paths.ts');
    writeFileSync(join(folder, 'engine.cjs'), readFileSync(engineEntry()));
    const fake = join(folder, 'node_modules/@lancedb/lancedb');
    mkdirSync(fake, { recursive: true });
    writeFileSync(join(fake, 'index.js'), `throw new Error('Cannot find native binding for this platform')`);
    const { symlinkSync } = await import('node:fs');
    for (const name of ['apache-arrow', 'flatbuffers', 'tslib']) {
      symlinkSync(inRoot('node_modules', name), join(folder, 'node_modules', name));
    }
    const engine = await EngineProcess.start({ entry: join(folder, 'engine.cjs'), node });
    assert.equal(engine.handshake.engine, null);
    assert.match(engine.handshake.problem ?? '', /can't be used on this platform .*native binding/);
    await fails(() => engine.catalog(tempFolder()).listTables(), 'Unsupported', 'platform', 'rest');
    await engine.dispose();
  });

  test('a slow reader holds up what the engine writes', async () => {
    const engine = await startEngine();
    const db = engine.catalog(tempFolder());
    // 96 MB of incompressible rows.
    const width = 64;
    const count = 187_500;
    const values = Float64Array.from({ length: count * width }, Math.random);
    const columns = Object.fromEntries(
      Array.from({ length: width }, (_, index) => [
        `c${index}`,
        makeVector(makeData({ type: new Float64(), data: values.subarray(index * count, (index + 1) * count) })),
      ]),
    );
    await db.createTable('wide', new Table(columns));
    const table = await db.openTable('wide');
    await table.query().select(['c0']).limit(1).toArrow();
    // Returns the number of bytes that the engine process has written. It writes no files here, so it has sent all of
    // them on this connection.
    const written = (): number =>
      Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${engine.handshake.pid}/io`, 'utf8'))?.[1]);
    const before = written();
    for await (const batch of table.query()) {
      assert.ok(batch.numRows > 0);
      let [sent, still] = [0, 0];
      while (still < 5) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        const now = written() - before;
        still = now === sent ? still + 1 : 0;
        sent = now;
      }
      assert.ok(sent > 0 && sent < values.byteLength / 4, `${sent} bytes went to a reader that waits`);
      break;
    }
    await engine.dispose();
  });
});
