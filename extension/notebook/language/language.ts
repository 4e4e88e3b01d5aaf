import * as vscode from 'vscode';
import type { Connections } from '../../connections/connections.ts';
import { notebookIds } from '../../manifest.ts';
import type { NotebookKernels } from '../controller.ts';
import { cellCompletion } from './completion.ts';
import { cellDefinition, cellHover, cellSignature } from './hover.ts';
import { KernelCompletions } from './kernelCompletions.ts';
import { TypeScriptSilencer, type LanguageMuteDeps } from './typeScriptSilencer.ts';
import { LanguageNames, type LanguageNamesDeps } from './names.ts';
import { LanguageNotebooks } from './notebooks.ts';
import { OtherProviders } from './requests.ts';
import type { CellLanguage } from './cellLanguage.ts';
import { LanguageWorker } from './worker.ts';

export type CellLanguageDeps = LanguageNamesDeps &
  Pick<LanguageMuteDeps, 'log'> & {
    connections: Connections;
    kernels: NotebookKernels;
    dist: (name: string) => string;
  };

/**
 * Registers completion, hover, parameters and definitions in cells, and starts the language worker, which also finds
 * errors. The kernel adds names that only it knows; the catalog adds names of tables and columns.
 */
export function registerCellLanguage(parts: CellLanguageDeps): vscode.Disposable & { language: CellLanguage } {
  const { log, kernels, connections, dist } = parts;
  const notebooks = new LanguageNotebooks(kernels.controller);
  const worker = new LanguageWorker({ log, notebooks, entry: dist('languageWorker.cjs') });
  const mute = new TypeScriptSilencer({ log, notebooks, worker, types: dist('types/notebook.d.ts') });
  const names = new LanguageNames(parts);
  const knowledge = new KernelCompletions(kernels);
  const language: CellLanguage = { notebooks, worker, mute, kernels: knowledge, names, others: new OtherProviders() };
  const selector = ['typescript', 'javascript'].map((id) => ({ notebookType: notebookIds.notebookType, language: id }));
  const { languages } = vscode;
  const registered = vscode.Disposable.from(
    mute,
    worker,
    notebooks,
    connections.onDidChange(() => names.clear()),
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
