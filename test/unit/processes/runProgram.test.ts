import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { runProgram } from '#processes/runProgram.ts';
import { isRunning } from '../../harness/running.ts';
import { tempFolder } from '../../harness/temp.ts';

const never = new AbortController().signal;
/** Returns code that writes the ids of the program and of its child process. */
const writePids = (file: string): string =>
  `require('fs').writeFileSync(${JSON.stringify(`${file}.draft`)}, process.pid + ' ' + child.pid);
   require('fs').renameSync(${JSON.stringify(`${file}.draft`)}, ${JSON.stringify(file)});`;
const waiting = 'setInterval(() => {}, 1000);';

async function until(isTrue: () => boolean): Promise<void> {
  const end = Date.now() + 20_000;
  while (!isTrue() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(isTrue());
}

/** Runs a line of code in Node. */
function run(code: string, more: Partial<Parameters<typeof runProgram>[2]> = {}) {
  const output = { stdout: '', stderr: '' };
  const collect = (name: keyof typeof output, stream: Readable): void =>
    void stream.setEncoding('utf8').on('data', (text: string) => (output[name] += text));
  const read = (stdout: Readable, stderr: Readable): void => {
    collect('stdout', stdout);
    collect('stderr', stderr);
  };
  return { output, end: runProgram(process.execPath, ['-e', code], { signal: never, read, ...more }) };
}

const start = (path: string, cwd?: string): Promise<unknown> =>
  runProgram(path, [], { signal: never, read: () => {}, cwd });

suite('A program that is run to its end', function () {
  this.timeout(60_000);

  test('gives its output, its exit code, and the signal that ended it', async () => {
    const { output, end } = run('console.log(process.env.TEAM); console.error("beside"); process.exitCode = 3', {
      env: { TEAM: 'data' },
    });
    assert.deepEqual(await end, { code: 3, signal: null });
    assert.deepEqual(output, { stdout: 'data\n', stderr: 'beside\n' });
    assert.deepEqual(await run(`process.kill(process.pid, "SIGTERM"); ${waiting}`).end, {
      code: null,
      signal: 'SIGTERM',
    });
  });

  test('is an error of the system if it is missing, is not executable, or its folder is missing', async () => {
    const file = join(tempFolder(), 'program');
    await assert.rejects(start(file), { code: 'ENOENT' });
    writeFileSync(file, '#!/bin/sh\n');
    await assert.rejects(start(file), { code: 'EACCES' });
    chmodSync(file, 0o755);
    assert.deepEqual(await start(file), { code: 0, signal: null });
    await assert.rejects(start(file, '/nowhere'), { code: 'ENOENT' });
  });

  test('is not started after the signal', async () => {
    const file = join(tempFolder(), 'made');
    const { end } = run(`require('fs').writeFileSync(${JSON.stringify(file)}, '')`, { signal: AbortSignal.abort() });
    await assert.rejects(end, { name: 'AbortError' });
    assert.equal(existsSync(file), false);
  });

  for (const graceMs of [undefined, 300])
    test(`ends with what it started, also if both ignore signals${graceMs === undefined ? '' : ', after its time'}`, async () => {
      const pids = join(tempFolder(), 'pids');
      const ignore = `for (const name of ['SIGTERM', 'SIGINT']) process.on(name, () => {}); ${waiting}`;
      const stop = new AbortController();
      const { end } = run(
        `const child = require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(ignore)}]);
         ${ignore} ${writePids(pids)}`,
        { signal: stop.signal, ...(graceMs !== undefined && { graceMs }) },
      );
      await until(() => existsSync(pids));
      stop.abort();
      assert.deepEqual(await end, { code: null, signal: 'SIGKILL' });
      for (const pid of readFileSync(pids, 'utf8').split(' ')) await until(() => !isRunning(Number(pid)));
    });

  test('can end by itself after an interrupt', async () => {
    const stop = new AbortController();
    const { output, end } = run(`process.on('SIGINT', () => process.exit(7)); console.log('ready'); ${waiting}`, {
      signal: stop.signal,
      graceMs: 30_000,
    });
    await until(() => output.stdout !== '');
    stop.abort();
    assert.deepEqual(await end, { code: 7, signal: null });
  });

  test('is ended in the middle of its output', async () => {
    const stop = new AbortController();
    let length = 0;
    const { end } = run('for (;;) require("fs").writeSync(1, "x".repeat(65536))', {
      signal: stop.signal,
      read: (stdout) =>
        void stdout.on('data', (chunk: Buffer) => {
          length += chunk.length;
          if (length > 1_000_000) stop.abort();
        }),
    });
    assert.deepEqual(await end, { code: null, signal: 'SIGKILL' });
  });

  for (const keepsOutput of [false, true])
    test(`is over when a process that it left holds its output, which ${keepsOutput ? 'stays open' : 'is closed'}`, async () => {
      const pids = join(tempFolder(), 'pids');
      const child = `setInterval(() => { try { console.log('later'); } catch {} }, 100)`;
      const { output, end } = run(
        `const child = require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: 'inherit' });
         child.unref(); ${writePids(pids)}`,
        { keepsOutput },
      );
      assert.deepEqual(await end, { code: 0, signal: null });
      const [, pid] = readFileSync(pids, 'utf8').split(' ').map(Number);
      const before = output.stdout.length;
      try {
        if (keepsOutput) await until(() => output.stdout.length > before);
        // If the output is not kept, the program's writes fail and the program ends.
        else await until(() => !isRunning(pid ?? 0));
      } finally {
        if (isRunning(pid ?? 0)) process.kill(pid ?? 0);
      }
    });
});
