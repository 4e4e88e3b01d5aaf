import { randomBytes } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { isProcessRunning } from '#processes/running.ts';
import { wait } from '#processes/wait.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { isRecord } from '#shared/records.ts';
import { encodedColumn } from './checkpoints.ts';
import type { CheckpointStore } from './store.ts';

// A file beside the table that names the job that computes a column, for all machines. Format:
// kernel/jobs/driver/CHECKPOINTS.md.

// Milliseconds, as in the Python driver.
const beat = 10_000;
const stale = 60_000;
const look = 12_000;

/** The exclusive right of a job to compute a column. */
export type Lease = AsyncDisposable & {
  /**
   * Checks that this job still holds the lease, because a machine that slept must not overwrite the work of a job that
   * took over.
   * @throws JobError Busy
   */
  check(): Promise<void>;
};

type LeaseOptions = {
  readonly spec: Pick<JobSpec, 'jobId' | 'column' | 'function'>;
  readonly notice: (text: string) => void;
  readonly signal: AbortSignal;
  readonly clock?: LeaseClock;
};

/** Clocks in milliseconds: the time of day for the lease, a clock that is never set, and a function that waits. */
type LeaseClock = {
  wall(): number;
  steady(): number;
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
};

const machineClock: LeaseClock = { wall: () => Date.now(), steady: () => performance.now(), wait };

/**
 * Takes the lease of a column until it is disposed. A lease of the same job, or of a process of this machine that has
 * ended, is taken over at once. A lease without recent heartbeats is watched for a while first, because the clocks of
 * two machines may differ.
 * @throws JobError Busy with the holder, StorageFailed; the reason of `signal`
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
      const by = holder ? `The job ${holder.jobId} of ${holder.name}` : 'Another job';
      throw new JobError(
        'Busy',
        `${by} took over the column "${spec.column}" while this job was paused.`,
        'Computed rows are kept: resume this job when the other job has finished.',
      );
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      // Waits for a heartbeat in progress, because it would write a lease again after the removal.
      await renewing;
      // An error is ignored: if the lease can't be read, it stays and becomes stale after a minute.
      const holder = await holderOf(lease).catch(() => undefined);
      if (holder?.nonce === nonce) await store.remove(path);
    },
  };
}

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
  // If two jobs find a stale lease, the second may remove the new lease of the first. The first notices this when it
  // reads its lease back.
  for (let attempt = 0; attempt < 5; attempt++) {
    await outwait(lease, options);
    await store.create(path, bytes());
    // The lease is read back even if creating the file failed, because the response may have been lost and the request
    // repeated.
    if ((await holderOf(lease))?.nonce === nonce) return;
  }
  throw busy(await holderOf(lease), options.spec.column);
}

/** Removes the lease of a holder that no longer runs. @throws JobError Busy if it is alive; the reason of `signal` */
async function outwait({ store, path }: OwnLease, options: LeaseOptions): Promise<void> {
  const { spec, notice, signal, clock = machineClock } = options;
  let seen = await store.read(path, signal);
  const since = clock.steady();
  for (let isTold = false; seen; isTold = true) {
    const holder = holderIn(seen);
    const age = holder && clock.wall() - holder.heartbeatAt;
    const needed = age === undefined || age > stale ? look : stale;
    if ((holder && isOver(holder, spec.jobId)) || clock.steady() - since >= needed) {
      if (isSame(await store.read(path, signal), seen)) await store.remove(path);
      return;
    }
    if (age !== undefined && Math.abs(age) < 2 * beat) throw busy(holder, spec.column);
    if (!isTold)
      notice(`Checking whether ${holder?.name ?? 'another job'} is still computing the column "${spec.column}".`);
    await clock.wait(1000, signal);
    const now = await store.read(path, signal);
    if (now && !isSame(now, seen)) throw busy(holderIn(now), spec.column);
    seen = now;
  }
}

const isSame = (a: Uint8Array | undefined, b: Uint8Array): boolean => a !== undefined && Buffer.compare(a, b) === 0;

const busy = (holder: Holder | undefined, column: string): JobError =>
  new JobError(
    'Busy',
    `${holder ? `The job ${holder.jobId} of ${holder.name}` : 'Another job'} is computing the column "${column}" of this table.`,
    'Wait until it has finished, or cancel it where it runs.',
  );

/** Replaces the file, so that readers never see half of it. */
async function renew(lease: OwnLease): Promise<void> {
  try {
    if ((await holderOf(lease))?.nonce === lease.nonce) await lease.store.write(lease.path, lease.bytes());
  } catch {
    // The error is ignored, because the next heartbeat may succeed. After a minute without a heartbeat, other jobs may
    // take over.
  }
}

type Holder = { jobId: string; name: string; host: string; pid: number; nonce: string; heartbeatAt: number };

async function holderOf({ store, path }: OwnLease): Promise<Holder | undefined> {
  const bytes = await store.read(path);
  return bytes && holderIn(bytes);
}

/** Parses a lease, which any user of the table may have written. */
function holderIn(bytes: Uint8Array): Holder | undefined {
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

/** Whether to take over the lease without waiting, regardless of the heartbeat. */
function isOver({ jobId, host, pid }: Holder, ownJobId: string): boolean {
  // The job was resumed. Its first process has ended, or notices before its next commit that it lost the lease.
  return jobId === ownJobId || (host === hostname() && !isProcessRunning(pid));
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // The account has no name, for instance in a container.
    return 'somebody';
  }
}
