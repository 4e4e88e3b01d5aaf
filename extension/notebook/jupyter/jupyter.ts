import type { Jupyter } from '@vscode/jupyter-extension';
import * as vscode from 'vscode';
import { CatalogError } from '#shared/errors.ts';
import { askText } from '../../host/ask.ts';
import { registerCommand, setContext } from '../../host/commands.ts';
import type { Log } from '../../host/log.ts';
import { notifyProgress } from '../../host/messages.ts';
import type { TablePanels } from '../../panels/tablePanels.ts';
import { hasJupyter, jupyterId } from './jupyterExtension.ts';
import { previewCode, variableProblem } from './kernelCode.ts';
import { readKernelTable } from './kernelTable.ts';

const update = (): void => setContext('lanceCatalog.jupyter.available', hasJupyter());

/** Registers the only command that requires the Jupyter extension. */
export function registerJupyter({ log, panels }: { log: Log; panels: TablePanels }): vscode.Disposable {
  update();
  return vscode.Disposable.from(
    vscode.extensions.onDidChange(update),
    registerCommand(log, 'lanceCatalog.jupyter.preview', (variable) => previewVariable(panels, variable)),
  );
}

async function previewVariable(panels: TablePanels, given?: string): Promise<void> {
  const notebook = vscode.window.activeNotebookEditor?.notebook;
  if (!notebook) {
    throw new CatalogError('InvalidInput', 'No notebook is active.', 'Open one and run a cell first.');
  }
  const kernel = await (await jupyter()).kernels.getKernel(notebook.uri);
  if (!kernel) {
    throw new CatalogError(
      'ServiceUnavailable',
      'This notebook has no running Jupyter kernel.',
      'Choose a Jupyter kernel and run a cell first.',
    );
  }
  const name =
    typeof given === 'string'
      ? given
      : await askText({
          title: 'Preview Table from Running Kernel',
          prompt: `Name of a table variable in the ${kernel.language} kernel`,
          placeHolder: 'table',
          value: selectedWord() ?? '',
          check: variableProblem,
        });
  if (name === undefined) return;
  const code = previewCode(kernel.language, name);
  const source = await notifyProgress(`Reading ${name} from the kernel`, ({ token }) =>
    readKernelTable(name, kernel.executeCode(code, token)),
  );
  await panels.preview(source);
}

/** @throws CatalogError ServiceUnavailable (17) if the Jupyter extension is missing or does not start */
async function jupyter(): Promise<Jupyter> {
  const extension = vscode.extensions.getExtension<Jupyter>(jupyterId);
  if (!extension) {
    throw new CatalogError(
      'ServiceUnavailable',
      'The Jupyter extension is not installed.',
      'Install ms-toolsai.jupyter.',
    );
  }
  try {
    return await extension.activate();
  } catch (cause) {
    throw new CatalogError(
      'ServiceUnavailable',
      'The Jupyter extension did not start.',
      'Read its log in the Output panel.',
      {
        cause,
      },
    );
  }
}

/** Returns the word at the cursor of the active cell, usually the name of the table. */
function selectedWord(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.uri.scheme !== 'vscode-notebook-cell') return undefined;
  const range = editor.document.getWordRangeAtPosition(editor.selection.active);
  return range && editor.document.getText(range);
}
