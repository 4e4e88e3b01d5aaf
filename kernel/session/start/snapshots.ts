import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { kernelFlags } from '#processes/nodeVersion.ts';
import { endAttempt, isUsable, snapshotOf, type StartSnapshot } from '#processes/startSnapshot.ts';

/** Delay before a build starts, so that the build does not slow down the first cells. */
const delayMs = 3000;

/**
 * Marks the snapshot that the kernel started from, if any, as working. Call it when both threads of the kernel are
 * running.
 */
export function keepSnapshot(entry: string): void {
  const own = ownSnapshot(entry);
  if (own?.isUsed) endAttempt(own.snapshot);
}

/**
 * Builds a missing snapshot for the next start, in a background process that outlives this one. Call it when nothing
 * more urgent is pending.
 */
export function ensureSnapshot(entry: string): void {
  const own = ownSnapshot(entry);
  if (own && !own.isUsed && !isUsable(own.snapshot)) setTimeout(() => make(own.flags), delayMs).unref();
}

type OwnSnapshot = { snapshot: StartSnapshot; flags: readonly string[]; isUsed: boolean };

function ownSnapshot(entry: string): OwnSnapshot | undefined {
  const flags = kernelFlags(process.versions.node);
  // No snapshot is possible if Node has rejected the flags, or in VS Code's Node (Electron).
  if (!flags.every((flag) => process.execArgv.includes(flag)) || process.versions['electron'] !== undefined)
    return undefined;
  const snapshot = snapshotOf({ node: process.execPath, version: process.versions.node, flags, entry });
  return snapshot && { snapshot, flags, isUsed: process.execArgv.includes(snapshot.blob) };
}

function make(flags: readonly string[]): void {
  const script = join(import.meta.dirname, 'snapshotMaker.cjs');
  const maker = spawn(process.execPath, [...flags, script], { detached: true, stdio: 'ignore' });
  // An error is ignored: without a snapshot the next kernel starts as this one did.
  maker.on('error', () => {});
  try {
    if (maker.pid !== undefined) setPriority(maker.pid, constants.priority.PRIORITY_LOW);
  } catch {
    // The error is ignored: the process has already ended, or its priority can't be lowered.
  }
  maker.unref();
}
