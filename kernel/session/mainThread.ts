import { readFileSync } from 'node:fs';
import { cpuUsage, pid } from 'node:process';

/** Milliseconds that a thread was at work, and that it wanted to be and had no processor. */
export type Turns = { usedMs: number; waitedMs: number };

/**
 * Says how much the main thread has worked since this call. Linux knows it of a thread, and the main one has the number of
 * its process. Elsewhere it is what all threads have used, as far as one thread can have; that it waits is not known there.
 */
export function turnsOfMainThread(): () => Turns {
  const begun = schedule();
  if (begun) {
    return () => {
      const { usedMs, waitedMs } = schedule() ?? begun;
      return { usedMs: usedMs - begun.usedMs, waitedMs: waitedMs - begun.waitedMs };
    };
  }
  const started = cpuUsage();
  const since = performance.now();
  return () => {
    const { user, system } = cpuUsage(started);
    return { usedMs: Math.min((user + system) / 1000, performance.now() - since), waitedMs: 0 };
  };
}

/** As `proc(5)` has it of a thread: nanoseconds that it ran, nanoseconds that it waited to run, and how often it ran. */
function schedule(): Turns | undefined {
  try {
    const [ran = 0, waited = 0] = readFileSync(`/proc/self/task/${pid}/schedstat`, 'utf8').split(' ').map(Number);
    // A kernel that does not count says 0.
    return ran > 0 ? { usedMs: ran / 1e6, waitedMs: waited / 1e6 } : undefined;
  } catch {
    return undefined;
  }
}
