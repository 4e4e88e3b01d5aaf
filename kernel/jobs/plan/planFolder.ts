import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs a call with a folder for files that nobody needs afterwards: a plan and a trial leave nothing behind. */
export async function inPlanFolder<T>(call: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'lance-catalog-plan-'));
  try {
    return await call(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
