import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, copyFileSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { kernelFlags } from '#processes/nodeVersion.ts';
import { isUsable, snapshotOf, snapshotVariable, type StartSnapshot } from '#processes/startSnapshot.ts';
import { inRoot } from '../../scripts/paths.ts';

// Kernels of tests start from a snapshot, as the second and all later kernels of a user do. Such a start and the first
// cell take a quarter of the processor time. The snapshot is created once and then copied, because the cache folders of
// tests are new.

/** A cache folder that is kept between runs. The name of a snapshot tells for which build it is. */
const kept = inRoot('out/test-cache');

/** The environment of kernels with the cache folder `cache`. */
const environmentWith = (cache: string): Record<string, string> => ({
  XDG_CACHE_HOME: cache,
  [snapshotVariable]: 'on',
});

function findSnapshot(cache: string, dist: string): StartSnapshot | undefined {
  const version = process.versions.node;
  const kernel = { node: process.execPath, version, flags: kernelFlags(version), entry: join(dist, 'kernel.cjs') };
  const env = { ...process.env, ...environmentWith(cache) };
  return snapshotOf(kernel, { env, platform: process.platform, home: homedir() });
}

/**
 * Creates the snapshot of the build in `dist`, unless it exists already. This takes 3 seconds.
 * @throws Error if the snapshot does not exist afterwards
 */
export async function makeKernelSnapshot(dist = inRoot('dist')): Promise<void> {
  const isThere = (): boolean => {
    const snapshot = findSnapshot(kept, dist);
    return snapshot !== undefined && isUsable(snapshot);
  };
  if (isThere()) return;
  mkdirSync(kept, { recursive: true, mode: 0o700 });
  const maker = spawn(process.execPath, [...kernelFlags(process.versions.node), join(dist, 'snapshotMaker.cjs')], {
    env: { ...process.env, ...environmentWith(kept) },
    stdio: 'inherit',
  });
  await once(maker, 'exit');
  if (!isThere()) throw new Error(`There is no start-up snapshot of the kernel in ${dist}.`);
}

/**
 * Puts the snapshot of a build, if one was created, into another cache folder.
 * @returns the environment for kernels. Without a snapshot to copy, it lets kernels neither use nor create a snapshot
 */
export function shareKernelSnapshot(cache: string, dist = inRoot('dist')): Record<string, string> {
  const from = findSnapshot(kept, dist);
  const to = findSnapshot(cache, dist);
  if (from === undefined || to === undefined || !isUsable(from)) return { [snapshotVariable]: 'off' };
  mkdirSync(to.folder, { recursive: true, mode: 0o700 });
  for (const file of [from.blob, from.note])
    copyFileSync(file, join(to.folder, basename(file)), constants.COPYFILE_FICLONE);
  return environmentWith(cache);
}
