import * as vscode from 'vscode';
import { ageText, agoText } from '#shared/format/times.ts';
import { countsOf } from './checkBoard.ts';
import { countsText } from './checkWords.ts';
import type { ClusterChecks } from './clusterChecks.ts';
import { plainText } from '../host/notifications.ts';
import { viewIds } from '../manifest.ts';
import { AgeTimer } from './ageTimer.ts';

export class ChecksStatus implements vscode.Disposable {
  readonly #checks: ClusterChecks;
  readonly #item: vscode.StatusBarItem;
  readonly #listening: vscode.Disposable;
  readonly #timer = new AgeTimer(() => this.#update());

  constructor(checks: ClusterChecks) {
    this.#checks = checks;
    this.#item = vscode.window.createStatusBarItem('lanceCatalog.checks', vscode.StatusBarAlignment.Right, 50);
    this.#item.name = 'Lance Cluster Checks';
    this.#item.command = { command: `${viewIds.checks}.focus`, title: 'Show Cluster Checks' };
    this.#listening = checks.onDidChange(() => this.#update());
    this.#update();
  }

  /** For tests. */
  get text(): string {
    return this.#item.text;
  }

  dispose(): void {
    this.#timer.dispose();
    this.#listening.dispose();
    this.#item.dispose();
  }

  #update(): void {
    const { board } = this.#checks;
    this.#timer.isNeeded = board?.report !== undefined && !board.isRunning;
    if (!board) return this.#item.hide();
    const { profile, report, isRunning, answered, pending } = board;
    const counts = countsOf(board);
    if (isRunning) {
      const all = answered.size + pending.size;
      this.#item.text = `$(loading~spin) Lance: ${answered.size} of ${all}`;
      this.#item.tooltip = new vscode.MarkdownString(`Checks of **${plainText(profile)}**`);
      this.#item.accessibilityInformation = { label: `Lance cluster checks: ${answered.size} of ${all} finished` };
      return this.#item.show();
    }
    if (!report) return this.#item.hide();
    const now = Date.now();
    const told = countsText(counts);
    this.#item.text = statusText(counts, ageText(report.startedAt, now));
    this.#item.tooltip = new vscode.MarkdownString(
      `Checks of **${plainText(profile)}**, ${agoText(report.startedAt, now)}: ${told}.`,
    );
    this.#item.accessibilityInformation = {
      label: `Lance cluster checks of ${profile}, ${agoText(report.startedAt, now)}: ${told}`,
    };
    this.#item.show();
  }
}

/** Returns for example `Lance: ✓ 38 ⚠ 2 ✗ 1 · 3 min`, with VS Code's icons. */
const statusText = ({ pass, warn, fail, blocked }: Record<'pass' | 'warn' | 'fail' | 'blocked', number>, age: string) =>
  [
    'Lance:',
    `$(pass) ${pass}`,
    ...(warn > 0 ? [`$(warning) ${warn}`] : []),
    ...(fail > 0 ? [`$(error) ${fail}`] : []),
    ...(blocked > 0 ? [`$(circle-slash) ${blocked}`] : []),
    `· ${age}`,
  ].join(' ');
