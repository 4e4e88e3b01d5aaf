import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KernelProcess } from '#processes/kernelProcess.ts';
import { inRoot } from '../../scripts/paths.ts';
import { tempFolder } from '../harness/temp.ts';
import { errorOf, kernelEntry, node, printed, resultOf, run, sleep, startKernel, until, valueOf } from './support.ts';
import { isRunning } from '../harness/running.ts';

/** Returns the environment with the user folders for kernels of these tests. */
const home = (): Record<string, string> => ({ XDG_DATA_HOME: tempFolder(), HOME: tempFolder() });
const crashNotes = ({ XDG_DATA_HOME: data = '' }: Record<string, string>): string[] => {
  const folder = join(data, 'lance-catalog', 'crash');
  return existsSync(folder) ? readdirSync(folder) : [];
};
const exitOf = (kernel: KernelProcess): Promise<string> =>
  new Promise((resolve) => kernel.onDidExit(({ reason }) => resolve(reason)));

/** Creates a script that starts the real Node with little memory. */
function smallNode(): typeof node {
  const path = join(tempFolder(), 'node');
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' --max-old-space-size=150 "$@"\n`, { mode: 0o755 });
  return { ...node, path };
}

/** Returns a cell that starts a program of one minute and records its process id. */
const programOf = (options: string, then = ''): string =>
  `{ const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], ${options}); pids.push(child.pid!);${then} }`;

