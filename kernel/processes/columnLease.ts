import { hostname } from 'node:os';
import { parseRecord } from '#shared/records.ts';
import { isProcessRunning } from './running.ts';
import { wait } from './wait.ts';

// A lease is a file beside a table. It tells all machines which job computes a column. Format:
// kernel/jobs/driver/CHECKPOINTS.md. Times are in milliseconds, as in the Python driver.

/** How often the holder writes its heartbeat. */
export const leaseHeartbeat = 10_000;
const staleMs = 60_000;
const look = 12_000;

/** The folder of a table with the leases of its columns. */
export const leaseFolder = '_ckp';
const suffix = '.lease';

/** Keeps letters, digits, `_`, `.` and `-`, and encodes every other UTF-8 byte as `%XX`. */
export const encodedColumn = (column: string): string =>
  Array.from(Buffer.from(column), (byte) => {
    const character = String.fromCodePoint(byte);
    return /[\w.-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');

/** Returns the path of a column's lease in the folder of its table. */
export const leasePath = (column: string): string => `${leaseFolder}/${encodedColumn(column)}${suffix}`;

/** Returns the column that a file in the folder of leases belongs to; `undefined` if the file is not a lease. */
export function leasedColumn(file: string): string | undefined {
  if (!file.endsWith(suffix)) return undefined;
  try {
    return decodeURIComponent(file.slice(0, -suffix.length));
  } catch {
    return undefined;
  }
}

/** The job that holds a lease; `name` is for display. */
export type LeaseHolder = {
  jobId: string;
  name: string;
  host: string;
  pid: number;
  nonce: string;
  heartbeatAt: number;
};

/** Parses a lease, which any user of the table may have written. */
export function parseLease(bytes: Uint8Array): LeaseHolder | undefined {
  const {
    job_id: jobId,
    holder: name,
    host,
    pid,
    nonce,
    heartbeat_at: heartbeatAt,
  } = parseRecord(Buffer.from(bytes).toString()) ?? {};
  if (typeof jobId !== 'string' || typeof name !== 'string' || typeof host !== 'string') return undefined;
  if (typeof pid !== 'number' || typeof nonce !== 'string' || typeof heartbeatAt !== 'number') return undefined;
  return { jobId, name, host, pid, nonce, heartbeatAt };
}

/** The clocks of a lease, in milliseconds. */
export type LeaseClock = {
  /** The time of day. A user or a time server may change it. */
  wall(): number;
  /** Time since the process started. It can't be set. */
  steady(): number;
  wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void>;
};

const machineClock: LeaseClock = { wall: () => Date.now(), steady: () => performance.now(), wait };

/** `stale`: the holder no longer runs, so the lease with these bytes may be removed. */
export type LeaseState =
  | { readonly kind: 'free' }
  | { readonly kind: 'stale'; readonly bytes: Uint8Array }
  | { readonly kind: 'busy'; readonly holder: LeaseHolder | undefined };

type WatchOptions = {
  /** The job that wants the lease. A lease with its own id is stale, because the job was resumed. */
  readonly jobId?: string;
  /** Called once if the lease has to be watched for a while. */
  readonly onWatch?: (holder: LeaseHolder | undefined) => void;
  readonly signal: AbortSignal | undefined;
  readonly clock?: LeaseClock | undefined;
};

/**
 * Finds out whether the holder of a lease still runs. A lease without recent heartbeats is watched for a while, because
 * the clocks of two machines may differ.
 * @param read returns the lease, `undefined` if there is none
 * @throws the reason of `signal`
 */
export async function watchLease(
  read: () => Promise<Uint8Array | undefined>,
  { jobId, onWatch, signal, clock = machineClock }: WatchOptions,
): Promise<LeaseState> {
  let seen = await read();
  const since = clock.steady();
  for (let isTold = false; seen; isTold = true) {
    const holder = parseLease(seen);
    const age = holder && clock.wall() - holder.heartbeatAt;
    const needed = age === undefined || age > staleMs ? look : staleMs;
    if ((holder && isEnded(holder, jobId)) || clock.steady() - since >= needed) return { kind: 'stale', bytes: seen };
    if (age !== undefined && Math.abs(age) < 2 * leaseHeartbeat) return { kind: 'busy', holder };
    if (!isTold) onWatch?.(holder);
    await clock.wait(1000, signal);
    const now = await read();
    if (now && !isSame(now, seen)) return { kind: 'busy', holder: parseLease(now) };
    seen = now;
  }
  return { kind: 'free' };
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** Whether the holder no longer runs, regardless of the heartbeat. */
function isEnded({ jobId, host, pid }: LeaseHolder, ownJobId: string | undefined): boolean {
  // A lease with our own job id means that the job was resumed. The earlier process of the job has ended, or it notices
  // before its next commit that it lost the lease.
  return jobId === ownJobId || (host === hostname() && !isProcessRunning(pid));
}
