import { isRecord } from './records.ts';

// How a window that was reloaded finds the kernel of a notebook again.

/** The file in a kept kernel's folder that says how to reach it. */
export const keptFile = 'kernel.json';
/** The file in a kept kernel's folder that native code and Node itself write their last words to. */
export const keptErrors = 'stderr.txt';

/** The file in a kept kernel's folder that is written anew by a window that will want it, but has not come for it yet. */
export const holdFile = 'hold';

export type KeptKernel = {
  /** A socket's path, or a named pipe's on Windows. */
  address: string;
  /** To be said in the first message. */
  secret: string;
  pid: number;
};

export function isKeptKernel(value: unknown): value is KeptKernel {
  if (!isRecord(value)) return false;
  const { address, secret, pid } = value;
  return typeof address === 'string' && typeof secret === 'string' && Number.isSafeInteger(pid);
}
