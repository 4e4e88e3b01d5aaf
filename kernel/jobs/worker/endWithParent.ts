import { Worker } from 'node:worker_threads';

/** A thread costs as much as the start of this process: what is done sooner needs none. */
const calmMilliseconds = 1000;

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
 * Ends this process when whoever started it is gone, however that ended. The end of stdin says so too, but nobody reads that while
 * a function waits for an answer that does not come, or computes for ever.
 */
export function endWithParent(): void {
  const parent = process.ppid;
  const start = (): void => {
    const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 };
    const thread = new Worker(watch, { eval: true, workerData: parent, env: {}, execArgv: [], resourceLimits });
    // No room for a thread: the function has none either, and says so itself.
    thread.on('error', () => {});
    thread.unref();
  };
  setTimeout(start, calmMilliseconds).unref();
}
