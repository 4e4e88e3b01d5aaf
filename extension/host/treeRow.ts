import * as vscode from 'vscode';
import type { InertMarkdown } from './inertMarkdown.ts';

/**
 * A row of a tree as data. Renderers import only this type, so that their tests need no editor. The tooltip is plain
 * text in the catalog tree, Markdown in views of checks and jobs.
 */
export type TreeRow<Tooltip extends string = InertMarkdown> = {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly tooltip: Tooltip;
  /** For screen readers. */
  readonly spoken: string;
  /** A product icon (see "Product Icon Reference") and its theme color. */
  readonly icon: { readonly id: string; readonly color?: string };
  /** `leaf` if absent. */
  readonly state?: 'leaf' | 'collapsed' | 'expanded';
  /** Value of `viewItem` in `when` clauses of menus: words separated by dots, the kind of row first. */
  readonly contextValue: string;
};

/** Converts a row to VS Code's type. VS Code shows a tooltip that is a string as plain text. */
export function createTreeItem(
  row: TreeRow<string>,
  tooltip: string | vscode.MarkdownString,
  command: vscode.Command | undefined,
): vscode.TreeItem {
  const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const state = { leaf: None, collapsed: Collapsed, expanded: Expanded }[row.state ?? 'leaf'];
  const { id, color } = row.icon;
  const item = new vscode.TreeItem(row.label, state);
  item.id = row.id;
  item.description = row.description;
  item.tooltip = tooltip;
  item.iconPath = new vscode.ThemeIcon(id, color === undefined ? undefined : new vscode.ThemeColor(color));
  item.contextValue = row.contextValue;
  item.accessibilityInformation = { label: row.spoken };
  if (command) item.command = command;
  return item;
}
