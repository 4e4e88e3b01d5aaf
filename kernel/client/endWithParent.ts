import { Worker } from 'node:worker_threads';

// Where a number of a process stays that of the parent, as on Windows, the parent is asked for. Another thread, since a
// function that does not come back lets nothing else run in its own.
const watch = `
const { workerData: parent } = require('node:worker_threads');
setInterval(() => {
  try {
    if (process.ppid === parent && process.kill(parent, 0)) return;
  } catch (error) {
    if (error.code === 'EPERM') return;
  }
  process.kill(process.pid, 'SIGKILL');
}, 500);`;

/**
 * Ends this process when whoever started it is gone, however that ended. The end of a pipe says so too, but nobody reads that
 * while the thread computes for ever.
 * @param afterMs when that is watched for: it takes a thread, and that as much as the start of a process. What computes before
 * is not watched until it lets other work of this thread run
 */
export function endWithParent(afterMs: number): void {
  const parent = process.ppid;
  const start = (): void => {
    const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 };
    const thread = new Worker(watch, { eval: true, workerData: parent, env: {}, execArgv: [], resourceLimits });
    // No room for a thread: what computes has none either, and says so itself.
    thread.on('error', () => {});
    thread.unref();
  };
  if (afterMs === 0) start();
  else setTimeout(start, afterMs).unref();
}
