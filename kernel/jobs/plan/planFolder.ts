import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs a callback with a temporary folder, so that plans and trials leave no files. */
export async function inPlanFolder<T>(call: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'lance-catalog-plan-'));
  try {
    return await call(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
