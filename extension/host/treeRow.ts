import * as vscode from 'vscode';

/** A row of a tree as data. Renderers import only this type, so that their tests need no editor. */
export type TreeRow = {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  /** Markdown with escaped text in views of checks and jobs, plain text in the catalog tree. */
  readonly tooltip: string;
  /** For screen readers. */
  readonly spoken: string;
  /** A product icon (see "Product Icon Reference") and its theme color. */
  readonly icon: { readonly id: string; readonly color?: string };
  /** `leaf` if absent. */
  readonly state?: 'leaf' | 'collapsed' | 'expanded';
  /** Value of `viewItem` in `when` clauses of menus: words separated by dots, the kind of row first. */
  readonly contextValue: string;
};

/** Converts a row for the editor. The caller decides whether its tooltip is Markdown. */
export function createTreeItem(
  row: TreeRow,
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
