import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { kernelFlags } from '#processes/nodeVersion.ts';
import { endAttempt, isUsable, snapshotOf, type StartSnapshot } from '#processes/startSnapshot.ts';

/** Late enough that it takes nothing from the first cells. */
const delayMs = 3000;

/** To be called when both threads of the kernel are up: the snapshot that it came from, if it did, is a good one. */
export function keepSnapshot(entry: string): void {
  const own = ownSnapshot(entry);
  if (own?.isUsed) endAttempt(own.snapshot);
}

/**
 * To be called when there is nothing more urgent: has a snapshot made for the next start where there is none, in the
 * background and by a process that outlives this one.
 */
export function seeToSnapshot(entry: string): void {
  const own = ownSnapshot(entry);
  if (own && !own.isUsed && !isUsable(own.snapshot)) setTimeout(() => make(own.flags), delayMs).unref();
}

type OwnSnapshot = { snapshot: StartSnapshot; flags: readonly string[]; isUsed: boolean };

function ownSnapshot(entry: string): OwnSnapshot | undefined {
  const flags = kernelFlags(process.versions.node);
  // A Node that refuses the flags, or an editor's, which is another program with another memory.
  if (!flags.every((flag) => process.execArgv.includes(flag)) || process.versions['electron'] !== undefined)
    return undefined;
  const snapshot = snapshotOf({ node: process.execPath, version: process.versions.node, flags, entry });
  return snapshot && { snapshot, flags, isUsed: process.execArgv.includes(snapshot.blob) };
}

function make(flags: readonly string[]): void {
  const script = join(import.meta.dirname, 'snapshotMaker.cjs');
  const maker = spawn(process.execPath, [...flags, script], { detached: true, stdio: 'ignore' });
  // Without one the next kernel starts as this one did.
  maker.on('error', () => {});
  try {
    if (maker.pid !== undefined) setPriority(maker.pid, constants.priority.PRIORITY_LOW);
  } catch {
    // It has ended already, or may not be made less important.
  }
  maker.unref();
}
