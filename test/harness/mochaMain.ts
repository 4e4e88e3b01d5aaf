/**
 * Runs test files of one layer in plain Node: `node mochaMain.ts --results FILE [--grep TEXT] [--workers N] FILE…`.
 *
 * When a worker has finished a file, it takes the next file in the given order. Things that test files share (a server,
 * a window) exist once per worker.
 *
 * In CI a file with failed tests runs a second time at the end, alone and in a new process. Tests of a window build on
 * each other: if a shared machine pauses during one of them, running this test again is often not enough. If many files
 * fail, none is repeated, because then the machine is not the cause.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { onInterrupt } from '../../scripts/processes.ts';
import { fileEmitter } from './reporter.ts';
import { tempFolder } from './temp.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    results: { type: 'string', default: 'results.ndjson' },
    grep: { type: 'string' },
    workers: { type: 'string', default: '1' },
  },
});

// Each worker removes the files of its tests; then this process removes the folder of the worker.
const children = new Map<ChildProcess, Promise<unknown>>();
onInterrupt(async () => {
  for (const child of children.keys()) child.kill();
  await Promise.all(children.values());
});
const emit = fileEmitter(values.results);
const waiting = [...positionals];

const maxRepeats = process.env['CI'] ? 3 : 0;
const failedFiles = new Map<string, number>();
let failures = 0;

/** Sends files to one worker until no file is left or the worker has ended. */
async function runWorker(worker: number): Promise<void> {
  const args = [values.results, String(worker), ...(values.grep === undefined ? [] : [values.grep])];
  // Give each worker a separate folder for temporary files, because some tests check that nothing is left in it. The
  // folder has a short path, because the path of a socket is limited.
  const env = { ...process.env, TMPDIR: tempFolder('l-') };
  const child = fork(join(import.meta.dirname, 'worker.ts'), args, { env });
  const ending = once(child, 'exit');
  children.set(child, ending);
  let current: string | undefined;
  child.on('message', (failed) => {
    if (current !== undefined && Number(failed) > 0) failedFiles.set(current, Number(failed));
    current = waiting.shift();
    // A failure to send to a worker that has crashed meanwhile is reported below.
    child.send(current ?? { done: true }, () => undefined);
  });
  const [code, signal] = (await ending) as [number | null, NodeJS.Signals | null];
  if (current === undefined) return;
  failures++;
  const where = relative('', current);
  emit({ event: 'error', error: `the process that ran ${where} ended in its midst with ${signal ?? code}`, worker });
}

emit({ event: 'begin', node: process.version, pid: process.pid });
const workers = Math.min(Number(values.workers), positionals.length);
await Promise.all(Array.from({ length: workers }, (_, index) => runWorker(index + 1)));
if (waiting.length > 0) {
  failures++;
  emit({ event: 'error', error: `no process was left to run ${waiting.map((file) => relative('', file)).join(', ')}` });
} else if (failedFiles.size > 0 && failedFiles.size <= maxRepeats) {
  const repeated = [...failedFiles.keys()];
  failedFiles.clear();
  for (const [index, file] of repeated.entries()) {
    emit({ event: 'repeat', file });
    waiting.push(file);
    await runWorker(workers + 1 + index);
  }
}
for (const failed of failedFiles.values()) failures += failed;
emit({ event: 'end', failures });
process.exit(failures > 0 ? 1 : 0);
