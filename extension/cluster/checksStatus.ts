import type * as vscode from 'vscode';
import { ageText, agoText } from '#shared/format/times.ts';
import { countsOf } from './checkBoard.ts';
import { countsText } from './checkWords.ts';
import type { ClusterChecks } from './clusterChecks.ts';
import { markdown, plainText } from '../host/inertMarkdown.ts';
import { StatusItem, type StatusPart } from '../host/messages.ts';
import { viewIds } from '../manifest.ts';
import { AgeTimer } from './ageTimer.ts';

export class ChecksStatus implements vscode.Disposable {
  readonly #checks: ClusterChecks;
  readonly #item = new StatusItem({
    id: 'lanceCatalog.checks',
    name: 'Lance Cluster Checks',
    priority: 50,
    command: { command: `${viewIds.checks}.focus`, title: 'Show Cluster Checks' },
  });
  readonly #listening: vscode.Disposable;
  readonly #timer = new AgeTimer(() => this.#update());

  constructor(checks: ClusterChecks) {
    this.#checks = checks;
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
      return this.#item.show({
        parts: [{ icon: 'loading~spin', text: `Lance: ${answered.size} of ${all}` }],
        tooltip: markdown`Checks of **${plainText(profile)}**`,
        spoken: `Lance cluster checks: ${answered.size} of ${all} finished`,
      });
    }
    if (!report) return this.#item.hide();
    const now = Date.now();
    const told = countsText(counts);
    const ago = agoText(report.startedAt, now);
    this.#item.show({
      parts: statusParts(counts, ageText(report.startedAt, now)),
      tooltip: markdown`Checks of **${plainText(profile)}**, ${plainText(ago)}: ${plainText(told)}.`,
      spoken: `Lance cluster checks of ${profile}, ${ago}: ${told}`,
    });
  }
}

/** Returns for example `Lance: ✓ 38 ⚠ 2 ✗ 1 · 3 min`, with VS Code's icons. */
const statusParts = (
  { pass, warn, fail, blocked }: Record<'pass' | 'warn' | 'fail' | 'blocked', number>,
  age: string,
): StatusPart[] => [
  'Lance:',
  { icon: 'pass', text: String(pass) },
  ...(warn > 0 ? [{ icon: 'warning', text: String(warn) }] : []),
  ...(fail > 0 ? [{ icon: 'error', text: String(fail) }] : []),
  ...(blocked > 0 ? [{ icon: 'circle-slash', text: String(blocked) }] : []),
  `· ${age}`,
];
