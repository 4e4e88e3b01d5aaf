import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { endGroup, trackProcessGroup } from '../../../scripts/processes.ts';

/** A server that a test started. Its output is written to a file. */
export type Running = {
  readonly child: ChildProcess;
  /** Returns the end of the server's output. */
  said(): string;
  /** Whether it has ended. */
  isOver(): boolean;
  stop(): Promise<void>;
};

/**
 * Starts a program that ends when this process ends, for any reason: the system kills the program if this process is
 * killed.
 */
export function startServer(program: string, args: readonly string[], log: string): Running {
  const out = openSync(log, 'a');
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], {
    stdio: ['ignore', out, out],
    detached: true,
  });
  closeSync(out);
  trackProcessGroup(child);
  let failed: Error | undefined;
  child.once('error', (error) => (failed = error));
  const isOver = (): boolean => failed !== undefined || child.exitCode !== null || child.signalCode !== null;
  return {
    child,
    said: () => failed?.message ?? readFileSync(log, 'utf8').slice(-3000),
    isOver,
    stop: async () => {
      if (isOver()) return;
      const exited = once(child, 'exit');
      await endGroup(child);
      await exited;
    },
  };
}

/**
 * Waits for a condition by polling.
 * @throws Error with the result of `told` if `giveUp` returns true, or after the limit in milliseconds
 */
export async function until(
  what: string,
  isSo: () => Promise<boolean>,
  { limit = 60_000, giveUp, told }: { limit?: number; giveUp?: () => boolean; told?: () => string } = {},
): Promise<void> {
  const deadline = Date.now() + limit;
  while (!(await isSo())) {
    if (giveUp?.() || Date.now() > deadline) throw new Error(`${what} did not come about.\n${told?.() ?? ''}`);
    await pause(50);
  }
}
