import { homedir } from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { messageOf } from '#shared/errors.ts';
import type { SavedView } from '#shared/protocol/panelViews.ts';
import { Endpoint } from '#shared/protocol/rpc.ts';
import {
  type PanelHostMethods,
  type PanelReview,
  type PanelViewMethods,
  type ReviewAction,
  reviewActions,
} from '#shared/protocol/webviewMessages.ts';
import { asRecord } from '#shared/records.ts';
import { maxViewFileBytes, type ViewFile, viewFileEnding } from '#shared/viewFile.ts';
import type { Connections } from '../connections/connections.ts';
import type { Connection } from '../explorer/node.ts';
import { runCommand } from '../host/commands.ts';
import type { Log } from '../host/log.ts';
import { webviewHtml } from '../panels/html.ts';
import type { TablePanel } from '../panels/tablePanel.ts';
import type { TablePanels } from '../panels/tablePanels.ts';
import { isSamePlace } from '../panels/tableSource.ts';
import type { ViewApprovals } from './viewApprovals.ts';
import { findConnection, rootOfFile } from './viewConnection.ts';
import type { ViewTextProblem } from './viewFileText.ts';
import { reviewOf, reviewOfProblem } from './viewReview.ts';

export type ViewFileDeps = {
  readonly log: Log;
  readonly dist: vscode.Uri;
  readonly panels: TablePanels;
  readonly connections: Connections;
  readonly approvals: ViewApprovals;
};

/** Opens view files: first what they name, and the rows after the user has chosen to show them. */
export class ViewFileEditors implements vscode.CustomReadonlyEditorProvider {
  readonly #deps: ViewFileDeps;
  readonly #open = new Set<ViewFileEditor>();

  constructor(deps: ViewFileDeps) {
    this.#deps = deps;
  }

