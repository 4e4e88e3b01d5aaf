import { randomBytes } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { isRunning } from '#processes/running.ts';
import { isRecord } from '#shared/records.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { encodedColumn } from './checkpoints.ts';
import type { CheckpointStore } from './store.ts';
import { pause } from '#jobs/local/pause.ts';

// A file beside the table that says who is at a column, for other machines too. The format is that of all runners:
// kernel/jobs/driver/CHECKPOINTS.md.

// In milliseconds, as the Python driver has them.
const beat = 10_000;
const stale = 60_000;
const look = 12_000;

/** Being the only job at a column of a table. */
export type Lease = AsyncDisposable & {
  /**
   * Looks whether it is still its own: a machine that slept must not write over whoever took over.
   * @throws JobError Busy
   */
  check(): Promise<void>;
};

/** Who is to have the lease, and how what is waited for is told. */
type LeaseOptions = {
  readonly spec: Pick<JobSpec, 'jobId' | 'column' | 'function'>;
  readonly notice: (text: string) => void;
  readonly signal: AbortSignal;
  readonly clock?: LeaseClock;
};

/** The time of day, by which others judge; one that nobody sets; and a pause. All in milliseconds. */
type LeaseClock = {
  wall(): number;
  steady(): number;
  pause(milliseconds: number, signal: AbortSignal): Promise<void>;
};

const machineClock: LeaseClock = { wall: () => Date.now(), steady: () => performance.now(), pause };

/**
 * Takes the column for a job, until it is disposed of. One of the same job, or whose process is gone, is taken over at once;
 * one that has not beaten of late is watched, since nobody's clock need be right.
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
  // Two that find the same stale lease: the second to remove it removes that of the first, who sees so when it reads its own.
  for (let attempt = 0; attempt < 5; attempt++) {
    await outwait(lease, options);
    await store.create(path, bytes());
    // Also where it was not created: the answer to the request that did may have been lost, and sent again.
    if ((await holderOf(lease))?.nonce === nonce) return;
  }
  throw busy(await holderOf(lease), options.spec.column);
}

/** Removes a lease whose holder is gone. @throws JobError Busy where it is not; the signal's reason */
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
    if (!isTold) notice(`Waiting whether ${holder?.name ?? 'somebody'} is still at the column "${spec.column}".`);
    await clock.pause(1000, signal);
    const now = await store.read(path, signal);
    if (now && !isSame(now, seen)) throw busy(holderIn(now), spec.column);
    seen = now;
  }
}

const isSame = (a: Uint8Array | undefined, b: Uint8Array): boolean => a !== undefined && Buffer.compare(a, b) === 0;

const busy = (holder: Holder | undefined, column: string): JobError =>
  new JobError(
    'Busy',
    `${holder ? `The job ${holder.jobId} of ${holder.name}` : 'Another job'} is at the column "${column}" of this table.`,
    'Wait for it, or cancel it there.',
  );

/** Written anew and put in place, so that nobody reads half of it. */
async function renew(lease: OwnLease): Promise<void> {
  try {
    if ((await holderOf(lease))?.nonce === lease.nonce) await lease.store.write(lease.path, lease.bytes());
  } catch {
    // A full disk, a line that is down: the next beat may come through, and after a minute without one others may take over.
  }
}

type Holder = { jobId: string; name: string; host: string; pid: number; nonce: string; heartbeatAt: number };

async function holderOf({ store, path }: OwnLease): Promise<Holder | undefined> {
  const bytes = await store.read(path);
  return bytes && holderIn(bytes);
}

/** What a lease says that anybody may have written. */
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

/** Whether nobody need be waited for, whatever the beat says. */
function isOver({ jobId, host, pid }: Holder, ownJobId: string): boolean {
  // The same job, taken up again: whoever began it is gone, or sees before it commits that the lease is not its own.
  return jobId === ownJobId || (host === hostname() && !isRunning(pid));
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user id without a name, as containers have it.
    return 'somebody';
  }
}
