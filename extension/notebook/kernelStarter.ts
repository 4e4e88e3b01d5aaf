import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as vscode from 'vscode';
import { profilesVariable } from '#cluster/profiles/settingPath.ts';
import { findNode } from '#processes/childProcess.ts';
import { createTempFolder } from '#processes/files.ts';
import type { ConnectionHandler, InputHandler, ViewHandler } from '#processes/kernelConversation.ts';
import { type AttachedKernel, KernelProcess } from '#processes/kernelProcess.ts';
import { isCatalogError, messageOf } from '#shared/errors.ts';
import { typeCheckModes } from '#shared/notebookLanguage.ts';
import type { KeepKernel } from '#shared/protocol/kernelMessages.ts';
import type { ClusterProfiles } from '../cluster/clusterProfiles.ts';
import { profilesForKernels } from '../cluster/profilesForKernels.ts';
import type { Catalogs } from '../connections/catalogs.ts';
import { type Connections, rootBase } from '../connections/connections.ts';
import type { Log } from '../host/log.ts';
import { askModal } from '../host/messages.ts';
import { setting } from '../host/settings.ts';
import type { KeptKernels } from './keptKernels.ts';
import type { NotebookCatalogs } from './notebookCatalogs.ts';
import { cellLanguage } from './notebookKernel.ts';
import { showKernelLost } from './notices.ts';
import type { StartedKernel, StartKernel } from './sessionTypes.ts';
import { readWaiting } from './queuedCells.ts';

export type KernelStarterDeps = {
  log: Log;
  notebookCatalogs: NotebookCatalogs;
  connections: Connections;
  catalogs: Catalogs;
  kept: KeptKernels;
  profiles: Pick<ClusterProfiles, 'written'>;
  /** Shows a table of a cell in a panel. */
  showView: ViewHandler;
  dist: (name: string) => string;
};

/** How long to wait until the old window disconnects after a reload. Its extensions run for some more seconds. */
const handOverMilliseconds = 20_000;
const againMilliseconds = 200;

/**
 * Returns a function that starts a notebook's kernel. The function reattaches the kernel that has waited since a
 * reload. If no kernel waits, it starts a new kernel whose `db` is the notebook's current catalog.
 */
export function kernelStarter(parts: KernelStarterDeps): StartKernel {
  const { log, kept } = parts;
  const allowed = new Set<string>();
  return async (notebook, cwd, ask, signal) => {
    const connection = connectionHandler(parts, notebook, allowed);
    const view = parts.showView;
    const record = kept.get(notebook.uri);
    const attached = record && (await reattach(record.folder, { ask, connection, view, signal }));
    if (record && attached) {
      log.info(`the kernel of ${notebook.uri.path} continues: pid ${attached.kernel.handshake.pid}`);
      return watch(parts, record.folder, { ...attached, hasLost: false, waiting: readWaiting(record.waiting) });
    }
    if (record) {
      kept.forget(record.folder);
      if (record.isUsed) showKernelLost(notebook);
    }
    const started = await startNew(parts, notebook, cwd, { ask, connection, view, signal });
    return { ...started, hasLost: record?.isUsed === true };
  };
}

type Handlers = { ask: InputHandler; connection: ConnectionHandler; view: ViewHandler; signal: AbortSignal };

/**
 * Returns the connections of the window for queries that name one. A kernel gets the secrets of a server with its
 * connection. Another user may have written the notebook, so the window asks once about each server that was not chosen
 * for it.
 * @param allowed notebooks and connections that the user has allowed
 */
