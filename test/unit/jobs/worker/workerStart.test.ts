import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Int32, Table, tableFromIPC, tableToIPC, Utf8, vectorFromArray } from '#arrow';
import { encodeOutput } from '#jobs/definition/outputType.ts';
import { failureIn } from '#jobs/worker/rowFailures.ts';
import { functionWorkerEntry } from '#jobs/worker/functionWorkers.ts';
import { workerLine } from '#jobs/worker/workerOptions.ts';
import { tempFolder } from '../../../harness/temp.ts';

/** Starts a worker in a folder with a function that prints when it is loaded. */
function start() {
  const folder = tempFolder();
  const loaded = join(folder, 'loaded');
  const code = `import { writeFileSync } from 'node:fs';
    writeFileSync('loaded', '');
    export default ({ text }) => text.length;`;
  writeFileSync(join(folder, 'f.mjs'), code);
  const child = spawn(process.execPath, [functionWorkerEntry()], { cwd: folder });
  const out: Buffer[] = [];
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = once(child, 'close').then(([exit]) => ({ code: exit as number | null, said, out: Buffer.concat(out) }));
  return { stdin: child.stdin, ended, isLoaded: () => existsSync(loaded) };
}

const line = workerLine({
  module: 'f.mjs',
  takes: 'row',
  inputs: ['text'],
  output: encodeOutput('made', new Int32()),
  onError: { mode: 'null' },
});
const rows = tableToIPC(new Table({ text: vectorFromArray(['abc', 'é'], new Utf8()) }), 'stream');

suite('A worker of a TypeScript function before it gets the function', function () {
  this.timeout(60_000);

  test('ends without a word when there was nothing to compute', async () => {
    const { stdin, ended, isLoaded } = start();
    stdin.end();
    const { code, said, out } = await ended;
    assert.deepEqual([code, said, out.length, isLoaded()], [0, '', 0, false]);
  });

  test('ends with a message if its input is cut off', async () => {
    const { stdin, ended } = start();
    stdin.end(line.slice(0, 20));
    const { code, said } = await ended;
    assert.deepEqual([code, failureIn(said)?.kind], [2, 'Internal']);
  });

  test('takes it in pieces, loads the function only then, and takes rows right behind it', async () => {
    const { stdin, ended, isLoaded } = start();
    stdin.write(line.slice(0, 20));
    await pause(500);
    assert.equal(isLoaded(), false);
    stdin.end(Buffer.concat([Buffer.from(line.slice(20)), rows]));
    const { code, out } = await ended;
    assert.deepEqual([code, Array.from(tableFromIPC(out).getChild('value') ?? [])], [0, [3, 1]]);
  });
});
