import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { type PlainServer, startPlainServer } from '../../contract/rest/plainServer.ts';
import { tempFolder } from '../../harness/temp.ts';
import { errorOf, printed, run, sampleCatalog, startKernel, until, valueOf } from '../support.ts';

/** Usual ways to wait a moment. */
const pauses = {
  'a promise of setTimeout': 'await new Promise((done) => setTimeout(done, 5))',
  'node:timers/promises': 'await (await import("node:timers/promises")).setTimeout(5)',
  'promisify(setTimeout)': 'await require("node:util").promisify(setTimeout)(5)',
  'a promise of setImmediate': 'await new Promise((done) => setImmediate(done))',
  'a file that is read': 'await require("node:fs/promises").readFile("package.json")',
};

/**
 * Repeats an attempt until its result is `wanted`, at most five times. All other results must be in `allowed`. On a
 * busy machine, a kernel that does not respond in time is interrupted, and its last output may be lost.
 */
async function eventually(wanted: unknown, allowed: readonly unknown[], attempt: () => Promise<unknown>) {
  for (let times = 0; times < 5; times++) {
    const seen = await attempt();
    if (seen === wanted) return;
    assert.ok(allowed.includes(seen), String(seen));
  }
  assert.fail(`It never was ${String(wanted)}.`);
}

