import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { holdFile } from '#shared/keptKernel.ts';
import type { KeptKernels } from './keptKernels.ts';

const againMilliseconds = 2000;

/**
 * After a reload the editor opens a notebook only when its tab is looked at. Until then its kernel waits, as long as this
 * goes on asking it to.
 */
export function holdKernels(kept: KeptKernels): vscode.Disposable {
  const hold = (): void => {
    const open = new Set(vscode.workspace.notebookDocuments.map(({ uri }) => uri.toString()));
    for (const tab of vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs)) {
      const uri = tab.input instanceof vscode.TabInputNotebook ? tab.input.uri : undefined;
      const record = uri && !open.has(uri.toString()) ? kept.get(uri) : undefined;
      // Without its folder the kernel is gone, which is said when the notebook is opened.
      if (record) writeFile(join(record.folder, holdFile), '').catch(() => undefined);
    }
  };
  hold();
  const timer = setInterval(hold, againMilliseconds);
  return { dispose: () => clearInterval(timer) };
}
