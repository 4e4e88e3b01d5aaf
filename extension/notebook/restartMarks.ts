import * as vscode from 'vscode';
import { notebookIds } from '../manifest.ts';
import type { NotebookKernels } from './controller.ts';

/** Marks the cells whose outputs are of a kernel that was restarted or has ended: what they declared is gone. */
export function registerRestartMarks(kernels: NotebookKernels): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  const provider: vscode.NotebookCellStatusBarItemProvider = {
    onDidChangeCellStatusBarItems: changed.event,
    provideCellStatusBarItems: (cell) => {
      if (kernels.session(cell.notebook)?.isStale(cell) !== true) return [];
      const item = new vscode.NotebookCellStatusBarItem(
        '$(history) Before restart',
        vscode.NotebookCellStatusBarAlignment.Left,
      );
      item.tooltip = 'The kernel was restarted after this cell ran: what it declared is gone. Run it again to use it.';
      return item;
    },
  };
  return vscode.Disposable.from(
    changed,
    kernels.onDidChange(() => changed.fire()),
    vscode.notebooks.registerNotebookCellStatusBarItemProvider(notebookIds.notebookType, provider),
  );
}
