import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { kernelFlags } from '#client/nodeVersion.ts';
import { endAttempt, isUsable, snapshotOf } from '#client/startSnapshot.ts';

/** Late enough that it takes nothing from the first cells. */
const delayMs = 3000;

/**
 * To be called when the kernel is up: keeps the snapshot that it came from, or has one made for the next start, in the
 * background and by a process that outlives this one.
 */
export function seeToSnapshot(entry: string): void {
  const flags = kernelFlags(process.versions.node);
  // A Node that refuses the flags, or an editor's, which is another program with another memory.
  if (!flags.every((flag) => process.execArgv.includes(flag)) || process.versions['electron'] !== undefined) return;
  const snapshot = snapshotOf({ node: process.execPath, version: process.versions.node, flags, entry });
  if (!snapshot) return;
  if (process.execArgv.includes(snapshot.blob)) return endAttempt(snapshot);
  if (isUsable(snapshot)) return;
  setTimeout(() => make(flags), delayMs).unref();
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
