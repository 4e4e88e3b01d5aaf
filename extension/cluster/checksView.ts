import * as vscode from 'vscode';
import { agoText } from '#shared/format/times.ts';
import { setContext } from '../host/commands.ts';
import { createMarkdown } from '../host/messages.ts';
import { createTreeItem, type TreeRow } from '../host/treeRow.ts';
import { viewIds } from '../manifest.ts';
import { AgeTimer } from './ageTimer.ts';
import { type CheckRunState, countsOf } from './checkBoard.ts';
import { type CheckNode, renderRow, rowsOf } from './checkRows.ts';
import type { ClusterChecks } from './clusterChecks.ts';
import type { ClusterProfiles } from './clusterProfiles.ts';

/** The view of checks by category, which shows the board of `ClusterChecks`. */
export class ChecksView implements vscode.TreeDataProvider<CheckNode>, vscode.Disposable {
  readonly #checks: ClusterChecks;
  readonly #changed = new vscode.EventEmitter<CheckNode | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  /** The object of each row. Each row keeps its object, because VS Code identifies a row by object identity. */
  readonly #nodes = new Map<string, CheckNode>();
  readonly #view: vscode.TreeView<CheckNode>;
  readonly #subscriptions: vscode.Disposable[];
  readonly #timer = new AgeTimer(() => this.#tellAge());
  readonly #profiles: ClusterProfiles;
  #onlyProblems = false;
  #isShown = false;

  constructor(checks: ClusterChecks, profiles: ClusterProfiles) {
    this.#checks = checks;
    this.#profiles = profiles;
    this.#view = vscode.window.createTreeView(viewIds.checks, { treeDataProvider: this });
    this.#subscriptions = [
      checks.onDidChange(() => this.#update()),
      profiles.onDidChange(() => this.#update()),
      this.#view.onDidChangeVisibility(() => this.#tellAge()),
      this.#timer,
      this.#view,
      this.#changed,
    ];
    this.#update();
  }

  get selected(): CheckNode | undefined {
    return this.#view.selection[0];
  }

  /** The message above the rows. Only tests read `message` and `badge`. */
  get message(): string | undefined {
    return this.#view.message;
  }

  get badge(): vscode.ViewBadge | undefined {
    return this.#view.badge;
  }

  get onlyProblems(): boolean {
    return this.#onlyProblems;
  }

  set onlyProblems(onlyProblems: boolean) {
    this.#onlyProblems = onlyProblems;
    this.#update();
  }

  getChildren(parent?: CheckNode): CheckNode[] {
    const { board } = this.#checks;
    return board ? rowsOf(board, parent, this.#onlyProblems).map((node) => this.#known(node)) : [];
  }

  getParent(node: CheckNode): CheckNode | undefined {
    return node.kind === 'check' ? this.#known({ kind: 'category', category: node.category }) : undefined;
  }

  getTreeItem(node: CheckNode): vscode.TreeItem {
    const { board } = this.#checks;
    return board ? toTreeItem(renderRow(board, node), node) : new vscode.TreeItem('');
  }

  /** Focuses the view with its focus command, because there may be no row to reveal. */
  async focus(): Promise<void> {
    this.#show();
    await vscode.commands.executeCommand(`${viewIds.checks}.focus`);
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #update(): void {
    const { board, isRunning } = this.#checks;
    if (board || Object.keys(this.#profiles.written()).length > 0) this.#show();
    setContext('lanceCatalog.cluster.isRunning', isRunning);
    setContext('lanceCatalog.cluster.hasReport', board?.report !== undefined);
    setContext('lanceCatalog.cluster.onlyProblems', this.#onlyProblems);
    this.#tellAge();
    // An empty string removes the message line.
    this.#view.message = (board && messageOf(board, this.#onlyProblems)) ?? '';
    const failed = board ? countsOf(board).fail : 0;
    this.#view.badge =
      failed > 0 ? { value: failed, tooltip: `${failed} ${failed === 1 ? 'check' : 'checks'} failed` } : undefined;
    this.#changed.fire(undefined);
  }

  /** Makes the view visible, once a profile exists or the user opens it. Until then, the catalog view has the space. */
  #show(): void {
    if (this.#isShown) return;
    this.#isShown = true;
    setContext('lanceCatalog.cluster.isShown', true);
  }

  #tellAge(): void {
    const { board } = this.#checks;
    this.#view.description = board ? titleOf(board) : '';
    this.#timer.isNeeded = this.#view.visible && board?.report !== undefined && !board.isRunning;
  }

  #known(node: CheckNode): CheckNode {
    const key = node.kind === 'check' ? node.id : `category ${node.category}`;
    const known = this.#nodes.get(key) ?? node;
    this.#nodes.set(key, known);
    return known;
  }
}

const titleOf = ({ profile, report, isRunning }: CheckRunState): string =>
  isRunning || !report ? profile : `${profile} · ${agoText(report.startedAt, Date.now())}`;

function messageOf(board: CheckRunState, onlyProblems: boolean): string | undefined {
  const { isRunning, answered, pending, report } = board;
  if (isRunning) return `Checking the cluster: ${answered.size} of ${answered.size + pending.size} checks finished.`;
  const { pass, fail, warn, blocked } = countsOf(board);
  const stopped = report?.stopped === true ? 'The run was stopped before it finished.' : undefined;
  if (!onlyProblems) return stopped;
  if (fail + warn + blocked > 0) return `Only problems are listed; ${pass} more checks passed.`;
  return `No problems found; ${pass} checks passed. To list them, choose "Show All Checks".`;
}

function toTreeItem(row: TreeRow, node: CheckNode): vscode.TreeItem {
  const show = { command: 'lanceCatalog.cluster.showEvidence', title: 'Show Evidence', arguments: [node] };
  return createTreeItem(row, createMarkdown(row.tooltip), node.kind === 'check' ? show : undefined);
}
