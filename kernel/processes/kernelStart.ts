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
 * Waits for the reply to the first message of a kernel, for at most `handshakeMs`.
 * @throws CatalogError ServiceUnavailable (17) after that time; AbortError if cancelled
 */
export async function waitForHandshake<T>(request: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const timer = AbortSignal.timeout(handshakeMs);
  try {
    return await cancellable(request, signal ? AbortSignal.any([signal, timer]) : timer);
  } catch (cause) {
    signal?.throwIfAborted();
    if (!timer.aborted) throw cause;
    const what = `The kernel did not respond within ${handshakeMs / 1000} s.`;
    throw new CatalogError('ServiceUnavailable', what, 'Try again; the machine may be busy.', { cause });
  }
}

/** A way to start a kernel, and whether to try the next way after this one failed. */
type StartStrategy = { flags: readonly string[]; entry: string; goOn: (failed: KernelLink) => boolean };

/** Returns the ways to start a kernel, the best first. `entry` is its bundle. */
export function startStrategies(node: NodeRuntime, entry: string): readonly [StartStrategy, ...StartStrategy[]] {
  const flags = kernelFlags(node.version);
  const usual: StartStrategy = { flags, entry, goOn: (failed) => failed.refusedFlags() };
  // The start for a Node.js that refuses the flags. Cells run without the flags; the handshake reports that they can't
  // be interrupted.
  const bare: StartStrategy = { flags: [], entry, goOn: () => false };
  const fast = fromSnapshot(node, flags, entry);
  return fast ? [fast, usual, bare] : [usual, bare];
}

/** A way to start the language worker of cells; `forget` removes the snapshot that it starts from. */
export type LanguageStartStrategy = {
  flags: readonly string[];
  entry: string;
  args: readonly string[];
  forget?: () => void;
};

/**
 * Returns the ways to start the language worker, the best first. The worker can start from the kernel's snapshot, which
 * contains the worker's code.
 */
export function languageStartStrategies(node: NodeRuntime, entry: string): readonly LanguageStartStrategy[] {
  const usual: LanguageStartStrategy = { flags: [], entry, args: [] };
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

function fromSnapshot(node: NodeRuntime, flags: readonly string[], entry: string): StartStrategy | undefined {
  const snapshot = usableSnapshot(node, flags, entry);
  return (
    snapshot && {
      flags: [...flags, ...snapshotFlags(snapshot)],
      entry: snapshot.entry,
      goOn: () => {
        // The snapshot is removed whatever the reason is, because the usual start works or gives a better error.
        removeSnapshot(snapshot);
        return true;
      },
    }
  );
}

function usableSnapshot(node: NodeRuntime, flags: readonly string[], entry: string): StartSnapshot | undefined {
  // An editor's executable that runs as Node.js because of its environment can't read a snapshot of Node.js.
  if (node.version === undefined || Object.keys(node.env).length > 0) return undefined;
  const snapshot = snapshotOf({ node: node.path, version: node.version, flags, entry });
  return snapshot && isUsable(snapshot) ? snapshot : undefined;
}
