import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { keepAliveFile } from '#shared/protocol/kernelMessages.ts';
import { isPictureRequest, type PicturePlace, type PictureReply } from '#shared/protocol/pictureMessages.ts';
import type { TreeUpdates } from '../explorer/treeUpdates.ts';
import { type Log, logFailure } from '../host/log.ts';
import type { State } from '../host/state.ts';
import { notebookIds } from '../manifest.ts';
import { requireCatalog } from './askCatalog.ts';
import { type NotebookCommandDeps, registerNotebookCommands } from './commands.ts';
import { NotebookKernels } from './controller.ts';
import { registerNotebookDebugger } from './debug/debug.ts';
import { registerJupyter } from './jupyter/jupyter.ts';
import { KeptKernels } from './keptKernels.ts';
import { NotebookCatalogs } from './notebookCatalogs.ts';
import { OutputPanels } from './outputPanels.ts';
import { registerOutputRequests } from './outputRequests.ts';
import { NotebookTabs } from './notebookTabs.ts';
import { kernelStarter, type KernelStarterDeps } from './kernelStarter.ts';
import { type CellLanguageDeps, registerCellLanguage } from './language/language.ts';
import type { CellLanguage } from './language/cellLanguage.ts';
import type { NotebookSession } from './session.ts';
import { registerTableCode } from './tableCode.ts';
import { VariablesView } from './variablesView.ts';

const againMilliseconds = 2000;

/**
 * Keeps kernels alive for tabs that are not opened yet. After a reload VS Code opens a notebook only when the user
 * selects its tab, and a waiting kernel ends unless its keep-alive file is written regularly.
 */
function keepKernelsAlive(kept: KeptKernels): vscode.Disposable {
  const hold = (): void => {
    const open = new Set(vscode.workspace.notebookDocuments.map(({ uri }) => uri.toString()));
    for (const tab of vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs)) {
      const uri = tab.input instanceof vscode.TabInputNotebook ? tab.input.uri : undefined;
      const record = uri && !open.has(uri.toString()) ? kept.get(uri) : undefined;
      // If the folder does not exist, the kernel has ended. The user is informed when the notebook is opened.
      if (record) writeFile(join(record.folder, keepAliveFile), '').catch(() => undefined);
    }
  };
  hold();
  const timer = setInterval(hold, againMilliseconds);
  return { dispose: () => clearInterval(timer) };
}

/** Reports the connection of a notebook whenever one of its cells has ended. */
function registerCellEnds(
  kernels: NotebookKernels,
  notebookCatalogs: NotebookCatalogs,
  onCellEnd: (connection: string | undefined) => void,
): vscode.Disposable {
  const busy = new WeakSet<NotebookSession>();
  return kernels.onDidChange((session) => {
    if (session.state === 'busy') busy.add(session);
    else if (busy.delete(session)) {
      const choice = notebookCatalogs.choice(session.notebook);
      onCellEnd('connection' in choice ? choice.connection.name : undefined);
    }
  });
}

/** Marks cells whose outputs are from a kernel that was restarted or has ended, because their variables are lost. */
function registerRestartMarks(kernels: NotebookKernels): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  const provider: vscode.NotebookCellStatusBarItemProvider = {
    onDidChangeCellStatusBarItems: changed.event,
    provideCellStatusBarItems: (cell) => {
      if (kernels.session(cell.notebook)?.isStale(cell) !== true) return [];
      const item = new vscode.NotebookCellStatusBarItem(
        '$(history) Before restart',
        vscode.NotebookCellStatusBarAlignment.Left,
      );
      item.tooltip =
        'The kernel was restarted after this cell ran, so its variables are lost. Run the cell again to use them.';
      return item;
    },
  };
  return vscode.Disposable.from(
    changed,
    kernels.onDidChange(() => changed.fire()),
    vscode.notebooks.registerNotebookCellStatusBarItemProvider(notebookIds.notebookType, provider),
  );
}

/** How long the kernel may take to send an image. A cell that runs without a pause keeps it from replying. */
const pictureMs = 10_000;

/** Gets the whole image from the kernel when the user clicks a thumbnail in an output. */
function registerPictures(
  kernels: NotebookKernels,
  log: Log,
  messaging = vscode.notebooks.createRendererMessaging(notebookIds.renderer),
): vscode.Disposable {
  const read = async (notebook: vscode.NotebookDocument, place: PicturePlace): Promise<string | null> => {
    try {
      const kernel = await kernels.session(notebook)?.kernel;
      return (await kernel?.picture(place, AbortSignal.timeout(pictureMs))) ?? null;
    } catch (error) {
      logFailure(log, 'getting an image from the kernel', error);
      return null;
    }
  };
  return messaging.onDidReceiveMessage(({ editor, message }) => {
    if (!isPictureRequest(message)) return;
    const { request, place } = message;
    void read(editor.notebook, place).then((data) => {
      const reply: PictureReply = { kind: 'picture', request, data };
      return messaging.postMessage(reply, editor);
    });
  });
}

type NotebookServices = { kernels: NotebookKernels; variables: VariablesView; language: CellLanguage };

type Parts = { state: State; updates: Pick<TreeUpdates, 'cellEnded'> } & Omit<
  NotebookCommandDeps & KernelStarterDeps & CellLanguageDeps,
  'kernels' | 'variables' | 'kept' | 'notebookCatalogs' | 'tabs' | 'showView'
>;

/** Registers notebooks: kernels, variables view, language features of cells, debugger and commands. */
export function registerNotebooks(parts: Parts): vscode.Disposable & NotebookServices {
  const { log, state, connections, updates } = parts;
  const kept = new KeptKernels(state);
  const tabs = new NotebookTabs();
  const notebookCatalogs = new NotebookCatalogs(connections, state);
  const outputPanels = new OutputPanels({
    ...parts,
    kernels: () => kernels,
    isKept: (notebook) => kept.get(notebook) !== undefined,
  });
  parts.panels.outputSource = (title, place) => outputPanels.restored(title, place);
  const kernels: NotebookKernels = new NotebookKernels({
    log,
    notebookCatalogs,
    requireCatalog: requireCatalog({
      connections,
      notebookCatalogs,
      session: (notebook) => kernels.session(notebook),
    }),
    startKernel: kernelStarter({ ...parts, notebookCatalogs, kept, showView: (view) => outputPanels.view(view) }),
    kept,
    tabs,
  });
  const variables = new VariablesView(kernels, tabs, log);
  const cells = registerCellLanguage({ ...parts, notebookCatalogs, kernels, tabs });
  const registered = vscode.Disposable.from(
    tabs,
    kernels,
    notebookCatalogs,
    keepKernelsAlive(kept),
    variables,
    connections.onDidChange(() => kernels.renew()),
    registerNotebookCommands({ ...parts, notebookCatalogs, kernels, variables }),
    registerTableCode({ ...parts, notebookCatalogs }),
    registerNotebookDebugger({ log, kernels }),
    registerRestartMarks(kernels),
    registerPictures(kernels, log),
    registerOutputRequests({ openTable: (notebook, params) => outputPanels.open(notebook, params) }),
    registerCellEnds(kernels, notebookCatalogs, (connection) => updates.cellEnded(connection)),
    cells,
    registerJupyter(parts),
  );
  return { kernels, variables, language: cells.language, dispose: () => void registered.dispose() };
}
