import * as vscode from 'vscode';
import { statementsIn, type StatementRange } from '#catalog/sqlStatements.ts';
import { CatalogError, isAbort, messageOf } from '#shared/errors.ts';
import type { SqlProblem, SqlRequest, ViewsCatalog } from '#shared/protocol/viewsMessages.ts';
import type { Catalogs } from '../connections/catalogs.ts';
import { viewsCatalog } from '../connections/viewsCatalog.ts';
import type { Connections } from '../connections/connections.ts';
import type { TreeUpdates } from '../explorer/treeUpdates.ts';
import { confirm } from '../host/ask.ts';
import type { Engine } from '../host/engine.ts';
import { logFailure, type Log } from '../host/log.ts';
import { showDone, showWarning } from '../host/messages.ts';
import { setting } from '../host/settings.ts';
import type { ViewsHost } from '../host/viewsHost.ts';
import type { TablePanels } from '../panels/tablePanels.ts';
import { lostSource } from '../panels/tableSource.ts';
import type { SqlHistory } from './history.ts';
import type { PlanDocuments } from './planDocuments.ts';
import type { SqlDiagnostics } from './diagnostics.ts';
import type { SqlFiles } from './sqlFiles.ts';
import { SqlResult } from './sqlResult.ts';
import { namedConnections, resultTitle, type WriteEffect, writeQuestion, type WriteTarget } from './sqlRules.ts';

export type SqlRunnerDeps = {
  log: Log;
  files: SqlFiles;
  connections: Connections;
  catalogs: Catalogs;
  engine: Engine;
  views: ViewsHost;
  panels: TablePanels;
  updates: Pick<TreeUpdates, 'changed'>;
  history: SqlHistory;
  plans: PlanDocuments;
  diagnostics: SqlDiagnostics;
};

/** What to do with statements: run them, or show their plans. */
export type RunMode = 'run' | 'explain';

/** A statement to run: its text, and where it starts in its file. */
type Statement = { document: vscode.TextDocument; text: string; start: number; connection: string };

/** Milliseconds for which the status bar says that a statement has written. */
const doneMs = 5000;

/** Runs the statements of SQL files, one file at a time each. */
export class SqlRunner implements vscode.Disposable {
  readonly #deps: SqlRunnerDeps;
  readonly #changed = new vscode.EventEmitter<void>();
  /** The runs by the URI of their file. */
  readonly #running = new Map<string, { controller: AbortController; ended: Promise<unknown> }>();
  readonly onDidChange = this.#changed.event;

  constructor(deps: SqlRunnerDeps) {
    this.#deps = deps;
  }

  isRunning(document: vscode.TextDocument): boolean {
    return this.#running.has(document.uri.toString());
  }

  /** Stops the run of a file; the rows that it has stay. */
  cancel(document: vscode.TextDocument): void {
    this.#running.get(document.uri.toString())?.controller.abort();
  }

