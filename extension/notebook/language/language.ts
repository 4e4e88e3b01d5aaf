import * as vscode from 'vscode';
import type { CatalogTree } from '../../explorer/tree.ts';
import type { Connections } from '../../connections/connections.ts';
import { notebookIds } from '../../manifest.ts';
import type { NotebookKernels } from '../controller.ts';
import type { NotebookTabs } from '../notebookTabs.ts';
import { cellCompletion } from './completion.ts';
import { cellDefinition, cellHover, cellSignature } from './hover.ts';
import { KernelCompletions } from './kernelCompletions.ts';
import { TypeScriptSilencer, type LanguageMuteDeps } from './typeScriptSilencer.ts';
import { LanguageNames, type LanguageNamesDeps } from './names.ts';
import { LanguageNotebooks } from './notebooks.ts';
import { OtherProviders } from './requests.ts';
import type { CellLanguage } from './cellLanguage.ts';
import { TableTypes } from './tableTypes.ts';
import { LanguageWorker } from './worker.ts';

export type CellLanguageDeps = LanguageNamesDeps &
  Pick<LanguageMuteDeps, 'log'> & {
    connections: Connections;
    tree: Pick<CatalogTree, 'onDidRefresh'>;
    kernels: NotebookKernels;
    tabs: NotebookTabs;
    dist: (name: string) => string;
  };

/**
 * Registers completion, hover, parameters and definitions in cells, and starts the language worker, which also finds
 * errors. The kernel adds names that only it knows; the catalog adds names of tables and columns.
 */
export function registerCellLanguage(parts: CellLanguageDeps): vscode.Disposable & { language: CellLanguage } {
  const { log, kernels, connections, notebookCatalogs, tabs, tree, dist } = parts;
  const notebooks = new LanguageNotebooks(kernels.controller, tabs);
  const worker: LanguageWorker = new LanguageWorker({
    log,
    notebooks,
    entry: dist('languageWorker.cjs'),
    onTables: (notebook, tables) => types.setTables(notebook, tables),
  });
  const types = new TableTypes({
    ...parts,
    notebooks,
    send: (notebook, tables) => worker.process?.tell('tableTypes', { notebook, tables }),
  });
  const mute = new TypeScriptSilencer({ log, notebooks, worker, types: dist('types/notebook.d.ts') });
  const names = new LanguageNames(parts);
  const knowledge = new KernelCompletions(kernels);
  const language: CellLanguage = {
    notebooks,
    worker,
    mute,
    kernels: knowledge,
    names,
    types,
    others: new OtherProviders(),
  };
  const selector = ['typescript', 'javascript'].map((id) => ({ notebookType: notebookIds.notebookType, language: id }));
  const { languages } = vscode;
  const registered = vscode.Disposable.from(
    mute,
    worker,
    notebooks,
    connections.onDidChange(() => {
      names.clear();
      types.clear();
    }),
    types,
    tree.onDidRefresh(() => {
      names.clear();
      types.refresh();
    }),
    notebookCatalogs.onDidChange(() => types.refresh()),
    ...followUse(notebooks, types, () => names.clear()),
    languages.registerCompletionItemProvider(
      selector,
      cellCompletion(language),
      '.',
      '"',
      "'",
      '`',
      '/',
      '@',
      '<',
      '#',
      '%',
      ' ',
    ),
    languages.registerHoverProvider(selector, cellHover(language)),
    languages.registerSignatureHelpProvider(selector, cellSignature(language), {
      triggerCharacters: ['(', ',', '<'],
      retriggerCharacters: [')'],
    }),
    languages.registerDefinitionProvider(selector, cellDefinition(language)),
  );
  return { language, dispose: () => void registered.dispose() };
}

/**
 * Reads the columns of tables for notebooks that the user edits or runs. After each run of a cell, the names and columns
 * are read again when they are needed.
 */
function followUse(notebooks: LanguageNotebooks, types: TableTypes, forgetNames: () => void): vscode.Disposable[] {
  const { workspace } = vscode;
  return [
    workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      const notebook = contentChanges.length > 0 ? notebooks.of(document) : undefined;
      if (notebook) types.use(notebook);
    }),
    workspace.onDidChangeNotebookDocument(({ notebook, cellChanges }) => {
      const hasRun = cellChanges.some(({ executionSummary }) => executionSummary?.success !== undefined);
      if (!hasRun || !notebooks.list().includes(notebook)) return;
      forgetNames();
      types.refresh();
      types.use(notebook);
    }),
    workspace.onDidCloseNotebookDocument((notebook) => types.close(notebook)),
  ];
}
