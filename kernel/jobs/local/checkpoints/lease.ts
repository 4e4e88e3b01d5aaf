import { randomBytes } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import type { JobSpec } from '#jobs/jobSpec.ts';
import {
  type LeaseClock,
  type LeaseHolder,
  leaseHeartbeat,
  leasePath,
  parseLease,
  watchLease,
} from '#processes/columnLease.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import type { CheckpointStore } from './store.ts';

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

/**
 * Takes the lease of a column until it is disposed. A lease of the same job, or of a process of this machine that has
 * ended, is taken over at once. A lease without recent heartbeats is watched for a while first, because the clocks of
 * two machines may differ.
 * @throws JobError Busy with the holder, StorageFailed; the reason of `signal`
 */
export async function takeLease(store: CheckpointStore, options: LeaseOptions): Promise<Lease> {
  const { spec } = options;
  const path = leasePath(spec.column);
  const nonce = randomBytes(8).toString('hex');
  const lease = { store, path, nonce, bytes: () => leaseBytes(spec, nonce) };
  await acquire(lease, options);
  let renewing = Promise.resolve();
  const timer = setInterval(() => {
    renewing = renewing.then(() => renew(lease));
  }, leaseHeartbeat);
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
  const { spec, notice, signal, clock } = options;
  const onWatch = (holder: LeaseHolder | undefined): void =>
    notice(`Checking whether ${holder?.name ?? 'another job'} is still computing the column "${spec.column}".`);
  const read = () => store.read(path, signal);
  const state = await watchLease(read, { jobId: spec.jobId, onWatch, signal, clock });
  if (state.kind === 'busy') throw busy(state.holder, spec.column);
  if (state.kind === 'stale' && isSame(await read(), state.bytes)) await store.remove(path);
}

const isSame = (a: Uint8Array | undefined, b: Uint8Array): boolean => a !== undefined && Buffer.compare(a, b) === 0;

const busy = (holder: LeaseHolder | undefined, column: string): JobError =>
  new JobError(
    'Busy',
    `${holder ? `The job ${holder.jobId} of ${holder.name}` : 'Another job'} is computing the column "${column}" of this table.`,
    'Wait until it has finished, or cancel it where it runs.',
  );

/** Writes a heartbeat. The file is replaced, so that readers never see half of it. */
async function renew(lease: OwnLease): Promise<void> {
  try {
    if ((await holderOf(lease))?.nonce === lease.nonce) await lease.store.write(lease.path, lease.bytes());
  } catch {
    // The error is ignored, because the next heartbeat may succeed. After a minute without a heartbeat, other jobs may
    // take over.
  }
}

async function holderOf({ store, path }: OwnLease): Promise<LeaseHolder | undefined> {
  const bytes = await store.read(path);
  return bytes && parseLease(bytes);
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // The account has no name, for instance in a container.
    return 'somebody';
  }
}
