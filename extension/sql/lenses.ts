import * as vscode from 'vscode';
import { statementsIn } from '#catalog/sqlStatements.ts';
import type { CommandId } from '../manifest.ts';
import type { SqlFiles } from './sqlFiles.ts';

/** Files with more statements have no lenses, because each lens takes a line. */
const maxStatements = 200;

/** Provides Run above each statement of a bound file in a trusted workspace. */
export class SqlLenses implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #files: SqlFiles;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable[];
  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(files: SqlFiles, onDidChangeConnections: vscode.Event<void>) {
    this.#files = files;
    const changed = (): void => this.#changed.fire();
    this.#subscriptions = [
      this.#changed,
      files.onDidChange(changed),
      onDidChangeConnections(changed),
      vscode.workspace.onDidGrantWorkspaceTrust(changed),
    ];
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const connection = this.#files.connectionOf(document);
    if (!connection || !vscode.workspace.isTrusted) return [];
    const statements = statementsIn(document.getText());
    if (statements.length > maxStatements) return [];
    const command = 'lanceCatalog.sql.run' satisfies CommandId;
    const tooltip = `Runs this statement on ${connection.name}`;
    return statements.map(({ start }) => {
      const at = document.positionAt(start);
      const place = { uri: document.uri, offset: start };
      return new vscode.CodeLens(new vscode.Range(at, at), {
        title: '$(play) Run',
        command,
        tooltip,
        arguments: [place],
      });
    });
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}
