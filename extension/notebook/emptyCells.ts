import * as vscode from 'vscode';
import { notebookIds } from '../manifest.ts';
import { fieldsOf } from '../host/shape.ts';
import { jupyterId } from './jupyterExtension.ts';
import { kernelMetadata } from './newNotebook.ts';

/** With one of them a new notebook may be meant for Python. */
const pythonExtensions = [jupyterId, 'ms-python.python'];

/** Whether a notebook is one that was just made, for no kernel, where nothing but ours can run its cells. */
export function isNobodys(notebook: vscode.NotebookDocument): boolean {
  if (notebook.notebookType !== notebookIds.notebookType || !notebook.isUntitled || notebook.cellCount === 0)
    return false;
  if (ofFile(notebook)['kernelspec'] !== undefined) return false;
  return !pythonExtensions.some((id) => vscode.extensions.getExtension(id) !== undefined);
}

/**
 * Makes the code cells of a notebook ours while none has text: the editor makes those of a new one Python's, for which our
 * kernel has no triangle that works. Where there is text, it is the person's, and so is its language.
 */
export async function adoptEmptyCells(
  notebook: vscode.NotebookDocument,
  controller: vscode.NotebookController,
): Promise<void> {
  const cells = notebook.getCells().filter(({ kind }) => kind === vscode.NotebookCellKind.Code);
  if (cells.some(({ document }) => document.getText() !== '')) return;
  const others = cells.filter(({ document }) => controller.supportedLanguages?.includes(document.languageId) !== true);
  if (others.length === 0) return;
  for (const { document } of others) await vscode.languages.setTextDocumentLanguage(document, 'typescript');
  if (ofFile(notebook)['kernelspec'] !== undefined) return;
  const edit = new vscode.WorkspaceEdit();
  const metadata = { ...notebook.metadata, metadata: { ...ofFile(notebook), ...kernelMetadata } };
  edit.set(notebook.uri, [vscode.NotebookEdit.updateNotebookMetadata(metadata)]);
  await vscode.workspace.applyEdit(edit);
}

/** What the file says of itself, beside what the editor adds. */
const ofFile = ({ metadata }: vscode.NotebookDocument): Record<string, unknown> => fieldsOf(metadata['metadata']);
