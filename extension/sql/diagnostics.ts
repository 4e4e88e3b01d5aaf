import * as vscode from 'vscode';
import { statementsIn } from '#catalog/sqlStatements.ts';
import { messageOf } from '#shared/errors.ts';
import type { SqlProblem } from '#shared/protocol/viewsMessages.ts';
import { logFailure, type Log } from '../host/log.ts';
import type { ViewsHost } from '../host/viewsHost.ts';
import type { SqlFiles } from './sqlFiles.ts';
import { problemRange } from './sqlRules.ts';

/** Delay after the last key before a file is checked, in milliseconds. */
const quietMs = 400;
/** Longer files and files with more statements are not checked while the user types. */
const maxChars = 200_000;
const maxStatements = 100;

type DiagnosticsDeps = { log: Log; files: SqlFiles; views: Pick<ViewsHost, 'request'> };

/** Underlines syntax errors in bound files while the user types, and the place where the last run failed. */
export class SqlDiagnostics implements vscode.Disposable {
  readonly #deps: DiagnosticsDeps;
  readonly #collection = vscode.languages.createDiagnosticCollection('lance-catalog.sql');
  readonly #subscriptions: vscode.Disposable[];
  /** The checks that wait or run, by the URI of their file. */
  readonly #checks = new Map<string, { timer: NodeJS.Timeout; controller: AbortController }>();
  /** Where the last run failed, by the URI of the file. A check of the same text keeps it. */
  readonly #failures = new Map<string, { text: string; diagnostic: vscode.Diagnostic }>();

  #logged = '';

  constructor(deps: DiagnosticsDeps) {
    this.#deps = deps;
    this.#subscriptions = [
      this.#collection,
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) this.#checkSoon(document);
      }),
      vscode.workspace.onDidCloseTextDocument((document) => {
        this.#stop(document);
        this.clearFailure(document);
      }),
    ];
  }

  /** Underlines where a statement failed. */
  showFailure(document: vscode.TextDocument, start: number, problem: SqlProblem): void {
    const diagnostic = diagnosticOf(document, start, problem);
    this.#failures.set(document.uri.toString(), { text: document.getText(), diagnostic });
    this.#collection.set(document.uri, [diagnostic]);
  }

  clearFailure(document: vscode.TextDocument): void {
    this.#failures.delete(document.uri.toString());
    this.#collection.delete(document.uri);
  }

  /** Returns the message of a problem with its line in the file. */
  sentence(document: vscode.TextDocument, start: number, problem: SqlProblem): string {
    if (problem.offset === null) return problem.message;
    const { line, character } = rangeOf(document, start, problem).start;
    return `Line ${line + 1}, column ${character + 1}: ${problem.message}`;
  }

  dispose(): void {
    for (const { timer, controller } of this.#checks.values()) {
      clearTimeout(timer);
      controller.abort();
    }
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #checkSoon(document: vscode.TextDocument): void {
    this.#stop(document);
    // Checks start a process, so they need trust as runs do.
    if (!vscode.workspace.isTrusted || !this.#deps.files.connectionOf(document)) return;
    const controller = new AbortController();
    const check = (): void => {
      this.#check(document, controller.signal).catch((error: unknown) => {
        if (!controller.signal.aborted) this.#logOnce(error);
      });
    };
    this.#checks.set(document.uri.toString(), { timer: setTimeout(check, quietMs), controller });
  }

  /** Logs a failure that is not the same as the last one, because the next key would log it again. */
  #logOnce(error: unknown): void {
    const message = messageOf(error);
    if (message !== this.#logged) logFailure(this.#deps.log, 'checking SQL', error);
    this.#logged = message;
  }

  #stop(document: vscode.TextDocument): void {
    const key = document.uri.toString();
    const check = this.#checks.get(key);
    if (!check) return;
    clearTimeout(check.timer);
    check.controller.abort();
    this.#checks.delete(key);
  }

  async #check(document: vscode.TextDocument, signal: AbortSignal): Promise<void> {
    const text = document.getText();
    if (text.length > maxChars) return this.#collection.delete(document.uri);
    const ranges = statementsIn(text).slice(0, maxStatements);
    const texts = ranges.map(({ start, end }) => text.slice(start, end));
    const problems = texts.length > 0 ? await this.#deps.views.request('checkSyntax', { texts }, signal) : [];
    if (signal.aborted || document.isClosed || document.getText() !== text) return;
    const found = problems.flatMap((problem, index) =>
      problem ? [diagnosticOf(document, ranges[index]!.start, problem)] : [],
    );
    // The statement may have failed before its text was checked.
    const failure = this.#failures.get(document.uri.toString());
    const isKept = failure?.text === text && !found.some(({ range }) => range.isEqual(failure.diagnostic.range));
    this.#collection.set(document.uri, isKept ? [failure.diagnostic, ...found] : found);
  }
}

function rangeOf(document: vscode.TextDocument, start: number, problem: SqlProblem): vscode.Range {
  const { start: from, end } = problemRange(document.getText(), start, problem);
  return new vscode.Range(document.positionAt(from), document.positionAt(end));
}

function diagnosticOf(document: vscode.TextDocument, start: number, problem: SqlProblem): vscode.Diagnostic {
  const diagnostic = new vscode.Diagnostic(
    rangeOf(document, start, problem),
    problem.message,
    vscode.DiagnosticSeverity.Error,
  );
  diagnostic.source = 'Lance Catalog';
  return diagnostic;
}
