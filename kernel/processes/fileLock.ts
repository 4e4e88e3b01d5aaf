import { closeSync, openSync, readFileSync, rmSync, statSync, utimesSync, writeSync } from 'node:fs';
import { createHash, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from './files.ts';
import { isProcessRunning } from './running.ts';

/** The holder of a lock touches it every `touchMs`; a lock untouched for `lapsedMs` is stale. */
const touchMs = 5000;
const lapsedMs = 30_000;
const lookMs = 50;

/**
 * Runs a call that only one process of the user may run at a time; waits while another process runs it.
 * @param path location of the lock file, which exists while the call runs; its folder is created
 * @throws errors of `call`, errors of the file system, AbortError if cancelled while waiting
 */
export async function withFileLock<T>(path: string, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  const me = nameOfHolder();
  while (!takeFree(path, me)) {
    signal.throwIfAborted();
    await sleep(lookMs, undefined, { signal });
  }
  return holding(path, me, call);
}

/**
 * Like `withFileLock`, but does not wait.
 * @param busy creates the error if another process holds the lock
 */
export async function tryFileLock<T>(path: string, busy: () => Error, call: () => Promise<T>): Promise<T> {
  const me = nameOfHolder();
  if (!takeFree(path, me)) throw busy();
  return holding(path, me, call);
}

const nameOfHolder = (): string => `${hostname()} ${process.pid} ${randomUUID()}`;

async function holding<T>(path: string, me: string, call: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => touch(path), touchMs);
  try {
    return await call();
  } finally {
    clearInterval(timer);
    // The lock is removed only if this process still holds it. If this process was stopped for long, another process
    // may have taken the lock.
    if (read(path) === me) rmSync(path, { force: true });
  }
}

/** Takes a lock that is free or stale. */
function takeFree(path: string, me: string): boolean {
  makeFolder(dirname(path));
  if (take(path, me)) return true;
  removeStale(path, me);
  return take(path, me);
}

function take(path: string, me: string): boolean {
  try {
    const file = openSync(path, 'wx', 0o600);
    try {
      writeSync(file, me);
    } finally {
      closeSync(file);
    }
    return true;
  } catch (error) {
    if (Object(error).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes the lock of a process that has ended. If several processes see the same stale lock, only one of them may
 * remove it, because a slower one could otherwise remove the lock of the next holder. The right to remove is also a
 * file, named after the holder. The process that has this right reads the lock again before it removes the lock.
 */
function removeStale(path: string, me: string): void {
  const holder = read(path);
  if (holder === undefined || !isStale(path, holder)) return;
  const removal = `${path}.${createHash('sha256').update(holder).digest('hex').slice(0, 16)}`;
  if (!take(removal, me)) {
    const remover = read(removal);
    // The right to remove may be stale too, because the process that had it may have been killed.
    if (remover === undefined || !isStale(removal, remover)) return;
    rmSync(removal, { force: true });
    if (!take(removal, me)) return;
  }
  if (read(path) === holder && isStale(path, holder)) rmSync(path, { force: true });
  rmSync(removal, { force: true });
}

function isStale(path: string, holder: string): boolean {
  const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  const [host, pid] = holder.split(' ');
  if (host === hostname() && Number(pid) > 0 && !isProcessRunning(Number(pid))) return true;
  return age > lapsedMs;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function touch(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // The error is ignored: another process has removed the lock, and `holding` notices that at the end.
  }
}
