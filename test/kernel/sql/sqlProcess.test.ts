import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { isRunning } from '../../harness/running.ts';
import { errorOf, printed, run, sampleCatalog, startKernel, until, valueOf } from '../support.ts';

/** Counts endlessly, without reading a table. */
const endless =
  'with recursive counted(n) as (select 1 union all select n + 1 from counted) select count(*) from counted';

/** Returns the processes of the SQL engine of a kernel. */
const processesOf = ({ handshake: { pid } }: KernelProcess): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((each) => {
      try {
        const isChild = readFileSync(`/proc/${each}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(pid);
        return isChild && readFileSync(`/proc/${each}/cmdline`, 'utf8').includes('sql.cjs');
      } catch {
        // The process has ended meanwhile.
        return false;
      }
    });

/** Returns the processor time of a process in hundredths of a second. */
function usedBy(pid: number): number {
  const [user = 0, system = 0] = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .split(') ')[1]!
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return user + system;
}

suite('The process that answers SQL', function () {
  this.timeout(60_000);
  let kernel: KernelProcess;
  setup(async function () {
    if (process.platform !== 'linux') return this.skip();
    kernel = await startKernel({ catalog: { implementation: 'dir', root: await sampleCatalog() } });
    assert.equal(await valueOf(kernel, 'let kept = 5; (await sql`select 1 as one`).numRows'), '1');
  });
  teardown(() => kernel?.shutdown());

  /** Starts an endless query, and waits until the engine computes. */
  async function computes(cell = `%%sql\n${endless}`): Promise<{ running: ReturnType<typeof run>; pid: number }> {
    const running = run(kernel, cell);
    running.catch(() => {});
    const pid = await until('a process', () => processesOf(kernel)[0]);
    await until('the engine to be at work', () => usedBy(pid) > 100);
    return { running, pid };
  }

  test('is the same for one query after the other', async () => {
    const before = processesOf(kernel);
    assert.equal(before.length, 1);
    await run(kernel, 'await sql`select count(*) from shop.products`');
    // A query with an error must not end the process and start another.
    await run(kernel, 'await sql`select nope from shop.products`');
    assert.equal(await valueOf(kernel, '(await sql`select 2 as two`).numRows'), '1');
    assert.deepEqual(processesOf(kernel), before);
  });

  test('is not kept with the memory of a large query', async () => {
    const large = "select count(distinct 'a long text with the number ' || range) as n from range(12000000)";
    assert.equal(await valueOf(kernel, `(await sql\`${large}\`).get(0)!.n`), '12000000n');
    await until('its end', () => processesOf(kernel).length === 0, 5);
    assert.equal(await valueOf(kernel, '(await sql`select 1 as one`).numRows + kept'), '6');
  });

  test('is ended by an interrupt while it computes, at once, and the next query has another', async () => {
    const { running, pid } = await computes();
    const started = performance.now();
    assert.equal((await kernel.interrupt()).status, 'ok');
    const { reply } = await running;
    assert.ok(performance.now() - started < 1000);
    assert.equal(reply.status === 'error' && reply.ename, 'Interrupted');
    await until('its end', () => !isRunning(pid));
    assert.equal(await valueOf(kernel, '[kept, (await sql`select count(*) from shop.products`).numRows]'), '[ 5, 1 ]');
  });

  test('is ended by an interrupt that comes while it starts', async () => {
    const before = await until('a process', () => processesOf(kernel)[0]);
    process.kill(before, 'SIGKILL');
    await until('its end', () => !isRunning(before));
    // The kernel notices the end of the process a moment later. On a machine with gigabytes in use, the start of
    // another process takes even longer.
    await run(
      kernel,
      `const children = require('node:child_process');
const { spawn } = children;
children.spawn = (...given) => {
  const child = spawn(...given);
  for (const end = Date.now() + 500; Date.now() < end;);
  return child;
};
await new Promise((done) => setTimeout(done, 200));`,
    );
    const running = run(kernel, `%%sql\n${endless}`);
    await until('a process', () => processesOf(kernel)[0]);
    await kernel.interrupt();
    const { reply } = await running;
    assert.equal(reply.status === 'error' && reply.ename, 'Interrupted');
    await until('its end', () => processesOf(kernel).length === 0, 5);
  });

  test('leaves the cell free for other work while it computes', async () => {
    const { running } = await computes(
      `const tick = setInterval(() => console.log('tick'), 20);
try { await sql\`${endless}\`; } finally { clearInterval(tick); }`,
    );
    await kernel.interrupt();
    assert.ok(printed((await running).outputs).split('tick').length > 10);
  });

  test('answers two queries of a cell at the same time', async () => {
    const cell = `const both = await Promise.all([sql\`select 1 as n\`, sql\`select count(*) as n from shop.products\`]);
both.map((table) => Number(table.get(0)!.n) > 0)`;
    assert.equal(await valueOf(kernel, cell), '[ true, true ]');
    await until('one of them to be kept', () => processesOf(kernel).length === 1);
  });

  test('is an error of the cell when it dies, and the next query has another', async () => {
    const { running, pid } = await computes();
    process.kill(pid, 'SIGKILL');
    const { outputs } = await running;
    assert.match(
      String(errorOf(outputs)?.evalue),
      /The SQL process has ended: killed by SIGKILL\. Run the query again/,
    );
    assert.equal(await valueOf(kernel, '(await sql`select 1 as one`).numRows + kept'), '6');
  });

  test('ends with the kernel, also while it computes', async () => {
    const { pid } = await computes();
    process.kill(kernel.handshake.pid, 'SIGKILL');
    await until('its end', () => !isRunning(pid));
  });

  test('ends with the kernel that is shut down', async () => {
    const pid = await until('a process', () => processesOf(kernel)[0]);
    assert.ok(isRunning(pid));
    await kernel.shutdown();
    await until('its end', () => !isRunning(pid));
  });
});