  /**
   * Runs the statements in a range of a file in order, up to the first failure. Prompts for the connection if the file
   * has none. A run of the same file is stopped first.
   * @throws CatalogError PermissionDenied (15) in an untrusted workspace, InvalidInput (13) if there is no statement
   */
  async run(document: vscode.TextDocument, { start, end }: StatementRange, mode: RunMode): Promise<void> {
    requireTrust();
    const file = document.getText();
    const ranges = statementsIn(file.slice(start, end));
    if (ranges.length === 0)
      throw new CatalogError('InvalidInput', 'There is no statement to run.', 'Write one, or move the cursor to one.');
    const connection = (await this.#deps.files.require(document))?.name;
    if (connection === undefined) return;
    const statements = ranges.map((range) => ({
      document,
      text: file.slice(start + range.start, start + range.end),
      start: start + range.start,
      connection,
    }));
    const key = document.uri.toString();
    const before = this.#running.get(key);
    before?.controller.abort();
    const controller = new AbortController();
    const ended = this.#runAfter(before?.ended, statements, mode, controller.signal);
    this.#running.set(key, { controller, ended: ended.catch(() => undefined) });
    this.#changed.fire();
    try {
      await ended;
    } finally {
      if (this.#running.get(key)?.controller === controller) this.#running.delete(key);
      this.#changed.fire();
    }
  }

  dispose(): void {
    for (const { controller } of this.#running.values()) controller.abort();
    this.#changed.dispose();
  }

  async #runAfter(
    before: Promise<unknown> | undefined,
    statements: readonly Statement[],
    mode: RunMode,
    signal: AbortSignal,
  ): Promise<void> {
    const { diagnostics } = this.#deps;
    await before;
    for (const statement of statements) {
      if (signal.aborted) return;
      diagnostics.clearFailure(statement.document);
      try {
        if (!(await this.#runOne(statement, mode, signal))) return;
      } catch (error) {
        if (signal.aborted || isAbort(error)) return;
        // The statement did not start, for instance because it is not supported.
        logFailure(this.#deps.log, 'running SQL', error);
        return this.#showFailure(statement, { message: messageOf(error), offset: null });
      }
    }
  }

  /** Returns whether the next statement may run. */
  async #runOne(statement: Statement, mode: RunMode, signal: AbortSignal): Promise<boolean> {
    const { log, views, history, panels, updates, diagnostics } = this.#deps;
    const { document, text, connection } = statement;
    const purpose = await views.request('readPurpose', { text }, signal);
    if (mode === 'explain' || purpose.kind === 'plan') return this.#explain(statement, signal);
    const request = await this.#request(statement, purpose.kind === 'write');
    const target = purpose.kind === 'write' ? await this.#target(request, connection, signal) : undefined;
    if (purpose.kind === 'write' && target && !(await askToWrite(purpose.effect, target))) return false;
    signal.throwIfAborted();
    history.add({ text, connection, at: Date.now() });
    const explain = (problem: SqlProblem): string => diagnostics.sentence(document, statement.start, problem);
    const result = new SqlResult({ views, title: resultTitle(text, connection), request, explain });
    signal.addEventListener('abort', () => result.cancel(), { once: true });
    void result.start();
    // The panel shows the failure of the statement itself.
    panels
      .showResult(document.uri.toString(), result)
      .catch((error: unknown) => logFailure(log, 'showing a result', error));
    const { end, problem } = await result.ended;
    if (problem && end === 'full') void showWarning(problem.message);
    else if (problem) diagnostics.showFailure(document, statement.start, problem);
    if (target) updates.changed([target.connection]);
    if (target && end === 'complete') showDone(`Wrote ${target.table}`, doneMs);
    return end === 'complete';
  }

  /** @throws CatalogError if the table can't be where the statement writes it */
  async #target(request: Omit<SqlRequest, 'id'>, connection: string, signal: AbortSignal): Promise<WriteTarget> {
    const target = await this.#deps.views.request('findTarget', { ...request, id: '' }, signal);
    return { ...target, connection: target.connection ?? connection };
  }

  async #explain(statement: Statement, signal: AbortSignal): Promise<boolean> {
    const request = { ...(await this.#request(statement, false)), id: '' };
    const answer = await this.#deps.views.request('explainSql', request, signal);
    if ('problem' in answer) {
      await this.#showFailure(statement, answer.problem);
      return false;
    }
    await this.#deps.plans.show(statement.document, answer.plan);
    return true;
  }

  async #showFailure({ document, text, start, connection }: Statement, problem: SqlProblem): Promise<void> {
    const { diagnostics, panels } = this.#deps;
    diagnostics.showFailure(document, start, problem);
    const error = new CatalogError('InvalidInput', diagnostics.sentence(document, start, problem), '');
    const source = { ...lostSource(resultTitle(text, connection), error), failureTitle: "Can't run the query" };
    await panels.showResult(document.uri.toString(), source);
  }

  async #request({ text, connection }: Statement, mayWrite: boolean): Promise<Omit<SqlRequest, 'id'>> {
    const names = this.#deps.connections.list().map(({ name }) => name);
    const others: Record<string, ViewsCatalog> = {};
    for (const name of namedConnections(text, names)) {
      // A connection that can't be opened is missed only if the name means the connection.
      const config = await viewsCatalog(this.#deps, name).catch(() => undefined);
      if (config) others[name] = config;
    }
    return { text, catalog: await viewsCatalog(this.#deps, connection), others, mayWrite, maxBytes: maxResultBytes() };
  }
}

async function askToWrite(effect: WriteEffect, target: WriteTarget): Promise<boolean> {
  const { message, detail, action } = writeQuestion(effect, target);
  return confirm(message, detail, action);
}

/** Used if the setting is not a number. */
const usualGigabytes = 10;

function maxResultBytes(): number {
  const gigabytes = setting('lanceCatalog.sql.maxResultGigabytes');
  return (typeof gigabytes === 'number' && gigabytes >= 0 ? gigabytes : usualGigabytes) * 1e9;
}

/** @throws CatalogError PermissionDenied (15) if the user does not trust the workspace */
function requireTrust(): void {
  if (vscode.workspace.isTrusted) return;
  throw new CatalogError('PermissionDenied', 'SQL does not run in an untrusted workspace.', 'Trust it first.');
}