suite('An interrupt of a cell ends', function () {
  this.timeout(120_000);
  let server: PlainServer;
  let silent: Server;
  let kernel: KernelProcess;
  let late: KernelOutput[] = [];

  const folder = tempFolder();
  suiteSetup(async () => {
    writeFileSync(join(folder, 'package.json'), '{}');
    // A module of the user gets Node's original `setTimeout`, not the kernel's.
    writeFileSync(join(folder, 'rest.ts'), 'export const rest = () => new Promise((done) => setTimeout(done, 20));');
    server = await startPlainServer(await sampleCatalog());
    silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    kernel = await startKernel({ cwd: folder, catalog: { implementation: 'rest', uri: server.uri } });
    kernel.onOrphanOutput((output) => late.push(output));
    await run(kernel, 'let rounds = 0');
  });
  suiteTeardown(async () => {
    await kernel.shutdown();
    silent.closeAllConnections();
    silent.close();
    await server.close();
  });
  setup(() => {
    late = [];
  });

  /** Interrupts a cell after its first output. */
  async function interrupted(code: string): Promise<KernelOutput[]> {
    const outputs: KernelOutput[] = [];
    const cell = kernel.execute(code, (output) => outputs.push(output));
    await until(`output of ${code}`, () => printed(outputs) !== '' || errorOf(outputs) !== undefined);
    assert.equal((await kernel.interrupt()).status, 'ok');
    await cell;
    assert.equal(errorOf(outputs)?.ename, 'Interrupted', errorOf(outputs)?.traceback.join('\n'));
    return outputs;
  }

  const left = () => server.log.filter(({ end }) => end === 'left').length;

  test('the query that it reads, at the server too', async () => {
    const before = left();
    await interrupted(
      `const orders = await db.openTable('orders', { namespacePath: ['shop', 'eu'] });
for await (const batch of orders.query()) { console.log(batch.numRows); await new Promise(() => {}) }`,
    );
    await until('the server to hear of it', () => left() === before + 1);
  });

  test('the table that it writes, of which nothing is left', async () => {
    const before = left();
    await interrupted(
      `async function* rows() {
  yield arrow.tableFromArrays({ n: [1, 2] }).batches[0]!;
  console.log('begun');
  await new Promise(() => {});
}
await db.createTable('half', rows())`,
    );
    await until('the server to hear of it', () => left() === before + 1);
    assert.equal(await valueOf(kernel, "await db.tableExists('half')"), 'false');
  });

  test('a cell that waits for a file that is loaded again, and whose code has not begun', async () => {
    const file = join(folder, 'slow.ts');
    writeFileSync(file, 'export const n = 1;');
    await run(kernel, "import { n } from './slow.ts'; let begun = 0");
    const wait = 'await new Promise<void>((go) => Object.assign(globalThis, { go }));';
    writeFileSync(file, `console.log('again'); ${wait} export const n = 2;`);
    await interrupted('begun = n');
    assert.equal(
      await valueOf(kernel, '(globalThis as any).go(); await new Promise((done) => setTimeout(done, 50)); begun'),
      '0',
    );
  });

  test('a fetch', async () => {
    const { port } = silent.address() as AddressInfo;
    const asked = once(silent, 'request') as Promise<[IncomingMessage]>;
    const cell = run(kernel, `await fetch('http://127.0.0.1:${port}')`);
    const [{ socket }] = await asked;
    const hungUp = once(socket, 'close');
    assert.equal((await kernel.interrupt()).status, 'ok');
    assert.equal(errorOf((await cell).outputs)?.ename, 'Interrupted');
    await hungUp;
  });

  /** Checks that at most the current round finishes and no other round starts. */
  async function atRest(): Promise<void> {
    const code = 'const before = rounds; await new Promise((done) => setTimeout(done, 300)); rounds - before <= 1';
    assert.equal(await valueOf(kernel, code), 'true');
  }

  for (const [name, pause] of Object.entries(pauses))
    test(`a loop around ${name}`, async () => {
      await interrupted(`while (true) { ${pause}; if (++rounds % 10 === 0) console.log(rounds) }`);
      await atRest();
    });

  test('a loop within a function that waits by a timer or a catalog, and catches everything', async () => {
    for (const pause of ['new Promise((done) => setTimeout(done, 5))', 'db.tableNames()']) {
      await interrupted(
        `const poll = async () => { for (;;) try { await ${pause}; if (++rounds % 5 === 0) console.log(rounds) } catch {} };
await poll()`,
      );
      await atRest();
    }
  });

  test('a loop that shows without a pause, of which all comes that it showed', async () => {
    const outputs = await interrupted(
      `let times = 0; console.log('shows'); for (;;) { display(String(times), { id: 'last' }); times++ }`,
    );
    const shown = () => [...outputs, ...late].filter(({ type }) => type.endsWith('display_data')).length;
    const times = Number(await valueOf(kernel, 'times'));
    // The cell may have sent its last output without having counted it.
    await until('the last one', () => shown() >= times);
    assert.ok(shown() <= times + 1, `${shown()} of ${times}`);
  });

  test('the intervals that it set, and none of the cells before it', async () => {
    await run(kernel, 'let ticks = 0; const clock = setInterval(() => ticks++, 5)');
    await interrupted(`setInterval(() => console.log(++rounds), 5); await new Promise(() => {})`);
    const code = `const [tick, round] = [ticks, rounds]; await new Promise((done) => setTimeout(done, 100));
clearInterval(clock); [ticks > tick, rounds === round]`;
    assert.equal(await valueOf(kernel, code), '[ true, true ]');
  });

  test('nothing that belongs to a cell that is done', async () => {
    const { outputs } = await run(
      kernel,
      `const [begun] = [Date.now()]; setTimeout(async () => { await db.tableNames(); console.log('still there') }, 400); 0`,
    );
    await interrupted(`console.log('waits'); await new Promise(() => {})`);
    await until('the earlier cell', () => printed(late).includes('still there'));
    assert.deepEqual(
      late.filter(({ type }) => type === 'stream').map(({ parent }) => parent),
      [outputs[0]?.parent],
    );
  });

  test('work of the person by cellSignal(), which lets it say so, and is new for the next cell', async () => {
    await eventually('works\nput away\n', ['works\n'], async () =>
      printed(
        await interrupted(
          `cellSignal().addEventListener('abort', () => console.log('put away'));
console.log('works'); await new Promise(() => {})`,
        ),
      ),
    );
    assert.equal(await valueOf(kernel, 'cellSignal().aborted'), 'false');
  });

  test('its code where it waits: what stands behind is not run, a finally is', async () => {
    await eventually('10', ['0'], async () => {
      await interrupted(
        `let reached = 0;
const soon = new Promise((done) => cellSignal().addEventListener('abort', () => queueMicrotask(() => done(1))));
try { console.log('waits'); await soon; reached = 1 } finally { reached += 10; await 0; reached += 100 }`,
      );
      return valueOf(kernel, 'reached');
    });
  });

  test('without a word about what it cancelled', async () => {
    await interrupted(
      `void db.openTable('orders', { namespacePath: ['shop', 'eu'] }).then((table) => table.query().toArrow());
void import('node:timers/promises').then(({ setTimeout }) => setTimeout(60_000));
console.log('asks'); await new Promise(() => {})`,
    );
    await run(kernel, 'await new Promise((done) => setTimeout(done, 100))');
    assert.deepEqual(
      late.filter(({ type }) => type === 'error'),
      [],
    );
  });

  test('what can be ended, and says once of the rest that it goes on', async () => {
    const code = `import { rest } from './rest.ts';
const go = async () => { for (;;) { await rest(); console.log('on and on') } };
await go()`;
    const outputs = await interrupted(code);
    const notes = () => printed([...outputs, ...late], 'stderr').match(/still runs although it was interrupted/g) ?? [];
    await until('the note', () => notes().length > 0);
    const shown = printed(late).length;
    await run(kernel, 'await new Promise((done) => setTimeout(done, 200))');
    assert.equal(printed(late).length, shown);
    assert.equal(notes().length, 1);
  });
});
