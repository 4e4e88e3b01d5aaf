import { readFile, rm } from 'node:fs/promises';
import { crashReason, crashReport, isCrashNote } from '#shared/crashNote.ts';

/**
 * Says why a kernel has ended and what was lost with it: one sentence or more. The kernel's crash note is removed, so that
 * it is told once.
 * @param reason what is known from outside: `killed by SIGKILL`
 * @param path where the kernel keeps its note; undefined when it ended before it said so
 */
export async function describeEnd(reason: string, path: string | undefined): Promise<string> {
  const plain = `The kernel has ended: ${reason}.`;
  if (path === undefined) return plain;
  try {
    const note: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (!isCrashNote(note)) return plain;
    const guess = reason.includes('memory') ? '' : crashReason(note);
    return `The kernel has ended: ${reason}${guess && `; ${guess}`}. ${crashReport(note)}`;
  } catch {
    // It ended in order, or before its first cell: nothing is lost.
    return plain;
  } finally {
    await rm(path, { force: true }).catch(() => undefined);
  }
}
