import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { KernelProcess, type AttachedKernel } from '#processes/kernelProcess.ts';
import { isCatalogError } from '#shared/errors.ts';
import { encodeFrame } from '#shared/protocol/frames.ts';
import { keepAliveFile, type KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { tempFolder } from '../harness/temp.ts';
import { kernelEntry, node, printed, resultOf, sleep, until, valueOf } from './support.ts';
import { isRunning } from '../harness/running.ts';

type Kept = { kernel: KernelProcess; folder: string };

/** Starts a kernel that outlives its client, in a folder with a short path, because the path of a socket is limited. */
async function startKept(seconds = 30, editor = process.pid): Promise<Kept> {
  const folder = mkdtempSync(join(tempFolder(), 'k'));
  const keep = { folder, seconds, editor };
  const kernel = await KernelProcess.start({ entry: kernelEntry, node, cwd: tempFolder(), catalog: null, keep });
  await until('the socket', () => existsSync(join(folder, 'kernel.json')));
  return { kernel, folder };
}

type Asks = (question: { prompt: string; password: boolean }) => Promise<string | null>;

/** Reconnects as a window does after a reload. The kernel may not have noticed yet that the other client has left. */
async function comeBack(folder: string, ask?: Asks): Promise<AttachedKernel> {
  for (;;) {
    try {
      return await KernelProcess.attach(folder, ask ? { ask } : {});
    } catch (error) {
      if (isCatalogError(error, 'ServiceUnavailable')) throw error;
    }
  }
}

const neverAnswers: Asks = () => new Promise(() => {});

/** Returns the outputs of the last started run. */
const outputsOf = ({ runs }: AttachedKernel): KernelOutput[] =>
  (runs.at(-1)?.messages ?? []).filter((one): one is KernelOutput => one.type !== 'execute_reply');

// One kernel for most of the tests: each disconnects and reconnects.
suite('A kernel that outlives its client', function () {
  this.timeout(30_000);
  let kernel: KernelProcess;
  let folder: string;
  /** A cell creates this file when it has reached the point that the test waits for. */
  let mark: string;
  suiteSetup(async () => {
    ({ kernel, folder } = await startKept());
    await kernel.execute(`import { writeFileSync } from 'node:fs'`, () => {});
  });
  setup(() => {
    mark = join(tempFolder(), 'mark');
  });
  suiteTeardown(async () => {
    await kernel.shutdown();
    await until('the folder to be gone', () => !existsSync(folder));
  });

  /** Starts a cell without waiting for its end, disconnects, and waits until the cell has created the mark. */
  async function leaveDuring(code: string): Promise<void> {
    const outputs: KernelOutput[] = [];
    kernel.execute(code, (output) => outputs.push(output), { cell: { index: 0 } }).catch(() => undefined);
    await until('its start', () => outputs.length > 0);
    kernel.leave();
    await until('the mark of the cell', () => existsSync(mark));
  }

  test('goes on with a running cell, and gives a later client all that it has printed', async () => {
    const seen: KernelOutput[] = [];
    const go = join(tempFolder(), 'go');
    const code = `let kept = 41; import { existsSync } from 'node:fs';
      console.log('before'); await new Promise((done) => setTimeout(done, 300)); console.log('meanwhile');
      while (!existsSync(${JSON.stringify(go)})) await new Promise((done) => setTimeout(done, 20));
      console.log('after'); kept + 1`;
    const lost = kernel.execute(code, (output) => seen.push(output), { cell: { index: 3, id: 'abc' } });
    lost.catch(() => undefined);
    await until('the first line', () => printed(seen).includes('before'));
    kernel.leave();
    await assert.rejects(lost, /kernel has ended/);

    const back = await comeBack(folder);
    kernel = back.kernel;
    const run = back.runs.at(-1);
    assert.deepEqual(run?.cell, { index: 3, id: 'abc' });
    assert.equal(run?.code, code);
    const all = outputsOf(back);
    const resumed = kernel.resume(run?.id ?? '', (output) => all.push(output));
    writeFileSync(go, '');
    assert.equal((await resumed).status, 'ok');
    assert.equal(printed(all), 'before\nmeanwhile\nafter\n');
    assert.equal(await valueOf(kernel, 'kept'), '41');
  });

  test('waits on while a window holds it, and no longer', async () => {
    const { kernel: held, folder: place } = await startKept(1);
    await held.execute('1', () => {});
    held.leave();
    for (let times = 0; times < 10; times++) {
      await sleep(300);
      writeFileSync(join(place, keepAliveFile), '');
    }
    const back = await comeBack(place);
    assert.equal(await valueOf(back.kernel, '1 + 1'), '2');
    back.kernel.leave();
    await until('its end', () => !existsSync(place), 10);
  });

  test('sends a later client the results and the output of timers since the last client', async () => {
    await leaveDuring(`setTimeout(() => { console.log('of a timer'); writeFileSync(${JSON.stringify(mark)}, ''); }, 100);
      console.log('whole')`);
    const back = await comeBack(folder);
    kernel = back.kernel;
    const run = back.runs.at(-1);
    assert.equal(run?.executionCount, back.executionCount);
    assert.equal(run?.ended?.success, true);
    assert.equal(printed(outputsOf(back)), 'whole\nof a timer\n');
    assert.ok(run?.messages.some(({ type }) => type === 'execute_reply'));
  });

  test('keeps the start and the end of a long print, and says how much is between them', async () => {
    // The last printed text may be written to the run's log after the cell has ended.
    await leaveDuring(
      `for (let i = 0; i < 300_000; i++) console.log('line ' + i);
      setTimeout(() => writeFileSync(${JSON.stringify(mark)}, ''), 300); 0`,
    );
    const back = await comeBack(folder);
    kernel = back.kernel;
    const text = outputsOf(back)
      .map((output) => (output.type === 'stream' ? output.content.text : ''))
      .join('');
    assert.match(text, /^line 0\nline 1\n/);
    assert.match(text, /… \d+ characters were shown here, and are not kept …/);
    assert.ok(text.endsWith('line 299999\n'));
    assert.ok(text.length < 2_000_000, `${text.length} characters`);
  });

  test('has one client at a time, and tells another one so', async () => {
    await assert.rejects(KernelProcess.attach(folder), /Another window is connected/);
    assert.equal(await valueOf(kernel, '6 * 7'), '42');
  });

  test('is reached by the person alone, and with its secret', async () => {
    const file = join(folder, 'kernel.json');
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const { address } = JSON.parse(readFileSync(file, 'utf8')) as { address: string };
    kernel.leave();
    for (const message of [{ secret: 'guessed' }, { code: '1' }]) {
      const socket = connect(address);
      let answered = 0;
      socket.on('data', () => answered++);
      socket.write(encodeFrame({ type: 'attach', id: '1', content: message }));
      await new Promise((resolve) => socket.on('close', resolve).on('error', () => {}));
      assert.equal(answered, 0);
    }
    ({ kernel } = await comeBack(folder));
  });

  test('asks a later client what a cell waits to be told', async () => {
    kernel.leave();
    ({ kernel } = await comeBack(folder, neverAnswers));
    await leaveDuring(`writeFileSync(${JSON.stringify(mark)}, '');
      const name = await input('Who? ', { password: true }); name.length`);
    const asked: { prompt: string; password: boolean }[] = [];
    const back = await comeBack(folder, (question) => {
      asked.push(question);
      return Promise.resolve('Ada');
    });
    kernel = back.kernel;
    const outputs: KernelOutput[] = [];
    const reply = await kernel.resume(back.runs.at(-1)?.id ?? '', (output) => outputs.push(output));
    assert.equal(reply.status, 'ok');
    assert.deepEqual(asked, [{ prompt: 'Who? ', password: true }]);
    assert.equal(resultOf(outputs)?.['text/plain'], '3');
  });

  test('ends at once without a client when nothing ran in it', async () => {
    const unused = await startKept();
    const { pid } = unused.kernel.handshake;
    unused.kernel.leave();
    await until('its end', () => !isRunning(pid) && !existsSync(unused.folder));
    await assert.rejects(KernelProcess.attach(unused.folder), (error) => isCatalogError(error, 'ServiceUnavailable'));
  });

  test('ends when no client comes in time, and takes its folder away, whatever it runs', async () => {
    const orphan = await startKept(0.5);
    const { pid } = orphan.kernel.handshake;
    orphan.kernel.execute('while (true) {}', () => {}).catch(() => undefined);
    orphan.kernel.leave();
    await until('its end', () => !isRunning(pid) && !existsSync(orphan.folder));
  });

  test('does not outlive the editor that started it', async () => {
    const editor = spawn('sleep', ['600']);
    const orphan = await startKept(600, editor.pid);
    const { pid } = orphan.kernel.handshake;
    orphan.kernel.execute('1', () => {}).catch(() => undefined);
    orphan.kernel.leave();
    editor.kill('SIGKILL');
    await until('its end', () => !isRunning(pid) && !existsSync(orphan.folder));
  });

  test('says why it ended although it was started by another client', async () => {
    const other = await startKept();
    other.kernel.execute('1', () => {}).catch(() => undefined);
    other.kernel.leave();
    const { kernel: back } = await comeBack(other.folder);
    const running = back.execute('await new Promise(() => {})', () => {});
    process.kill(back.handshake.pid, 'SIGKILL');
    await assert.rejects(running, /The kernel has ended: its connection closed/);
    await until('the folder to be gone', () => !existsSync(other.folder));
  });
});
