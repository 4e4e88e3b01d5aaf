import type * as vscode from 'vscode';
import { findNode } from '#client/childProcess.ts';
import { KernelProcess } from '#client/kernelProcess.ts';
import type { Catalogs } from '../catalog/catalogs.ts';
import type { Connections } from '../catalog/connections.ts';
import type { Log } from '../host/log.ts';
import { setting } from '../host/settings.ts';
import type { State } from '../host/state.ts';
import { choiceFor } from './commands.ts';
import type { StartKernel } from './session.ts';

export type KernelStarterParts = {
  log: Log;
  state: State;
  connections: Connections;
  catalogs: Catalogs;
  dist: (name: string) => string;
};

/** Starts kernels whose `db` is the catalog that the notebook uses at that moment. */
export function kernelStarter({ log, state, connections, catalogs, dist }: KernelStarterParts): StartKernel {
  return async (notebook: vscode.NotebookDocument, cwd: string, signal: AbortSignal) => {
    const nodePath = setting('lanceCatalog.nodePath');
    const node = await findNode({ ...(nodePath && { nodePath }), signal });
    const choice = choiceFor(notebook, connections, state);
    // Without a catalog the kernel starts all the same; `db` says then how to choose one.
    const catalog = 'connection' in choice ? await catalogs.config(choice.connection.name) : null;
    const kernel = await KernelProcess.start({ entry: dist('kernel.cjs'), node, cwd, catalog, signal });
    const { pid, node: version, canInterrupt } = kernel.handshake;
    log.info(`a kernel runs: pid ${pid}, Node ${version}${canInterrupt ? '' : ', can not be interrupted'}`);
    return kernel;
  };
}
