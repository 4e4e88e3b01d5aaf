import * as vscode from 'vscode';
import type { CatalogTree } from '../explorer/tree.ts';
import type { CatalogNode } from '../explorer/node.ts';
import type { State } from '../host/state.ts';
import { registerSqlCommands } from './commands.ts';
import { SqlDiagnostics } from './diagnostics.ts';
import { SqlHistory } from './history.ts';
import { SqlLanguage } from './language.ts';
import { SqlLenses } from './lenses.ts';
import { PlanDocuments, planScheme } from './planDocuments.ts';
import { SqlFiles, sqlSelector, sqlStatus } from './sqlFiles.ts';
import { SqlRunner, type SqlRunnerDeps } from './sqlRunner.ts';

type SqlDeps = Omit<SqlRunnerDeps, 'files' | 'history' | 'plans' | 'diagnostics'> & {
  state: State;
  tree: Pick<CatalogTree, 'onDidRefresh'>;
  view: vscode.TreeView<CatalogNode>;
};

type SqlServices = { files: SqlFiles; runner: SqlRunner; history: SqlHistory };

/** Registers SQL files: their connections, runs, results, history, completion, hover and errors. */
export function registerSql(deps: SqlDeps): vscode.Disposable & SqlServices {
  const { log, state, connections, catalogs, views, tree } = deps;
  const files = new SqlFiles(connections, state);
  const history = new SqlHistory(state, log);
  const plans = new PlanDocuments();
  const diagnostics = new SqlDiagnostics({ log, files, views });
  const runner = new SqlRunner({ ...deps, files, history, plans, diagnostics });
  const lenses = new SqlLenses(files, connections.onDidChange);
  const language = new SqlLanguage({ files, catalogs, connections });
  const { languages, workspace } = vscode;
  const registered = vscode.Disposable.from(
    files,
    plans,
    diagnostics,
    runner,
    lenses,
    sqlStatus({
      files,
      connections,
      isRunning: (document) => runner.isRunning(document),
      onDidChangeRuns: runner.onDidChange,
    }),
    connections.onDidChange(() => language.clear()),
    tree.onDidRefresh(() => language.clear()),
    workspace.registerTextDocumentContentProvider(planScheme, plans),
    languages.registerCodeLensProvider(sqlSelector, lenses),
    languages.registerCompletionItemProvider(sqlSelector, language, '.', '"', '/', ' '),
    languages.registerHoverProvider(sqlSelector, language),
    registerSqlCommands({ ...deps, files, runner, history }),
  );
  return { files, runner, history, dispose: () => void registered.dispose() };
}
