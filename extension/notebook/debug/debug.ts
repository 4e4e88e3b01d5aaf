import * as vscode from 'vscode';
import { CatalogError } from '#shared/errors.ts';
import { registerCommand, runCommand } from '../../host/commands.ts';
import type { Log } from '../../host/log.ts';
import { debuggerType } from '../../manifest.ts';
import type { NotebookKernels } from '../controller.ts';
import { NotebookDebugAdapter } from './debugAdapter.ts';
import { cellNamed, titleOf } from './debugSources.ts';

type DebugDeps = { log: Log; kernels: NotebookKernels };

export function registerNotebookDebugger({ log, kernels }: DebugDeps): vscode.Disposable {
  const adapters = new Set<NotebookDebugAdapter>();

  /** @throws CatalogError if the cell can't be debugged, or its notebook is being debugged */
  function targetOf(configuration: vscode.DebugConfiguration): vscode.NotebookCell {
    const cell = cellOf(configuration);
    kernels.require(cell.notebook);
    const isDebugged = [...adapters].some((one) => !one.isOver && one.notebook === cell.notebook);
    if (!isDebugged) return cell;
    throw new CatalogError(
      'InvalidInput',
      'A cell of this notebook is being debugged.',
      'Finish or stop debugging that cell first.',
    );
  }

  return vscode.Disposable.from(
    vscode.debug.registerDebugConfigurationProvider(debuggerType, {
      resolveDebugConfiguration: (_, given) =>
        runCommand(log, 'debugging a cell', () => {
          const cell = targetOf(given);
          return { ...configurationOf(cell), ...given, cell: cell.document.uri.toString() };
        }),
    }),
    vscode.debug.registerDebugAdapterDescriptorFactory(debuggerType, {
      createDebugAdapterDescriptor: ({ configuration }) => {
        const cell = targetOf(configuration);
        const adapter = new NotebookDebugAdapter(kernels.require(cell.notebook), cell);
        for (const one of adapters) if (one.isOver) adapters.delete(one);
        adapters.add(adapter);
        return new vscode.DebugAdapterInlineImplementation(adapter);
      },
    }),
    registerCommand(log, 'lanceCatalog.notebook.debugCell', async (given) => {
      const cell = given ?? selectedCell();
      // Don't save the notebook: a cell also runs with unsaved changes.
      const options = { suppressSaveBeforeStart: true };
      await vscode.debug.startDebugging(undefined, configurationOf(cell), options);
    }),
  );
}

const configurationOf = (cell: vscode.NotebookCell): vscode.DebugConfiguration => ({
  type: debuggerType,
  // Attach instead of launch, because the kernel must continue when debugging stops.
  request: 'attach',
  name: titleOf(cell),
  // The output of a cell is shown below the cell, so the debug console would only take space from the notebook.
  internalConsoleOptions: 'neverOpen',
  cell: cell.document.uri.toString(),
});

/** Returns the cell that a configuration names, or the selected cell for a configuration that names none. */
function cellOf({ cell: name }: vscode.DebugConfiguration): vscode.NotebookCell {
  if (typeof name !== 'string') return selectedCell();
  for (const notebook of vscode.workspace.notebookDocuments) {
    const cell = cellNamed(notebook, name);
    if (cell) return cell;
  }
  throw new CatalogError('InvalidInput', 'The cell no longer exists.', 'Debug another cell.');
}

/** @throws CatalogError InvalidInput (13) if no code cell is selected */
function selectedCell(): vscode.NotebookCell {
  const editor = vscode.window.activeNotebookEditor;
  const cell = editor && editor.notebook.cellCount > 0 ? editor.notebook.cellAt(editor.selection.start) : undefined;
  if (cell?.kind === vscode.NotebookCellKind.Code) return cell;
  throw new CatalogError('InvalidInput', 'No code cell is selected.', 'Select one in a notebook and try again.');
}
