import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const owned = new Set<number>();
const folders = new Set<string>();

process.on('exit', () => {
  for (const group of owned) signalGroup(group, 'SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

/**
 * Ends the process group of a child when this process ends in any way, except by SIGKILL. Otherwise servers would
 * continue after Ctrl-C in the terminal. The child must be started with `detached: true`.
 */
export function trackProcessGroup(child: ChildProcess): void {
  if (child.pid !== undefined) owned.add(child.pid);
}

/** Creates an empty folder with a short path (sockets allow 107 bytes), removed when this process ends. */
export function temporaryFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  folders.add(folder);
  return folder;
}

/** Ends a process group: SIGTERM, then SIGKILL after `limit` milliseconds. */
export async function endGroup(child: ChildProcess, limit = 5_000): Promise<void> {
  const pid = child.pid;
  if (pid === undefined) return;
  signalGroup(pid, 'SIGTERM');
  const deadline = Date.now() + limit;
  while (isGroupAlive(pid) && Date.now() < deadline) await sleep(50);
  signalGroup(pid, 'SIGKILL');
  owned.delete(pid);
}

/**
 * Runs `cleanUp` on the first Ctrl-C, SIGTERM or SIGHUP, then exits with the usual code; a second signal exits
 * immediately.
 */
export function onInterrupt(cleanUp: () => Promise<void>): void {
  const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(codes[signal]);
      stopping = true;
      void cleanUp().finally(() => process.exit(codes[signal]));
    });
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    // A negative id sends the signal to the process group. Windows has no process groups, so only the child gets the
    // signal.
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function isGroupAlive(pid: number): boolean {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 0);
    return true;
  } catch {
    return false;
  }
}
