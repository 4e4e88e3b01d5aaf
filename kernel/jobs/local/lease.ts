import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { isRecord } from '#shared/records.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { encodedColumn } from './checkpointFolder.ts';
import { storageError } from './storageError.ts';

// A file beside the table that says who is at a column, for other machines too. The format is that of all runners:
// kernel/jobs/driver/CHECKPOINTS.md.

const beat = 10_000;
const stale = 60_000;

/** Being the only job at a column of a table. */
export type Lease = AsyncDisposable & {
  /**
   * Looks whether it is still its own: a machine that slept must not write over whoever took over.
   * @throws JobError Busy
   */
  check(): Promise<void>;
};

/**
 * Takes the column for a job, until it is disposed of. One whose holder has died, or has not been heard of for a minute, is
 * taken over.
 * @throws JobError Busy naming who has it
 */
export async function takeLease(folder: string, spec: JobSpec): Promise<Lease> {
  const path = join(folder, '_ckp', `${encodedColumn(spec.column)}.lease`);
  const nonce = randomBytes(8).toString('hex');
  const text = (): string =>
    `${JSON.stringify({
      version: 1,
      job_id: spec.jobId,
      holder: `${userName()}@${hostname()}`,
      host: hostname(),
      pid: process.pid,
      nonce,
      function_hash: spec.function.hash,
      heartbeat_at: Date.now(),
    })}\n`;
  await acquire(path, text, nonce, spec.column);
  const timer = setInterval(() => void renew(path, text(), nonce), beat);
  timer.unref();
  return {
    check: async () => {
      const holder = await holderOf(path);
      if (holder?.nonce === nonce) return;
      const by = holder ? `The job ${holder.jobId} of ${holder.name} took` : 'Somebody has taken';
      throw new JobError(
        'Busy',
        `${by} over the column "${spec.column}" while this job stood still.`,
        'What this one computed is kept; resume it when the other has ended.',
      );
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      if ((await holderOf(path))?.nonce === nonce) await rm(path, { force: true }).catch(() => undefined);
      await rmdir(dirname(path)).catch(() => undefined);
    },
  };
}

async function acquire(path: string, text: () => string, nonce: string, column: string): Promise<void> {
  // Two that find the same stale lease: the second to remove it removes that of the first, who sees so when it reads its own.
  for (let attempt = 0; attempt < 5; attempt++) {
    try {
      await mkdir(dirname(path), { recursive: true });
      const file = await open(path, 'wx', 0o644);
      try {
        await file.writeFile(text());
      } finally {
        await file.close();
      }
      if ((await holderOf(path))?.nonce === nonce) return;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) {
        throw storageError(error, `the lease ${path}`);
      }
    }
    const holder = await holderOf(path);
    if (holder && isAlive(holder)) {
      throw new JobError(
        'Busy',
        `The job ${holder.jobId} of ${holder.name} is at the column "${column}" of this table.`,
        'Wait for it, or cancel it there.',
      );
    }
    await rm(path, { force: true });
  }
  throw new JobError('Busy', `Other jobs begin at the column "${column}" of this table.`, 'Try again.');
}

/** Written anew and put in place, so that nobody reads half of it. */
async function renew(path: string, text: string, nonce: string): Promise<void> {
  if ((await holderOf(path))?.nonce !== nonce) return;
  const draft = `${path}.${nonce}`;
  try {
    await writeFile(draft, text);
    await rename(draft, path);
  } catch {
    // Of a full disk: the next beat may have room, and after a minute without one others may take over.
    await rm(draft, { force: true }).catch(() => undefined);
  }
}

type Holder = { jobId: string; name: string; host: string; pid: number; nonce: string; heartbeatAt: number };

async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    const json: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (!isRecord(json)) return undefined;
    const { job_id: jobId, holder: name, host, pid, nonce, heartbeat_at: heartbeatAt } = json;
    if (typeof jobId !== 'string' || typeof name !== 'string' || typeof host !== 'string') return undefined;
    if (typeof pid !== 'number' || typeof nonce !== 'string' || typeof heartbeatAt !== 'number') return undefined;
    return { jobId, name, host, pid, nonce, heartbeatAt };
  } catch {
    return undefined;
  }
}

function isAlive({ host, pid, heartbeatAt }: Holder): boolean {
  if (Date.now() - heartbeatAt > stale) return false;
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user id without a name, as containers have it.
    return 'somebody';
  }
}
