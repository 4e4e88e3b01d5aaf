import * as vscode from 'vscode';
import { CatalogError } from '#shared/errors.ts';
import { askConnection } from '../connections/askConnection.ts';
import { ConnectionBindings } from '../connections/bindings.ts';
import { connectionLabel } from '../connections/connectionRules.ts';
import type { Connections } from '../connections/connections.ts';
import type { Connection } from '../explorer/node.ts';
import { setContext } from '../host/commands.ts';
import { type InertMarkdown, markdown, plainText } from '../host/inertMarkdown.ts';
import { StatusItem } from '../host/messages.ts';
import type { State } from '../host/state.ts';

/** Files and untitled files in SQL. Cells of notebooks, and old versions of files, are not among them. */
export const sqlSelector: vscode.DocumentFilter[] = ['file', 'untitled'].map((scheme) => ({ language: 'sql', scheme }));

export const isSqlDocument = (document: vscode.TextDocument): boolean =>
  vscode.languages.match(sqlSelector, document) > 0;

/**
 * The connections of SQL files. A file is bound when the user chooses a connection for it, and never by being opened:
 * other extensions may handle files that are not bound.
 */
export class SqlFiles implements vscode.Disposable {
  readonly #connections: Connections;
  readonly #bindings: ConnectionBindings;
  readonly #subscriptions: vscode.Disposable[];
  readonly onDidChange: vscode.Event<void>;

  constructor(connections: Connections, state: State) {
    this.#connections = connections;
    this.#bindings = new ConnectionBindings({
      read: () => state.sqlConnections(),
      write: (names) => state.setSqlConnections(names),
    });
    this.onDidChange = this.#bindings.onDidChange;
    const { workspace } = vscode;
    this.#subscriptions = [
      this.#bindings,
      workspace.onDidSaveTextDocument((document) => this.#inherit(document)),
      workspace.onDidCloseTextDocument(({ isUntitled, uri }) => {
        if (isUntitled) this.#bindings.forget(uri);
      }),
    ];
  }

  /** Returns the connection of a file; `undefined` if it is not bound, or its connection no longer exists. */
  connectionOf(document: vscode.TextDocument): Connection | undefined {
    const name = this.boundName(document);
    return this.#connections.list().find((one) => one.name === name);
  }

  /** Returns the name of the connection to which a file is bound, whether or not the connection exists. */
  boundName(document: vscode.TextDocument): string | undefined {
    return isSqlDocument(document) ? this.#bindings.get(document.uri) : undefined;
  }

  bind(document: vscode.TextDocument, connection: string): void {
    this.#bindings.bind(document.uri, connection);
  }

  /** Prompts for the connection of a file, also for the only one. Returns `undefined` if the user cancels. */
  async choose(document: vscode.TextDocument): Promise<Connection | undefined> {
    const missing = this.connectionOf(document) ? undefined : this.boundName(document);
    const title =
      missing === undefined
        ? 'Select the connection for this SQL file'
        : `The connection "${missing}" does not exist. Select another one for this SQL file`;
    const name = (await askConnection(title, this.#connections))?.name;
    if (name === undefined) return undefined;
    this.bind(document, name);
    return this.connectionOf(document);
  }

  /** Returns the connection of a file; prompts if it has none. */
  async require(document: vscode.TextDocument): Promise<Connection | undefined> {
    return this.connectionOf(document) ?? this.choose(document);
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  /**
   * Binds a saved file to the connection of the untitled file of which it is the new name. VS Code reports no such name,
   * and closes the untitled file after the new one was saved.
   */
  #inherit(saved: vscode.TextDocument): void {
    const text = saved.getText();
    if (text === '' || !isSqlDocument(saved) || this.boundName(saved) !== undefined) return;
    const untitled = vscode.workspace.textDocuments.find(
      (one) => one.isUntitled && this.boundName(one) !== undefined && one.getText() === text,
    );
    const connection = untitled && this.boundName(untitled);
    if (connection !== undefined) this.bind(saved, connection);
  }
}

/**
 * Returns the editor of a SQL file: the file that a button in a title passes, else the active one.
 * @throws CatalogError InvalidInput (13) if the active editor has no SQL file
 */
export function sqlEditor(file: unknown): vscode.TextEditor {
  const { activeTextEditor: active, visibleTextEditors: visible } = vscode.window;
  const key = file instanceof vscode.Uri ? file.toString() : undefined;
  // A file may be visible twice.
  const isMeant = ({ document }: vscode.TextEditor): boolean => key === undefined || document.uri.toString() === key;
  const editor = active && isMeant(active) ? active : key === undefined ? undefined : visible.find(isMeant);
  if (editor && isSqlDocument(editor.document)) return editor;
  throw new CatalogError('InvalidInput', 'No SQL file is active.', 'Open one, or run "New SQL Query".');
}

type StatusDeps = {
  files: SqlFiles;
  connections: Connections;
  isRunning: (document: vscode.TextDocument) => boolean;
  onDidChangeRuns: vscode.Event<void>;
};

/** Shows the connection of the active SQL file in the status bar, and sets the context keys of menus. */
export function sqlStatus({ files, connections, isRunning, onDidChangeRuns }: StatusDeps): vscode.Disposable {
  const item = new StatusItem({
    id: 'lanceCatalog.sql',
    name: 'SQL Connection',
    priority: 90,
    command: 'lanceCatalog.sql.chooseConnection',
  });
  const update = (): void => {
    const bound = vscode.workspace.textDocuments.filter((one) => files.connectionOf(one));
    setContext('lanceCatalog.sql.bound', bound.map(pathOf));
    setContext('lanceCatalog.sql.running', bound.filter(isRunning).map(pathOf));
    const document = vscode.window.activeTextEditor?.document;
    const connection = document && files.connectionOf(document);
    if (!document || !isSqlDocument(document)) return item.hide();
    const name = files.boundName(document);
    if (name === undefined && connections.list().length === 0) return item.hide();
    const { text, tooltip } = describe(name, connection);
    item.show({ parts: [{ icon: 'database', text }], tooltip, isWarning: name !== undefined && !connection });
  };
  update();
  return vscode.Disposable.from(
    item,
    vscode.window.onDidChangeActiveTextEditor(update),
    // The user may have changed the language of the document.
    vscode.workspace.onDidOpenTextDocument(update),
    connections.onDidChange(update),
    files.onDidChange(update),
    onDidChangeRuns(update),
  );
}

/** The path as VS Code has it in `resourcePath`. A URI would differ, because a remote window has another scheme. */
const pathOf = ({ uri }: vscode.TextDocument): string => uri.fsPath;

function describe(
  name: string | undefined,
  connection: Connection | undefined,
): { text: string; tooltip: InertMarkdown } {
  if (connection)
    return {
      text: `Lance: ${connection.name}`,
      tooltip: markdown`This SQL file runs on ${plainText(connectionLabel(connection))}. Click to choose another connection.`,
    };
  if (name !== undefined)
    return {
      text: `Lance: ${name} is missing`,
      tooltip: markdown`This SQL file uses the connection "${plainText(name)}", which does not exist. Click to choose another.`,
    };
  return {
    text: 'Lance: Choose Connection',
    tooltip: markdown`
Click to run this SQL file over Lance tables.
    `,
  };
}
