import type { ChildProcess as Child } from 'node:child_process';
import { sep } from 'node:path';

/** A process that Node waits for before it ends, as it does for servers and timers. No types say so. */
type WithHandles = { readonly _getActiveHandles?: () => readonly unknown[] };

/**
 * Asks the programs that cells have started to end with the kernel, which would be left to nobody. Those that are to go on
 * were let go with `unref()`. Our own, a job for instance, know themselves what the end of a kernel is to them.
 */
export function endChildren(): void {
  try {
    const { ChildProcess } = process.getBuiltinModule('node:child_process');
    const handles = (process as WithHandles)._getActiveHandles?.() ?? [];
    for (const handle of handles) if (handle instanceof ChildProcess && !isOurs(handle)) attempt(() => handle.kill());
  } catch {
    // A cell has replaced what is used here. The kernel ends all the same.
  }
}

const isOurs = ({ spawnargs }: Child): boolean =>
  spawnargs.some((argument) => argument.startsWith(import.meta.dirname + sep));

/** One that belongs to another person by now is not ours to end, and the others are. */
function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // It may not be ended by this person.
  }
}
