import type { Table as NativeTable } from '@lancedb/lancedb';

/**
 * Makes a table what it was at the version `before`, where all versions after it up to `ours` are the caller's and nobody
 * wrote after that. The handle has to be of its own: while this runs it is at an old version.
 * @returns whether it is; else what others have written is there as they left it
 */
export async function takenBack(own: NativeTable, before: number, ours: number): Promise<boolean> {
  try {
    if ((await latest(own)) !== ours) return false;
    const restored = await restoreTo(own, before);
    if (restored === ours + 1) return true;
    // The engine restores whatever was committed meanwhile: then that is the version below, and it has to come back.
    await restoreTo(own, restored - 1);
    return false;
  } finally {
    await own.checkoutLatest();
  }
}

async function restoreTo(own: NativeTable, version: number): Promise<number> {
  await own.checkout(version);
  await own.restore();
  return own.version();
}

async function latest(own: NativeTable): Promise<number> {
  await own.checkoutLatest();
  return own.version();
}
