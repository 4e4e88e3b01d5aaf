import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as vscode from 'vscode';
import { findNode } from '#processes/childProcess.ts';
import type { AskPerson } from '#processes/kernelConversation.ts';
import { KernelProcess, type AttachedKernel } from '#processes/kernelProcess.ts';
import { profilesVariable } from '#cluster/profiles/settingPath.ts';
import { isCatalogError } from '#shared/errors.ts';
import { typeCheckModes, type KeepKernel } from '#shared/protocol/kernelMessages.ts';
import type { Catalogs } from '../connections/catalogs.ts';
import { rootBase, type Connections } from '../connections/connections.ts';
import type { ClusterProfiles } from '../cluster/clusterProfiles.ts';
import { profilesForKernels } from '../cluster/profilesForKernels.ts';
import type { Log } from '../host/log.ts';
import { setting } from '../host/settings.ts';
import type { State } from '../host/state.ts';
import { choiceFor } from './commands.ts';
import type { KeptKernels } from './keptKernels.ts';
import { sayLost } from './notices.ts';
import { cellLanguage } from './notebookKernel.ts';
import type { StartedKernel, StartKernel } from './sessionTypes.ts';
import { readWaiting } from './waitingCells.ts';

export type KernelStarterParts = {
  log: Log;
  state: State;
  connections: Connections;
  catalogs: Catalogs;
  kept: KeptKernels;
  /** What cells check clusters by. */
  profiles: Pick<ClusterProfiles, 'written'>;
  dist: (name: string) => string;
};

/** How long the window that was reloaded may hold on to its kernels: its extensions run on for some seconds. */
const handOverMilliseconds = 20_000;
const againMilliseconds = 200;

/**
 * Gives a notebook its kernel: the one that waits for it since the window was reloaded, else a new one whose `db` is the
 * catalog that the notebook uses at that moment.
 */
export function kernelStarter(parts: KernelStarterParts): StartKernel {
  const { log, kept } = parts;
  return async (notebook, cwd, ask, signal) => {
    const record = kept.get(notebook.uri);
    const attached = record && (await reattach(record.folder, ask, signal));
    if (record && attached) {
      log.info(`the kernel of ${notebook.uri.path} goes on: pid ${attached.kernel.handshake.pid}`);
      return watch(parts, record.folder, { ...attached, hasLost: false, waiting: readWaiting(record.waiting) });
    }
    if (record) {
      kept.forget(record.folder);
      if (record.isUsed) sayLost(notebook);
    }
    const started = await startNew(parts, notebook, cwd, ask, signal);
    return { ...started, hasLost: record?.isUsed === true };
  };
}

async function startNew(
  parts: KernelStarterParts,
  notebook: vscode.NotebookDocument,
  cwd: string,
  ask: AskPerson,
  signal: AbortSignal,
): Promise<StartedKernel> {
  const { log, state, connections, catalogs, kept, profiles, dist } = parts;
  const nodePath = setting('lanceCatalog.nodePath');
  const node = await findNode({ ...(nodePath && { nodePath }), signal });
  const choice = choiceFor(notebook, connections, state);
  // Without a catalog the kernel starts all the same; `db` says then how to choose one.
  const catalog = 'connection' in choice ? await catalogs.config(choice.connection.name) : null;
  const keep = await makeKeep();
  const typeCheck = typeCheckModes.find((mode) => mode === setting('lanceCatalog.notebook.typeCheck')) ?? 'error';
  const entry = dist('kernel.cjs');
  const clusters = profilesForKernels(profiles.written(), connections.list(), rootBase().folder);
  const env = { [profilesVariable]: clusters };
  const language = cellLanguage(notebook.metadata);
  const start = { entry, node, cwd, catalog, typeCheck, language, env, ask, signal, ...(keep && { keep }) };
  const kernel = await KernelProcess.start(start);
  const { pid, node: version, canInterrupt } = kernel.handshake;
  log.info(`a kernel runs: pid ${pid}, Node ${version}${canInterrupt ? '' : ', can not be interrupted'}`);
  const started = { kernel, runs: [], executionCount: 0, hasLost: false, waiting: [] };
  if (!keep) return started;
  kept.set(notebook.uri, { folder: keep.folder, isUsed: false });
  return watch(parts, keep.folder, started);
}

/** Forgets where a kernel is as soon as it has ended. */
function watch({ kept }: KernelStarterParts, folder: string, started: StartedKernel): StartedKernel {
  started.kernel.onDidExit(() => {
    if (!started.kernel.hasLeft) kept.forget(folder);
  });
  return started;
}

/** How long kernels wait for a window that reloads; `undefined` when the person wants them to end with it. */
async function makeKeep(): Promise<KeepKernel | undefined> {
  const seconds = setting('lanceCatalog.notebook.keepKernelSeconds') ?? 0;
  if (!(seconds > 0)) return undefined;
  // A socket's path is limited to about 100 bytes, so the names are short. The folder is the person's alone.
  const folder = await mkdtemp(join(tmpdir(), 'lance-kernel-'));
  return { folder, seconds, editor: process.ppid };
}

/** The kernel that waits in a folder; `undefined` when it is gone. */
async function reattach(folder: string, ask: AskPerson, signal: AbortSignal): Promise<AttachedKernel | undefined> {
  for (const end = Date.now() + handOverMilliseconds; ;) {
    try {
      return await KernelProcess.attach(folder, { ask, signal });
    } catch (error) {
      signal.throwIfAborted();
      if (isCatalogError(error, 'ServiceUnavailable')) return undefined;
      // The window before this one is still connected. When it stays, it is another window on the same folder.
      if (Date.now() > end) return undefined;
      await sleep(againMilliseconds, undefined, { signal });
    }
  }
}