function connectionHandler(
  { connections, catalogs, notebookCatalogs }: KernelStarterDeps,
  notebook: vscode.NotebookDocument,
  allowed: Set<string>,
): ConnectionHandler {
  const isAllowed = async (name: string): Promise<boolean> => {
    const choice = notebookCatalogs.choice(notebook);
    if ('connection' in choice && choice.connection.name === name) return true;
    const key = JSON.stringify([notebook.uri.toString(), name]);
    if (allowed.has(key)) return true;
    const answer = await askModal(
      `Let ${path.basename(notebook.uri.path)} use the connection "${name}"?`,
      'A query in the notebook names this server. Code of the notebook can then use its API key.',
      'Allow',
    );
    if (answer === 'Allow') allowed.add(key);
    return answer === 'Allow';
  };
  return async (name) => {
    const names = connections.list().map((each) => each.name);
    if (name === null || !names.includes(name)) return { names, config: null, problem: null };
    try {
      const config = await catalogs.config(name);
      if (config.implementation === 'rest' && !(await isAllowed(name)))
        return { names, config: null, problem: `You did not allow the notebook to use "${name}".` };
      return { names, config, problem: null };
    } catch (error) {
      return { names, config: null, problem: messageOf(error) };
    }
  };
}

async function startNew(
  parts: KernelStarterDeps,
  notebook: vscode.NotebookDocument,
  cwd: string,
  handlers: Handlers,
): Promise<StartedKernel> {
  const { signal } = handlers;
  const { log, notebookCatalogs, connections, catalogs, kept, profiles, dist } = parts;
  const nodePath = setting('lanceCatalog.nodePath');
  const node = await findNode({ ...(nodePath && { nodePath }), signal });
  const choice = notebookCatalogs.choice(notebook);
  if ('connection' in choice) notebookCatalogs.bind(notebook.uri, choice.connection.name);
  // Without a catalog the kernel starts anyway; `db` then explains how to choose one.
  const catalog = 'connection' in choice ? await catalogs.config(choice.connection.name) : null;
  const keep = await makeKeep();
  const typeCheck = typeCheckModes.find((mode) => mode === setting('lanceCatalog.notebook.typeCheck')) ?? 'error';
  const entry = dist('kernel.cjs');
  const clusters = profilesForKernels(profiles.written(), connections.list(), rootBase().folder);
  const env = { [profilesVariable]: clusters };
  const language = cellLanguage(notebook.metadata);
  const start = { entry, node, cwd, catalog, typeCheck, language, env, ...handlers, ...(keep && { keep }) };
  const kernel = await KernelProcess.start(start);
  const { pid, node: version, canInterrupt } = kernel.handshake;
  log.info(`a kernel runs: pid ${pid}, Node ${version}${canInterrupt ? '' : ", can't be interrupted"}`);
  const started = { kernel, runs: [], executionCount: 0, hasLost: false, waiting: [] };
  if (!keep) return started;
  kept.set(notebook.uri, { folder: keep.folder, isUsed: false });
  return watch(parts, keep.folder, started);
}

function watch({ kept }: KernelStarterDeps, folder: string, started: StartedKernel): StartedKernel {
  started.kernel.onDidExit(() => {
    if (!started.kernel.hasLeft) kept.forget(folder);
  });
  return started;
}

/** Returns how kernels wait for a reloading window; `undefined` if the settings end them with the window. */
async function makeKeep(): Promise<KeepKernel | undefined> {
  const seconds = setting('lanceCatalog.notebook.keepKernelSeconds') ?? 0;
  if (!(seconds > 0)) return undefined;
  const folder = await createTempFolder('kernel');
  return { folder, seconds, editor: process.ppid };
}

/** Reattaches the kernel that waits in a folder; `undefined` if the kernel has ended. */
async function reattach(folder: string, handlers: Handlers): Promise<AttachedKernel | undefined> {
  const { signal } = handlers;
  for (const end = Date.now() + handOverMilliseconds; ;) {
    try {
      return await KernelProcess.attach(folder, handlers);
    } catch (error) {
      signal.throwIfAborted();
      if (isCatalogError(error, 'ServiceUnavailable')) return undefined;
      // Another window is still connected. Usually it is this window before its reload; if it stays connected, it is a
      // different window on the same folder.
      if (Date.now() > end) return undefined;
      await sleep(againMilliseconds, undefined, { signal });
    }
  }
}
