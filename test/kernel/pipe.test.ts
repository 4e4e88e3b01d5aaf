import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KernelProcess, type KernelExit } from '#processes/kernelProcess.ts';
import { isCatalogError } from '#shared/errors.ts';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { inRoot } from '../../scripts/paths.ts';
import { tempFolder } from '../harness/temp.ts';
import { errorOf, node, printed, resultOf, run, sleep, startKernel, until, valueOf } from './support.ts';
import { isRunning } from '../harness/running.ts';

suite('A kernel over the pipe', function () {
  this.timeout(20_000);
  let kernel: KernelProcess;
  suiteSetup(async () => {
    kernel = await startKernel();
  });
  suiteTeardown(() => kernel.shutdown());

  test('says what it is when it starts', () => {
    const { protocol, typescript, canInterrupt } = kernel.handshake;
    assert.deepEqual({ protocol, canInterrupt }, { protocol: 1, canInterrupt: true });
    assert.match(typescript, /^6\./);
  });

  test('gives the last expression of a cell as its result', async () => {
    const { reply, outputs } = await run(kernel, 'const answer = 41; answer + 1');
    assert.equal(reply.status, 'ok');
    assert.deepEqual(resultOf(outputs), { 'text/plain': '42' });
  });

  test('sends input, output and result of a cell in this order', async () => {
    const { outputs } = await run(kernel, 'console.log("a"); console.error("b"); console.log("c"); 4');
    assert.deepEqual(
      outputs.map((output) => output.type),
      ['status', 'execute_input', 'stream', 'stream', 'stream', 'execute_result'],
    );
  });

  test('knows in a cell what earlier cells declared, and lets a cell declare it anew', async () => {
    await run(kernel, 'let kept = 1; interface Shape { side: number }; function twice(x: number) { return 2 * x }');
    assert.equal(await valueOf(kernel, 'const shape: Shape = { side: twice(kept) }; shape.side'), '2');
    assert.equal(await valueOf(kernel, 'let kept = "now text"; kept'), "'now text'");
  });

  test('runs await, for await and using at the top level', async () => {
    const { outputs } = await run(
      kernel,
      `for await (const each of [Promise.resolve(1), 2]) console.log(each);
       { using it = { [Symbol.dispose]() { console.log('disposed') } }; }
       await Promise.resolve([3, 1].toSorted())`,
    );
    assert.equal(printed(outputs), '1\n2\ndisposed\n');
    assert.equal(resultOf(outputs)?.['text/plain'], '[ 1, 3 ]');
  });

  test('refuses a cell with a type error and says where it is', async () => {
    const { reply, outputs } = await run(kernel, 'console.log("ran");\nconst wrong: string = 3');
    assert.equal(reply.status, 'error');
    assert.equal(errorOf(outputs)?.ename, 'TypeScriptError');
    assert.match(errorOf(outputs)?.evalue ?? '', /2:7 - Type 'number' is not assignable to type 'string'/);
    assert.equal(printed(outputs), '');
  });

  test('names what a cell threw, at the line of the cell, and keeps what it had declared', async () => {
    const { outputs } = await run(
      kernel,
      `// a comment\n\ninterface Gone { of: number }\nlet survivor = 7;\nthrow new RangeError('too far', { cause: new Error('the root') })`,
    );
    const error = errorOf(outputs);
    assert.deepEqual([error?.ename, error?.evalue], ['RangeError', 'too far']);
    assert.match(error?.traceback.join('\n') ?? '', /\[\d+\]:5:\d+[^]*Caused by Error: the root/);
    assert.equal(await valueOf(kernel, 'survivor'), '7');
  });

  test('reports a thrown string, undefined and null as an error', async () => {
    for (const thrown of ['"text"', 'undefined', 'null']) {
      const { reply } = await run(kernel, `throw ${thrown}`);
      assert.equal(reply.status, 'error', thrown);
    }
  });

  test('shows an exception in a timer and an unhandled rejection in their cell, once', async () => {
    const late: KernelOutput[] = [];
    const listening = kernel.onOrphanOutput((output) => late.push(output));
    const { outputs } = await run(
      kernel,
      `setTimeout(() => {\n  throw new Error('of a timer') }, 400); void Promise.reject(new Error('of nobody')); 0`,
    );
    const during = await run(kernel, 'await new Promise((done) => setTimeout(done, 600))');
    const errors = () => [...outputs, ...late].filter(({ type }) => type === 'error');
    await until('both errors', () => errors().length >= 2);
    listening.dispose();
    assert.deepEqual(
      errors().map(({ parent }) => parent),
      [outputs[0]?.parent, outputs[0]?.parent],
    );
    const [rejected = '', thrown = ''] = errors().map(({ content }) => Object(content).traceback.join('\n'));
    assert.match(rejected, /^Uncaught Error: of nobody\n {4}at \[\d+\]:2:/);
    assert.match(thrown, /^Uncaught Error: of a timer\n.*\[\d+\]:2:9/);
    assert.equal(errorOf(during.outputs), undefined);
    assert.equal(await valueOf(kernel, '1 + 1'), '2');
  });

  test('names the cell that set a timer as the parent of what the timer prints later', async () => {
    const late: KernelOutput[] = [];
    const listening = kernel.onOrphanOutput((output) => late.push(output));
    const { outputs } = await run(kernel, `setTimeout(() => console.log('late'), 150); 0`);
    const during = await run(kernel, 'await new Promise((done) => setTimeout(done, 400))');
    await until('the late line', () => late.length > 0);
    listening.dispose();
    assert.equal(late[0]?.parent, outputs[0]?.parent);
    assert.equal(printed(during.outputs), '');
  });

  test('shows what is printed in a loop while the loop runs', async () => {
    const seen = join(tempFolder(), 'seen');
    const numbers: string[] = [];
    // The loop continues when the client has seen the previous line. Without a client it never ends.
    const loop = `for (let i = 0; i < 3; i++) { console.log(i); while (!fs.existsSync(seen + i)); }`;
    await kernel.execute(
      `{ const fs = require('node:fs'); const seen = ${JSON.stringify(seen)}; ${loop} }`,
      (output) => {
        if (output.type !== 'stream') return;
        numbers.push(output.content.text);
        writeFileSync(`${seen}${numbers.length - 1}`, '');
      },
    );
    assert.deepEqual(numbers, ['0\n', '1\n', '2\n']);
  });

  test('sends nothing of a silent cell but its reply', async () => {
    const outputs: KernelOutput[] = [];
    const reply = await kernel.execute('console.log("quiet"); 5', (output) => outputs.push(output), { silent: true });
    assert.equal(reply.status, 'ok');
    assert.deepEqual(
      outputs.filter((output) => output.type !== 'status'),
      [],
    );
  });

  test('drops the waiting cells after one that fails', async () => {
    const [first, second] = await Promise.all([run(kernel, 'throw new Error("stop")'), run(kernel, '1')]);
    assert.deepEqual([first.reply.status, second.reply.status], ['error', 'aborted']);
  });

  test('completes the members of db with their types, and says what one of them does', async () => {
    const { matches, cursorStart } = await kernel.complete('db.', 3);
    assert.equal(cursorStart, 3);
    for (const name of ['createTable', 'listNamespaces', 'openTable'])
      assert.ok(
        matches.some(({ text, kind }) => text === name && kind === 'method'),
        name,
      );
    const { data } = await kernel.inspect('db.createTable', 10);
    assert.match(String(data['text/plain']), /Catalog\.createTable\(name: string[^]*Creates a table from rows/);
  });

  test('tells complete, incomplete and invalid code apart', async () => {
    const codes = ['let a = 1', 'function f() {', 'let 3x = 1;;]'];
    const found = await Promise.all(codes.map((code) => kernel.isComplete(code)));
    assert.deepEqual(
      found.map(({ status }) => status),
      ['complete', 'incomplete', 'invalid'],
    );
  });

  test('lets a cell import what is preloaded and show by tslab', async () => {
    const { outputs } = await run(
      kernel,
      `import { connect as same, CatalogError } from 'lance-catalog';
       import { display as old } from 'tslab';
       old.html('<b>bold</b>');
       same === connect && typeof CatalogError`,
    );
    assert.equal(resultOf(outputs)?.['text/plain'], "'function'");
    const shown = outputs.find((output) => output.type === 'display_data');
    assert.deepEqual(shown?.content.data, { 'text/html': '<b>bold</b>' });
  });

  test('rejects every call of db with the way to choose a catalog when none was chosen', async () => {
    const { outputs } = await run(kernel, 'await db.listNamespaces()');
    assert.equal(errorOf(outputs)?.ename, 'CatalogError');
    assert.match(errorOf(outputs)?.evalue ?? '', /No catalog is chosen.*LANCE_CATALOG/);
  });

  test('prints a hundred thousand lines in their order, quickly', async () => {
    const started = Date.now();
    const { outputs } = await run(kernel, 'for (let i = 0; i < 100_000; i++) console.log(i)');
    const lines = printed(outputs).split('\n');
    assert.equal(lines.length, 100_001);
    assert.ok(lines.every((line, index) => index === 100_000 || line === String(index)));
    assert.ok(Date.now() - started < 8000, `${Date.now() - started} ms`);
  });

  test('prints a text larger than its buffer whole', async () => {
    const { outputs } = await run(kernel, `process.stdout.write('ü😀'.repeat(2_000_000))`);
    assert.equal(printed(outputs).length, 6_000_000);
    assert.ok(!printed(outputs).includes('\uFFFD'));
  });

  test('keeps a cell that prints without end within its memory', async () => {
    let chars = 0;
    const endless = kernel.execute(`while (true) console.log('x'.repeat(1000))`, (output) => {
      if (output.type === 'stream') chars += output.content.text.length;
    });
    await sleep(1000);
    assert.equal((await kernel.interrupt()).status, 'ok');
    await endless;
    assert.ok(chars > 0);
    const megabytes = Number(await valueOf(kernel, 'Math.round(process.memoryUsage().rss / 1e6)'));
    assert.ok(megabytes < 900, `${megabytes} MB`);
  });

  test('outlives a listener that fails, which hears of it once the cell is done', async () => {
    const heard: string[] = [];
    const running = kernel.execute('console.log("a"); 7', ({ type }) => {
      heard.push(type);
      if (type === 'stream') throw new RangeError('of the listener');
    });
    await assert.rejects(running, new RangeError('of the listener'));
    assert.equal(heard.at(-1), 'execute_result');
    assert.equal(await valueOf(kernel, '1 + 1'), '2');
  });

  test('outlives a listener of late output that fails, and tells the others', async () => {
    const late: KernelOutput[] = [];
    const listeners = [
      kernel.onOrphanOutput(() => {
        throw new RangeError('of a late listener');
      }),
      kernel.onOrphanOutput((output) => late.push(output)),
    ];
    await run(kernel, `setTimeout(() => console.log('late'), 20); 0`);
    await until('the late line', () => late.length > 0);
    for (const listener of listeners) listener.dispose();
    assert.equal(await valueOf(kernel, '1 + 1'), '2');
  });

  test('tells what is waiting that the process died', async () => {
    const other = await startKernel();
    const exits: KernelExit[] = [];
    other.onDidExit((exit) => exits.push(exit));
    const running = other.execute('await new Promise(() => {})', () => {});
    await sleep(200);
    process.kill(other.handshake.pid, 'SIGKILL');
    await assert.rejects(running, (error) => isCatalogError(error, 'ServiceUnavailable'));
    assert.match(exits[0]?.reason ?? '', /SIGKILL/);
    assert.equal(exits[0]?.isExpected, false);
  });

  test('ends with a message when a cell calls process.exit', async () => {
    const other = await startKernel();
    const exits: KernelExit[] = [];
    other.onDidExit((exit) => exits.push(exit));
    const { reply, outputs } = await run(other, 'console.log("last words"); process.exit(3)');
    assert.equal(reply.status, 'error');
    assert.equal(printed(outputs), 'last words\n');
    assert.match(
      errorOf(outputs)?.evalue ?? '',
      /process\.exit\(3\), so the kernel has ended\. To end only the cell, throw/,
    );
    await until('the exit', () => exits.length > 0);
    assert.match(exits[0]?.reason ?? '', /exit code 3/);
  });

  test('ends when the editor goes away', async () => {
    const other = await startKernel();
    const { pid } = other.handshake;
    other.dispose();
    await until('the process to be gone', () => !isRunning(pid));
  });

  test('says why it died when it could not load its compiler', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'node_modules/typescript-6'), { recursive: true });
    for (const name of readdirSync(inRoot('node_modules')).filter((each) => each !== 'typescript-6'))
      symlinkSync(inRoot('node_modules', name), join(folder, 'node_modules', name));
    cpSync(inRoot('package.json'), join(folder, 'package.json'));
    writeFileSync(join(folder, 'node_modules/typescript-6/package.json'), '{"version":"6.0.0"}');
    mkdirSync(join(folder, 'dist'));
    for (const name of ['kernel.cjs', 'kernelCore.cjs', 'kernelWorker.cjs'])
      cpSync(inRoot('dist', name), join(folder, 'dist', name));
    const start = { entry: join(folder, 'dist/kernel.cjs'), node, cwd: folder, catalog: null };
    const running = KernelProcess.start(start).then((broken) => broken.execute('1', () => {}));
    await assert.rejects(running, /The kernel has ended: exit code 1 \(The kernel could not start: .*typescript-6/);
  });

  test('names a bundle that can not start', async () => {
    const start = KernelProcess.start({ entry: `${tempFolder()}/none.cjs`, node, cwd: tempFolder(), catalog: null });
    await assert.rejects(start, /The kernel has ended: exit code 1/);
  });
});
