import * as vscode from 'vscode';
import type { CommandId } from '../../manifest.ts';

const lenses: readonly (readonly [title: string, command: CommandId, tooltip: string])[] = [
  ['$(check) Check', 'lanceCatalog.jobFile.check', 'Reads the function and finds the table and column; runs nothing'],
  ['Plan', 'lanceCatalog.jobFile.plan', 'Shows what a run would do; changes nothing'],
  ['Try', 'lanceCatalog.jobFile.try', 'Computes one fragment and shows the rows before and after; writes nothing'],
  ['$(play) Run', 'lanceCatalog.jobFile.run', 'Starts the job, which continues after the window is closed'],
];

/** Provides Check | Plan | Try | Run above a job file in a trusted workspace. */
export class JobFileLenses implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #trusted = vscode.workspace.onDidGrantWorkspaceTrust(() => this.#changed.fire());
  readonly onDidChangeCodeLenses = this.#changed.event;

  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    if (!vscode.workspace.isTrusted) return [];
    const top = new vscode.Range(0, 0, 0, 0);
    return lenses.map(
      ([title, command, tooltip]) => new vscode.CodeLens(top, { title, command, tooltip, arguments: [uri] }),
    );
  }

  dispose(): void {
    this.#trusted.dispose();
    this.#changed.dispose();
  }
}
