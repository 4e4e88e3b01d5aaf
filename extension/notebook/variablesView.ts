import * as vscode from 'vscode';
import { isAbort, messageOf } from '#shared/errors.ts';
import type { VariableInfo } from '#shared/protocol/kernelMessages.ts';
import { setContext } from '../host/commands.ts';
import { codeBlock, paragraphs, plainText } from '../host/inertMarkdown.ts';
import type { Log } from '../host/log.ts';
import { createMarkdown } from '../host/messages.ts';
import { notebookIds, viewIds } from '../manifest.ts';
import type { NotebookKernels } from './controller.ts';
import type { NotebookTabs } from './notebookTabs.ts';
import type { NotebookSession } from './session.ts';

/**
 * Lists the variables of the active notebook after each run of a cell. The variables stay listed while another editor
 * is active, for example the panel of a table.
 */
export class VariablesView implements vscode.Disposable, vscode.TreeDataProvider<VariableInfo> {
  readonly #kernels: NotebookKernels;
  readonly #tabs: Pick<NotebookTabs, 'isClosed'>;
  readonly #log: Log;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #view: vscode.TreeView<VariableInfo>;
  readonly #subscriptions: vscode.Disposable[];
  #variables: readonly VariableInfo[] = [];
  #session: NotebookSession | undefined;
  /** The active notebook, else the notebook that was active last. */
  #notebook: vscode.NotebookDocument | undefined;
  #asking = new AbortController();

  constructor(kernels: NotebookKernels, tabs: NotebookTabs, log: Log) {
    this.#kernels = kernels;
    this.#tabs = tabs;
    this.#log = log;
    this.#view = vscode.window.createTreeView(viewIds.variables, { treeDataProvider: this });
    this.#subscriptions = [
      this.#view,
      this.#changed,
      this.#view.onDidChangeVisibility(() => this.#update()),
      vscode.window.onDidChangeActiveNotebookEditor(() => this.#update()),
      vscode.workspace.onDidCloseNotebookDocument((notebook) => notebook === this.#notebook && this.#update()),
      kernels.onDidChange((session) => session.notebook === this.#notebook && this.#update()),
    ];
    this.#update();
  }

  get session(): NotebookSession | undefined {
    return this.#session;
  }

  /** For tests. */
  get variables(): readonly VariableInfo[] {
    return this.#variables;
  }

  /** For tests. */
  get message(): string | undefined {
    return this.#view.message;
  }

  getChildren(parent?: VariableInfo): VariableInfo[] {
    return parent ? [] : [...this.#variables];
  }

  getTreeItem(variable: VariableInfo): vscode.TreeItem {
    const { name, type, size, preview, isTable } = variable;
    const item = new vscode.TreeItem(name);
    item.id = name;
    const what = [type, size].filter(Boolean).join(' · ');
    item.description = [what, preview].filter(Boolean).join(' — ');
    item.tooltip = createMarkdown(
      paragraphs([plainText(`${name}: ${what}`), preview ? codeBlock(preview, 'typescript') : undefined]),
    );
    item.iconPath = new vscode.ThemeIcon(iconOf(variable));
    item.contextValue = isTable ? 'variable.table' : 'variable';
    item.accessibilityInformation = { label: `${name}, ${what}, ${preview}` };
    if (isTable)
      item.command = { command: 'lanceCatalog.notebook.openVariable', title: 'Show Table', arguments: [variable] };
    return item;
  }

  dispose(): void {
    this.#asking.abort();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #update(): void {
    const active = vscode.window.activeNotebookEditor?.notebook;
    setContext('lanceCatalog.notebook.hasKernel', this.#sessionOf(active) !== undefined);
    if (active) this.#notebook = active;
    else if (this.#notebook && (this.#notebook.isClosed || this.#tabs.isClosed(this.#notebook)))
      this.#notebook = undefined;
    const session = this.#sessionOf(this.#notebook);
    setContext('lanceCatalog.notebook.hasVariables', session !== undefined);
    if (session !== this.#session) this.#show([], undefined);
    this.#session = session;
    this.#asking.abort();
    if (!session || !this.#view.visible) return;
    switch (session.state) {
      case 'none':
        return this.#show([], 'The kernel is not running. It starts with the next cell.');
      case 'starting':
        return this.#show([], 'The kernel is starting.');
      case 'busy':
        this.#view.message = runningMessage(this.#variables.length > 0);
        return undefined;
      case 'idle':
        this.#asking = new AbortController();
        void this.#ask(session, this.#asking.signal);
    }
  }

  #sessionOf(notebook: vscode.NotebookDocument | undefined): NotebookSession | undefined {
    return notebook?.notebookType === notebookIds.notebookType ? this.#kernels.session(notebook) : undefined;
  }

  async #ask(session: NotebookSession, signal: AbortSignal): Promise<void> {
    try {
      const kernel = await session.kernel;
      const list = await kernel?.variables(signal);
      if (!list || signal.aborted) return;
      const { variables, omitted } = list;
      const none = variables.length === 0 ? 'No variables yet. Run a cell that declares one.' : undefined;
      this.#show(variables, omitted > 0 ? `${omitted} more variables are not listed.` : none);
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      this.#log.debug(`variables: ${messageOf(error)}`);
      this.#show([], `Can't list the variables of the kernel: ${messageOf(error)}`);
    }
  }

  #show(variables: readonly VariableInfo[], message: string | undefined): void {
    this.#variables = variables;
    // An empty string removes the message line.
    this.#view.message = message ?? '';
    this.#changed.fire(undefined);
  }
}

/** Returns the message while a cell runs; the list is read when the kernel is idle again. */
const runningMessage = (isListed: boolean): string =>
  isListed
    ? 'A cell is running. These are the variables as they were before it started; the list is updated when it ends.'
    : 'A cell is running. The variables are listed when it ends.';

function iconOf({ type, isTable }: VariableInfo): string {
  if (isTable) return 'table';
  switch (type) {
    case 'function':
      return 'symbol-function';
    case 'class':
      return 'symbol-class';
    case 'string':
      return 'symbol-string';
    case 'number':
    case 'bigint':
      return 'symbol-number';
    case 'boolean':
      return 'symbol-boolean';
    case 'Array':
      return 'symbol-array';
    default:
      return 'symbol-variable';
  }
}
