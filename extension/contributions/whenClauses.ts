import { notebookIds, panelTypes, viewFileEditorId, viewIds, type ContextId } from '../manifest.ts';

// Builds `when` clauses for VS Code. An id that this extension does not have is a type error.

export const all = (...clauses: readonly string[]): string => clauses.join(' && ');
export const any = (...clauses: readonly string[]): string => clauses.join(' || ');
export const not = (clause: string): string => `!${clause}`;
/** Required around an `any` inside an `all`, because `&&` binds more tightly than `||`. */
export const grouped = (clause: string): string => `(${clause})`;

export const contextKey = (id: ContextId): string => id;
export const inView = (name: keyof typeof viewIds): string => `view == ${viewIds[name]}`;
export const viewHasFocus = (name: keyof typeof viewIds): string => `focusedView == ${viewIds[name]}`;
/** True for a tree row whose `contextValue` matches the pattern. */
export const item = (pattern: RegExp): string => `viewItem =~ /${pattern.source}/`;
/** True if the `contextValue` of the selected row of the catalog tree matches the pattern. */
export const selected = (pattern: RegExp): string =>
  `${contextKey('lanceCatalog.catalog.selected')} =~ /${pattern.source}/`;
export const itemIs = (contextValue: string): string => `viewItem == ${contextValue}`;

/** Hides a command from the palette, because the command needs an argument such as a tree row. */
export const never = 'false';
export const isTrusted = 'isWorkspaceTrusted';
export const isNotebook = `notebookType == ${notebookIds.notebookType}`;
export const isCodeCell = 'notebookCellType == code';
/** A panel with a table, or the editor of a view file, is active. */
export const isTablePanel = `(activeWebviewPanelId == '${panelTypes.table}' || activeCustomEditorId == '${viewFileEditorId}')`;
/** The file is in SQL, whether or not it is bound to a connection. Old versions of files have other schemes. */
export const isSql = all('resourceLangId == sql', 'resourceScheme =~ /^(file|untitled|vscode-remote)$/');
/** True for the file of an editor, also if another editor is active. */
export const isBoundSql = `resourcePath in ${contextKey('lanceCatalog.sql.bound')}`;
export const isSqlRunning = `resourcePath in ${contextKey('lanceCatalog.sql.running')}`;
export const isSqlIdle = `resourcePath not in ${contextKey('lanceCatalog.sql.running')}`;
export const isJobFile = String.raw`resourceFilename =~ /\.lance-job\.json$/`;
export const isFunctionDocument = 'resourceScheme == lance-function';
export const isFixDocument = 'resourceScheme == lance-mend';

/** VS Code reports our kernel as the kernel of the notebook. VS Code reports a kernel only after a cell has run. */
export const isOurKernel = `notebookKernel == '${notebookIds.extension}/${notebookIds.controller}'`;
/** Our kernel runs for the notebook, whether or not VS Code reports a kernel. */
export const hasOurKernel = all(
  `notebookType == '${notebookIds.notebookType}'`,
  contextKey('lanceCatalog.notebook.hasKernel'),
);
/** `isOurKernel` is true, or our kernel runs and VS Code reports no kernel. */
export const mayBeOurKernel = any(isOurKernel, all('!notebookKernel', contextKey('lanceCatalog.notebook.hasKernel')));