  /** The open editors, for tests. */
  get all(): readonly ViewFileEditor[] {
    return [...this.#open];
  }

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  async resolveCustomEditor({ uri }: vscode.CustomDocument, panel: vscode.WebviewPanel): Promise<void> {
    const editor = new ViewFileEditor(this.#deps, uri, panel);
    this.#open.add(editor);
    panel.onDidDispose(() => {
      this.#open.delete(editor);
      editor.dispose();
    });
    await editor.draw();
  }
}

/** What a file has: a view, or a problem at a place. */
type Content =
  | {
      readonly kind: 'view';
      readonly text: string;
      readonly file: ViewFile;
      readonly connection: Connection | undefined;
    }
  | { readonly kind: 'problem'; readonly problem: ViewTextProblem };

const atStart = (message: string): Content => ({ kind: 'problem', problem: { line: 1, column: 1, message } });

/** The page of one view file. */
export class ViewFileEditor implements vscode.Disposable {
  readonly panel: vscode.WebviewPanel;
  readonly uri: vscode.Uri;
  readonly #deps: ViewFileDeps;
  readonly #subscriptions: vscode.Disposable[];
  #content: Content | undefined;
  #review: { readonly data: PanelReview; dispose(): void } | undefined;
  #table: TablePanel | undefined;
  /** Whether the user has chosen to show this content, until the editor is closed. */
  #shownText: string | undefined;
  #isClosed = false;

  constructor(deps: ViewFileDeps, uri: vscode.Uri, panel: vscode.WebviewPanel) {
    this.#deps = deps;
    this.uri = uri;
    this.panel = panel;
    const watcher = vscode.workspace.createFileSystemWatcher(
      new vscode.RelativePattern(vscode.Uri.joinPath(uri, '..'), `*${viewFileEnding}`),
    );
    const changed = (at: vscode.Uri): void => {
      if (at.toString() === uri.toString()) void this.draw();
    };
    this.#subscriptions = [
      watcher,
      watcher.onDidChange(changed),
      watcher.onDidCreate(changed),
      vscode.workspace.onDidGrantWorkspaceTrust(() => void this.draw()),
      deps.connections.onDidChange(() => void this.draw()),
    ];
  }

  /** What the page shows before the rows; undefined if it shows rows. */
  get review(): PanelReview | undefined {
    return this.#review?.data;
  }

  /** The rows; undefined before the user has chosen to show them. */
  get table(): TablePanel | undefined {
    return this.#table;
  }

  /** Reads the file again, and shows its rows if that was chosen for this content, else what it names. */
  async draw(): Promise<void> {
    const content = await this.#read();
    if (this.#isClosed) return;
    const before = this.#content;
    this.#content = content;
    if (content.kind === 'problem') return this.#showReview(reviewOfProblem(this.#name, content.problem));
    const { text, file, connection } = content;
    const isTrusted = vscode.workspace.isTrusted;
    const isFile = this.uri.scheme === 'file';
    const isChosen = connection && (this.#shownText === text || this.#deps.approvals.isApproved(text, connection));
    if (!isChosen || !isTrusted || !isFile) return this.#showReview(reviewOf({ file, connection, isTrusted, isFile }));
    const isSame = before?.kind === 'view' && before.text === text && before.connection?.name === connection.name;
    if (!this.#table || !isSame) await this.#showRows(content, connection);
  }

  dispose(): void {
    this.#isClosed = true;
    this.#review?.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  /** Runs what the user has chosen on the page. */
  async act(action: ReviewAction): Promise<void> {
    const content = this.#content;
    // Only what the page offers.
    if (!content || !this.#review?.data.actions.includes(action)) return;
    if (action === 'openText') return this.#openText(content);
    if (action === 'manageTrust') return void (await vscode.commands.executeCommand('workbench.trust.manage'));
    if (content.kind === 'problem') return;
    if (action === 'connect') return this.#connect(content.file);
    if (action === 'alwaysShowRows' && content.connection)
      await this.#deps.approvals.approve(content.text, content.connection);
    this.#shownText = content.text;
    await this.draw();
  }

  get #name(): string {
    return path.basename(this.uri.fsPath);
  }

  get #folder(): string {
    return path.dirname(this.uri.fsPath);
  }

  async #read(): Promise<Content> {
    const { fs } = vscode.workspace;
    try {
      const { size } = await fs.stat(this.uri);
      if (size > maxViewFileBytes) return atStart(`The file has more than ${maxViewFileBytes} bytes.`);
      const text = new TextDecoder('utf-8', { fatal: true }).decode(await fs.readFile(this.uri));
      const { readViewText } = await import('./viewFileText.ts');
      const read = readViewText(text);
      if ('problem' in read) return { kind: 'problem', problem: read.problem };
      const { file } = read;
      const place = { folder: this.#folder, home: homedir() };
      const connection = await findConnection(file.connection, place, this.#deps.connections.list());
      return { kind: 'view', text, file, connection };
    } catch (error) {
      return atStart(messageOf(error));
    }
  }

  async #openText(content: Content): Promise<void> {
    const { line, column } = content.kind === 'problem' ? content.problem : { line: 1, column: 1 };
    const at = new vscode.Position(line - 1, column - 1);
    const selection = new vscode.Range(at, at);
    await vscode.commands.executeCommand('vscode.openWith', this.uri, 'default', { selection });
  }

  /** Adds the connection that the file names. A server is asked about step by step, with these fields filled in. */
  async #connect({ connection }: ViewFile): Promise<void> {
    if (connection.kind === 'dir') {
      const root = rootOfFile(connection.path, { folder: this.#folder, home: homedir() });
      await vscode.commands.executeCommand('lanceCatalog.connection.add', { root });
      return;
    }
    const { uri, database, name } = connection;
    const server = {
      uri,
      isDraft: true,
      ...(database !== undefined && { database }),
      ...(name !== undefined && { name }),
    };
    await vscode.commands.executeCommand('lanceCatalog.connection.addRest', server);
  }

  #showReview(data: PanelReview): void {
    const { dist, log } = this.#deps;
    this.#closeTable();
    this.#review?.dispose();
    const { webview } = this.panel;
    const endpoint = new Endpoint<Pick<PanelHostMethods, 'ready' | 'act'>, PanelViewMethods>(
      (frame) => void webview.postMessage(frame),
      {
        // The page has no table. It shows the review instead.
        ready: async () => {
          await endpoint.request('review', data);
          return new Promise<never>(() => undefined);
        },
        act: async (params) => {
          const action = reviewActions.find((one) => one === asRecord(params)['action']);
          if (action) await runCommand(log, `${action} of ${this.#name}`, () => this.act(action));
          return null;
        },
      },
    );
    const listening = webview.onDidReceiveMessage((frame: unknown) => void endpoint.receive(frame));
    this.#review = {
      data,
      dispose: () => {
        listening.dispose();
        endpoint.close();
      },
    };
    this.panel.title = this.#name;
    webview.options = { enableScripts: true, localResourceRoots: [dist] };
    webview.html = webviewHtml(webview, dist, 'table', data.title, 'page');
  }

  async #showRows({ file }: Extract<Content, { kind: 'view' }>, { name }: Connection): Promise<void> {
    const { table, version, view, columns } = file;
    const place = { connection: name, path: table.slice(0, -1), table: table.at(-1) ?? '', version };
    const shown: SavedView = {
      name: this.#name.slice(0, -viewFileEnding.length),
      view,
      ...(columns && { columns }),
      ...(version !== undefined && { version }),
    };
    // The rows that are shown already were saved to this file.
    if (isSamePlace(this.#table?.place, place) && (await this.#table?.shownView.takeFile(shown)) === true) return;
    this.#review?.dispose();
    this.#review = undefined;
    this.#closeTable();
    this.#table = this.#deps.panels.showFile(this.panel, place, { uri: this.uri, shown });
  }

  #closeTable(): void {
    if (this.#table) this.#deps.panels.closeFile(this.#table);
    this.#table = undefined;
  }
}
