import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Int32, Table, tableToIPC, Utf8, vectorFromArray } from '#arrow';
import { encodeOutput } from '#jobs/definition/outputType.ts';
import { functionWorkerEntry } from '#jobs/worker/functionWorkers.ts';
import { workerLine } from '#jobs/worker/workerOptions.ts';
import { isRunning } from '../../../harness/running.ts';
import { tempFolder } from '../../../harness/temp.ts';

/**
 * The code of the parent. It starts the worker, prints the worker's process id, and sends rows when the worker runs.
 * Then the test kills the parent.
 */
const parent = `
const { spawn } = require('node:child_process');
const { readFileSync } = require('node:fs');
const [entry, line] = process.argv.slice(1);
const child = spawn(process.execPath, [entry], { stdio: ['pipe', 'pipe', 'ignore'] });
if (line) child.stdin.write(line);
child.stdout.once('data', () => setTimeout(() => child.stdin.write(readFileSync('rows')), 1500));
console.log(child.pid);
setInterval(() => {}, 1000);`;

suite('A worker of a TypeScript function whose parent is killed', function () {
  this.timeout(60_000);

  for (const [what, body] of [
    ['computes for ever', 'for (;;);'],
    ['waits for an answer that does not come', 'return new Promise((resolve) => setTimeout(resolve, 2 ** 30));'],
  ] as const)
    test(`ends though the function ${what}`, async () => {
      const folder = tempFolder();
      const begun = join(folder, 'begun');
      const code = `import { writeFileSync } from 'node:fs';
        export default () => { writeFileSync(${JSON.stringify(begun)}, ''); ${body} };`;
      writeFileSync(join(folder, 'f.mjs'), code);
      const texts = new Table({ text: vectorFromArray(['a'], new Utf8()) });
      writeFileSync(join(folder, 'rows'), tableToIPC(texts, 'stream'));
      const options = { takes: 'row', inputs: ['text'], onError: { mode: 'null' } } as const;
      const line = workerLine({ module: 'f.mjs', output: encodeOutput('made', new Int32()), ...options });
      await endsWithParent(folder, line, () => existsSync(begun));
    });

  test('ends though it was not told yet what it computes', async () => {
    const since = Date.now();
    await endsWithParent(tempFolder(), '', () => Date.now() - since > 300);
  });
});

/** Kills the parent of a worker when the worker has reached a point, and waits for the end of the worker. */
async function endsWithParent(folder: string, line: string, isSoFar: () => boolean): Promise<void> {
  const started = spawn(process.execPath, ['-e', parent, functionWorkerEntry(), line], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = (await once(started.stdout, 'data')) as [Buffer];
  const worker = Number(said.toString());
  try {
    await until(isSoFar);
    started.kill('SIGKILL');
    await until(() => !isRunning(worker));
  } finally {
    started.kill('SIGKILL');
    if (isRunning(worker)) process.kill(worker, 'SIGKILL');
  }
}

async function until(holds: () => boolean): Promise<void> {
  for (const end = Date.now() + 20_000; !holds(); await pause(20)) assert.ok(Date.now() < end, String(holds));
}
