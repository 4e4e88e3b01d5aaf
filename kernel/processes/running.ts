import { Worker } from 'node:worker_threads';

// On Windows `process.ppid` does not change when the parent ends, so the parent itself is checked too. The check runs
// in a separate thread, because a function that never returns blocks its own thread.
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
 * Ends this process when its parent has ended for any reason. The end of a pipe shows this too, but a process with a
 * busy main thread does not notice that.
 * @param afterMs milliseconds before watching starts. Watching takes a thread, which costs as much as the start of a
 * process. If the main thread is blocked at that time, watching starts when the main thread is free
 */
export function endWithParent(afterMs: number): void {
  const parent = process.ppid;
  const start = (): void => {
    const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 };
    const thread = new Worker(watch, { eval: true, workerData: parent, env: {}, execArgv: [], resourceLimits });
    // The error is ignored: if there is not enough memory for the thread, the computation fails as well and reports it.
    thread.on('error', () => {});
    thread.unref();
  };
  if (afterMs === 0) start();
  else setTimeout(start, afterMs).unref();
}

/** Whether a process with this id runs, of this user or another. A negative number checks a process group. */
export function isProcessRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user can't be signalled, but it exists.
    return Object(error).code === 'EPERM';
  }
}

/** Milliseconds between two checks of the parent. */
const lookMs = 1000;

/**
 * Calls `end` once the process that a Jupyter kernel belongs to has ended. Without that process, clients could no
 * longer reach or end the kernel. Kernels that are to outlive their parent have no `JPY_PARENT_PID`.
 */
export function watchParent(env: Readonly<Record<string, string | undefined>>, end: () => void): void {
  const named = env['JPY_PARENT_PID'];
  if (!named) return;
  // The parent may be this product's launcher, whose end is the kernel's end for Jupyter as well.
  const direct = process.ppid;
  // On Windows the value is a handle and not a process id.
  const jupyter = process.platform === 'win32' ? Number.NaN : Number.parseInt(named, 10);
  const watched = [direct, jupyter].filter((pid) => pid > 1 && isProcessRunning(pid));
  const timer = setInterval(() => {
    // On Windows `process.ppid` keeps the id of a parent that has ended.
    if (process.ppid === direct && watched.every(isProcessRunning)) return;
    clearInterval(timer);
    end();
  }, lookMs);
  timer.unref();
}
