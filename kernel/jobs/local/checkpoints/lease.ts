import { randomBytes } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { isRecord } from '#shared/records.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { encodedColumn } from './checkpointName.ts';
import type { CheckpointStore } from './store.ts';
import { pause } from '#jobs/local/pause.ts';

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

/** Who is to have the lease, and how what is waited for is told. */
export type LeaseOptions = {
  readonly spec: Pick<JobSpec, 'jobId' | 'column' | 'function'>;
  readonly notice: (text: string) => void;
  readonly signal: AbortSignal;
};

/**
 * Takes the column for a job, until it is disposed of. One of the same job, or whose holder has died or has not been heard
 * of for a minute, is taken over; one that has missed a beat is waited for until either is sure.
 * @throws JobError Busy naming who has it, StorageFailed; the signal's reason
 */
export async function takeLease(store: CheckpointStore, options: LeaseOptions): Promise<Lease> {
  const { spec } = options;
  const path = `_ckp/${encodedColumn(spec.column)}.lease`;
  const nonce = randomBytes(8).toString('hex');
  const lease = { store, path, nonce, bytes: () => leaseBytes(spec, nonce) };
  await acquire(lease, options);
  let renewing = Promise.resolve();
  const timer = setInterval(() => {
    renewing = renewing.then(() => renew(lease));
  }, beat);
  timer.unref();
  return {
    check: async () => {
      const holder = await holderOf(lease);
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
      // A beat that is on its way would leave a lease behind that nobody holds.
      await renewing;
      // One that can't be looked at any more is stale in a minute.
      const holder = await holderOf(lease).catch(() => undefined);
      if (holder?.nonce === nonce) await store.remove(path);
    },
  };
}

/** A lease that somebody tries to take or has. */
type OwnLease = {
  readonly store: CheckpointStore;
  readonly path: string;
  readonly nonce: string;
  readonly bytes: () => Uint8Array;
};

const leaseBytes = ({ jobId, function: { hash } }: LeaseOptions['spec'], nonce: string): Uint8Array =>
  Buffer.from(
    `${JSON.stringify({
      version: 1,
      job_id: jobId,
      holder: `${userName()}@${hostname()}`,
      host: hostname(),
      pid: process.pid,
      nonce,
      function_hash: hash,
      heartbeat_at: Date.now(),
    })}\n`,
  );

async function acquire(lease: OwnLease, options: LeaseOptions): Promise<void> {
  const { store, path, nonce, bytes } = lease;
  const { jobId, column } = options.spec;
  // Two that find the same stale lease: the second to remove it removes that of the first, who sees so when it reads its own.
  for (let attempt = 0; attempt < 5; attempt++) {
    await store.create(path, bytes());
    // Also where it was not created: the answer to the request that did may have been lost, and sent again.
    const holder = await silentOver(lease, options);
    if (holder?.nonce === nonce) return;
    if (holder && isAlive(holder) && holder.jobId !== jobId) {
      throw new JobError(
        'Busy',
        `The job ${holder.jobId} of ${holder.name} is at the column "${column}" of this table.`,
        'Wait for it, or cancel it there.',
      );
    }
    await store.remove(path);
  }
  throw new JobError('Busy', `Other jobs begin at the column "${column}" of this table.`, 'Try again.');
}

/** Who has the lease, once it is known whether somebody who has missed a beat is still there. */
async function silentOver(lease: OwnLease, { spec, notice, signal }: LeaseOptions): Promise<Holder | undefined> {
  for (let isTold = false; ; isTold = true) {
    const holder = await holderOf(lease, signal);
    // The same job, taken up again: whoever began it is gone, or sees before it commits that the lease is not its own.
    if (!holder || !isAlive(holder) || holder.jobId === spec.jobId) return holder;
    if (Date.now() - holder.heartbeatAt < 2 * beat) return holder;
    if (!isTold) notice(`Waiting whether the job ${holder.jobId} of ${holder.name} is still at "${spec.column}".`);
    await pause(1000, signal);
  }
}

/** Written anew and put in place, so that nobody reads half of it. */
async function renew(lease: OwnLease): Promise<void> {
  try {
    if ((await holderOf(lease))?.nonce === lease.nonce) await lease.store.write(lease.path, lease.bytes());
  } catch {
    // A full disk, a line that is down: the next beat may come through, and after a minute without one others may take over.
  }
}

type Holder = { jobId: string; name: string; host: string; pid: number; nonce: string; heartbeatAt: number };

async function holderOf({ store, path }: OwnLease, signal?: AbortSignal): Promise<Holder | undefined> {
  const bytes = await store.read(path, signal);
  if (!bytes) return undefined;
  try {
    const json: unknown = JSON.parse(Buffer.from(bytes).toString());
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