suite('A kernel that ends', function () {
  this.timeout(60_000);

  test('says that memory ran out, in which cell, and what was lost, and leaves nothing behind', async () => {
    const env = home();
    const parts = { entry: kernelEntry, node: smallNode(), cwd: tempFolder(), catalog: null, env };
    const kernel = await KernelProcess.start(parts);
    await run(kernel, 'const secret = "p4ss"; let rows = 5');
    const exit = exitOf(kernel);
    const code = 'const all: unknown[] = [];\nfor (;;) all.push(new Array(1000).fill({}).map(() => ({})))';
    await assert.rejects(run(kernel, code), /The kernel has ended/);
    const reason = await exit;
    assert.match(reason, /JavaScript heap out of memory/);
    assert.match(reason, /It was running cell \[2\] \(const all: unknown\[\] = \[\];\)/);
    assert.match(reason, /These variables were lost: secret, rows\. Run the cells that create them again\./);
    assert.doesNotMatch(reason, /p4ss/);
    assert.deepEqual(crashNotes(env), []);
  });

  test('in order ends what cells have started, and leaves what they let go', async () => {
    const kernel = await startKernel({ env: home() });
    await run(kernel, "import { spawn } from 'node:child_process'; const pids: number[] = []");
    await run(kernel, programOf("{ stdio: 'ignore' }"));
    await run(kernel, programOf('{}'));
    await run(kernel, programOf("{ stdio: 'ignore', detached: true }", ' child.unref();'));
    const listed = String(await valueOf(kernel, 'JSON.stringify(pids)'));
    const pids = JSON.parse(listed.slice(1, -1)) as number[];
    const [quiet = 0, piped = 0, free = 0] = pids;
    try {
      assert.deepEqual(pids.map(isRunning), [true, true, true]);
      await kernel.shutdown();
      await until('the programs to end', () => !isRunning(quiet) && !isRunning(piped));
      assert.ok(isRunning(free));
    } finally {
      for (const pid of pids.filter(isRunning)) process.kill(pid, 'SIGKILL');
    }
  });

  test('tells the signal that ended it', async () => {
    const kernel = await startKernel({ env: home() });
    const exit = exitOf(kernel);
    await assert.rejects(run(kernel, `process.kill(process.pid, 'SIGKILL')`), /The kernel has ended/);
    assert.match(await exit, /killed by SIGKILL\. It was running cell \[1\]/);
  });

  test('by the editor leaves no crash note behind', async () => {
    const env = home();
    const [closed, killed] = await Promise.all([startKernel({ env }), startKernel({ env })]);
    await Promise.all([run(closed, 'let a = 1'), run(killed, 'let b = 2')]);
    assert.equal(crashNotes(env).length, 2);
    const gone = exitOf(killed);
    await closed.shutdown();
    killed.dispose();
    await gone;
    assert.deepEqual(crashNotes(env), []);
  });

  test('does so when code closes its pipe', async () => {
    const kernel = await startKernel();
    const { pid } = kernel.handshake;
    const exit = exitOf(kernel);
    await assert.rejects(run(kernel, `(await import('node:fs')).closeSync(3); await new Promise(() => {})`));
    assert.match(await exit, /^The kernel has ended: /);
    await until('the process to be gone', () => !isRunning(pid));
  });

  test('does so with who started it, although a cell runs without a pause', async () => {
    const script = join(tempFolder(), 'parent.mjs');
    const started = JSON.stringify({ entry: kernelEntry, node, cwd: tempFolder(), catalog: null });
    writeFileSync(
      script,
      `import { KernelProcess } from ${JSON.stringify(inRoot('kernel/processes/kernelProcess.ts'))};
      const kernel = await KernelProcess.start(${started});
      kernel.execute("console.log('runs'); while (true) {}", ({ type }) => {
        if (type === 'stream') process.stdout.write(String(kernel.handshake.pid));
      }).catch(() => {});`,
    );
    const parent = spawn(process.execPath, [script], { cwd: inRoot('.'), stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    parent.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    await until('the kernel to run', () => said !== '');
    parent.kill('SIGKILL');
    await until('the kernel to be gone', () => !isRunning(Number(said)));
  });
});

/** Cells that replace functions that the kernel itself uses. */
const hostile = {
  'JSON.stringify': `JSON.parse = JSON.stringify = (() => { throw new Error('no JSON') }) as any`,
  'methods of arrays': `Array.prototype.map = Array.prototype.push = (() => { throw new Error('no arrays') }) as any`,
  'Buffer.from': `Buffer.from = (() => { throw new Error('no buffers') }) as any`,
  'Error.prepareStackTrace': `Error.prepareStackTrace = () => { throw new Error('no stacks') }; throw new Error('a')`,
};

suite('A kernel in which a cell replaces', function () {
  this.timeout(60_000);

  for (const [what, code] of Object.entries(hostile)) {
    test(`${what} ends each cell all the same, can be interrupted and shut down`, async () => {
      const kernel = await startKernel({ typeCheck: 'off' });
      await run(kernel, code);
      const { reply } = await run(kernel, 'throw new Error("of the next cell")');
      assert.equal(reply.status, 'error');
      const loop = run(kernel, 'while (true) {}');
      await sleep(200);
      assert.equal((await kernel.interrupt()).status, 'ok');
      assert.equal((await loop).reply.status, 'error');
      assert.equal(kernel.isAlive, true);
      await kernel.shutdown();
    });
  }

  test('the globals that it is made of works as before', async () => {
    const kernel = await startKernel({ typeCheck: 'off' });
    // The list has no globals that only the compiler and packages use.
    const names = ['Promise', 'process', 'Buffer', 'Date', 'performance', 'AbortController', 'URL', 'TextDecoder'];
    const timers = ['setTimeout', 'clearTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'];
    await run(kernel, `for (const name of ${JSON.stringify([...names, ...timers])}) globalThis[name] = undefined; 0`);
    const { outputs } = await run(
      kernel,
      `import { join } from 'node:path'; console.log(join('a', 'b')); display({ shown: true });
(await sql\`select 1 + 1 as more\`).toArray().map((row) => row.more)`,
    );
    assert.equal(errorOf(outputs)?.traceback.join('\n'), undefined);
    assert.equal(printed(outputs), 'a/b\n');
    assert.equal(resultOf(outputs)?.['text/plain'], '[ 2 ]');
    assert.equal(errorOf((await run(kernel, 'throw new RangeError("far")')).outputs)?.evalue, 'far');
    const { matches } = await kernel.complete('"".', 3);
    assert.ok(matches.some(({ text }) => text === 'trim'));
    const loop = run(kernel, 'while (true) {}');
    await sleep(200);
    assert.equal((await kernel.interrupt()).status, 'ok');
    assert.equal((await loop).reply.status, 'error');
    await kernel.shutdown();
  });

  test('the listeners of the process still tells of late errors', async () => {
    const kernel = await startKernel();
    const late = run(kernel, 'await new Promise((done) => setTimeout(done, 400))');
    await run(kernel, `process.removeAllListeners(); setTimeout(() => { throw new Error('late') }, 50)`);
    await late;
    const { outputs } = await run(
      kernel,
      `setTimeout(() => { throw new Error('in time') }, 20); await new Promise((done) => setTimeout(done, 200))`,
    );
    assert.equal(errorOf(outputs)?.evalue, 'in time');
    assert.equal(await valueOf(kernel, '1 + 1'), '2');
    await kernel.shutdown();
  });
});
