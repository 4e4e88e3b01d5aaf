/**
 * Runs test files of one layer in plain Node: `node mochaMain.ts --results FILE [--grep TEXT] [--workers N] FILE…`.
 *
 * Each of the workers takes the next file when it is done with one, in the order given; what a file of tests keeps for
 * the others of its process (a server, a window) is there once per worker.
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

// Each removes what its tests made, and this process their folder after that.
const children = new Map<ChildProcess, Promise<unknown>>();
onInterrupt(async () => {
  for (const child of children.keys()) child.kill();
  await Promise.all(children.values());
});
const emit = fileEmitter(values.results);
const waiting = [...positionals];

let failures = 0;

/** Feeds one worker until no file is left or it is no more. */
async function runWorker(worker: number): Promise<void> {
  const args = [values.results, String(worker), ...(values.grep === undefined ? [] : [values.grep])];
  // Temporary folders of its own: there are tests that look there for what they left. A short path, for sockets.
  const env = { ...process.env, TMPDIR: tempFolder('l-') };
  const child = fork(join(import.meta.dirname, 'worker.ts'), args, { env });
  const ending = once(child, 'exit');
  children.set(child, ending);
  let current: string | undefined;
  child.on('message', (failed) => {
    failures += Number(failed);
    current = waiting.shift();
    // That it can't be sent to a worker which died meanwhile is told of below.
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
}
emit({ event: 'end', failures });
process.exit(failures > 0 ? 1 : 0);
