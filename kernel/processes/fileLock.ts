import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from './files.ts';
import { isRunning } from './running.ts';

/** What holds a lock touches it this often, and one that was not touched for so long is nobody's. */
const touchMs = 5000;
const lapsedMs = 30_000;
const lookMs = 50;

/**
 * Runs something that only one process of a person may do at a time, once no other does it.
 * @param path of the lock, a file that is there meanwhile; its folder is made
 * @throws what `call` throws, an error of the file system, AbortError when cancelled while waiting
 */
export async function whileLocked<T>(path: string, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  const me = nameOfHolder();
  while (!takeFree(path, me)) {
    signal.throwIfAborted();
    await sleep(lookMs, undefined, { signal });
  }
  return holding(path, me, call);
}

/**
 * The same where nobody wants to wait.
 * @param busy what to throw where another process is at it
 */
export async function ifUnlocked<T>(path: string, busy: () => Error, call: () => Promise<T>): Promise<T> {
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
    // Somebody may have taken it away from a process that was stopped for long.
    if (read(path) === me) rmSync(path, { force: true });
  }
}

/** Takes a lock that nobody has, or nobody any more. */
function takeFree(path: string, me: string): boolean {
  makeFolder(dirname(path));
  if (take(path, me)) return true;
  removeStale(path);
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

/** Takes away the lock of a process that is gone. */
function removeStale(path: string): void {
  const holder = read(path);
  if (holder === undefined || !isStale(path, holder)) return;
  const aside = `${path}.${randomUUID()}`;
  try {
    // Two who see the same one both try: a rename succeeds for one of them.
    renameSync(path, aside);
  } catch {
    return;
  }
  // The other may have been quicker, and this be the lock of a third that holds it now.
  if (read(aside) !== holder) take(path, read(aside) ?? '');
  rmSync(aside, { force: true });
}

function isStale(path: string, holder: string): boolean {
  const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  const [host, pid] = holder.split(' ');
  if (host === hostname() && Number(pid) > 0 && !isRunning(Number(pid))) return true;
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
    // Taken away by somebody; seen when it is given back.
  }
}
