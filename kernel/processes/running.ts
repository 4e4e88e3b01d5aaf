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

/** Whether a process with this number runs, of this person or another. A negative number asks for a process group. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // One may not signal somebody else's process, but it is there.
    return Object(error).code === 'EPERM';
  }
}

/** How often it is looked whether the parent still runs. */
const lookMs = 1000;

/**
 * Calls `end` once the process that a Jupyter kernel belongs to is gone: without it nobody could reach the kernel or
 * would ever end it. Kernels that are to outlive who started them have no `JPY_PARENT_PID`.
 */
export function watchParent(env: Readonly<Record<string, string | undefined>>, end: () => void): void {
  const named = env['JPY_PARENT_PID'];
  if (!named) return;
  // What starts the kernel may be a launcher of ours, whose end is that of the kernel for Jupyter as well.
  const direct = process.ppid;
  // On Windows it is no process id but a handle.
  const jupyter = process.platform === 'win32' ? Number.NaN : Number.parseInt(named, 10);
  const watched = [direct, jupyter].filter((pid) => pid > 1 && isRunning(pid));
  const timer = setInterval(() => {
    // Windows leaves a process its parent's number when that has ended.
    if (process.ppid === direct && watched.every(isRunning)) return;
    clearInterval(timer);
    end();
  }, lookMs);
  timer.unref();
}
