import { isRunning } from '#client/running.ts';

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
