import { dirname, join } from 'node:path';
import { CatalogError } from '#shared/errors.ts';
import { cancellable } from './calls.ts';
import type { NodeRuntime } from './childProcess.ts';
import type { KernelLink } from './kernelLink.ts';
import { kernelFlags } from './nodeVersion.ts';
import {
  isUsable,
  languageArgument,
  removeSnapshot,
  snapshotFlags,
  snapshotOf,
  type StartSnapshot,
} from './startSnapshot.ts';

const handshakeMs = 20_000;

/**
 * The answer to a kernel's first message, within the time that a start may take.
 * @throws CatalogError ServiceUnavailable (17) when there is none; AbortError when cancelled
 */
export async function answered<T>(request: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const timer = AbortSignal.timeout(handshakeMs);
  try {
    return await cancellable(request, signal ? AbortSignal.any([signal, timer]) : timer);
  } catch (cause) {
    signal?.throwIfAborted();
    if (!timer.aborted) throw cause;
    const what = `The kernel did not answer within ${handshakeMs / 1000} s.`;
    throw new CatalogError('ServiceUnavailable', what, 'Try again; the machine may be busy.', { cause });
  }
}

/** A way to start a kernel, and whether another is to be tried after this one failed. */
type WayToStart = { flags: readonly string[]; entry: string; goOn: (failed: KernelLink) => boolean };

/** The ways to start a kernel, the best first. `entry` is its bundle. */
export function waysToStart(node: NodeRuntime, entry: string): readonly [WayToStart, ...WayToStart[]] {
  const flags = kernelFlags(node.version);
  const usual: WayToStart = { flags, entry, goOn: (failed) => failed.refusedFlags() };
  // This Node refuses the flags. Cells run without them; the handshake says that they can't be interrupted.
  const bare: WayToStart = { flags: [], entry, goOn: () => false };
  const fast = fromSnapshot(node, flags, entry);
  return fast ? [fast, usual, bare] : [usual, bare];
}

/** A way to start the language worker of cells; `forget` gives up what made it fast. */
export type LanguageWay = { flags: readonly string[]; entry: string; args: readonly string[]; forget?: () => void };

/** The ways to start the language worker, the best first. It comes up from the kernel's snapshot, which holds all it needs. */
export function waysToStartLanguage(node: NodeRuntime, entry: string): readonly LanguageWay[] {
  const usual: LanguageWay = { flags: [], entry, args: [] };
  const flags = kernelFlags(node.version);
  const snapshot = usableSnapshot(node, flags, join(dirname(entry), 'kernel.cjs'));
  if (!snapshot) return [usual];
  return [
    {
      flags: [...flags, ...snapshotFlags(snapshot)],
      entry: snapshot.entry,
      args: [languageArgument],
      forget: () => removeSnapshot(snapshot),
    },
    usual,
  ];
}

function fromSnapshot(node: NodeRuntime, flags: readonly string[], entry: string): WayToStart | undefined {
  const snapshot = usableSnapshot(node, flags, entry);
  return (
    snapshot && {
      flags: [...flags, ...snapshotFlags(snapshot)],
      entry: snapshot.entry,
      goOn: () => {
        // Whatever it was, the usual start works or says it better.
        removeSnapshot(snapshot);
        return true;
      },
    }
  );
}

function usableSnapshot(node: NodeRuntime, flags: readonly string[], entry: string): StartSnapshot | undefined {
  // An editor's own executable, which is told by its environment to be Node, has another memory than Node's.
  if (node.version === undefined || Object.keys(node.env).length > 0) return undefined;
  const snapshot = snapshotOf({ node: node.path, version: node.version, flags, entry });
  return snapshot && isUsable(snapshot) ? snapshot : undefined;
}
