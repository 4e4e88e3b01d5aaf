import * as vscode from 'vscode';
import { messageOf } from '#shared/errors.ts';
import type { JobFile } from '#shared/jobs/jobFile.ts';
import { folderOfFile, isJobFile } from './jobFiles.ts';
import { tableOfFile, type JobFileDeps } from './request.ts';
import type { JobText } from './text.ts';

/** Delay after the last key before a file is checked, in milliseconds. */
const quiet = 200;

/**
 * Underlines errors in job files. The check opens no table or file that a job file names. It only looks up the names of
 * connections.
 */
export class JobFileDiagnostics implements vscode.Disposable {
  readonly #parts: Pick<JobFileDeps, 'connections'>;
  readonly #collection = vscode.languages.createDiagnosticCollection('lance-catalog.jobFiles');
  readonly #waiting = new Map<string, NodeJS.Timeout>();
  readonly #subscriptions: vscode.Disposable[];

  constructor(parts: Pick<JobFileDeps, 'connections'>, onConnections: vscode.Event<void>) {
    this.#parts = parts;
    const { workspace } = vscode;
    this.#subscriptions = [
      this.#collection,
      workspace.onDidOpenTextDocument((document) => this.#soon(document)),
      workspace.onDidChangeTextDocument(({ document }) => this.#soon(document)),
      workspace.onDidCloseTextDocument(({ uri }) => this.#forget(uri)),
      onConnections(() => this.#all()),
    ];
    this.#all();
  }

  dispose(): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #all(): void {
    for (const document of vscode.workspace.textDocuments) this.#soon(document);
  }

  #soon(document: vscode.TextDocument): void {
    if (!isJobFile(document.uri)) return;
    const key = document.uri.toString();
    clearTimeout(this.#waiting.get(key));
    this.#waiting.set(
      key,
      setTimeout(() => {
        this.#waiting.delete(key);
        void this.#look(document);
      }, quiet),
    );
  }

  #forget(uri: vscode.Uri): void {
    clearTimeout(this.#waiting.get(uri.toString()));
    this.#waiting.delete(uri.toString());
    this.#collection.delete(uri);
  }

  async #look(document: vscode.TextDocument): Promise<void> {
    const { readJobText } = await import('./text.ts');
    if (document.isClosed) return;
    const read = readJobText(document.getText());
    const found = [...read.problems, ...(read.file ? this.#catalogProblems(read, read.file, document.uri) : [])];
    this.#collection.set(
      document.uri,
      found.map(({ offset, length, message }) => {
        const range = new vscode.Range(document.positionAt(offset), document.positionAt(offset + length));
        const diagnostic = new vscode.Diagnostic(range, message, vscode.DiagnosticSeverity.Error);
        diagnostic.source = 'Lance Catalog';
        return diagnostic;
      }),
    );
  }

  #catalogProblems(read: JobText, file: JobFile, uri: vscode.Uri): JobText['problems'] {
    try {
      tableOfFile(this.#parts, file, folderOfFile(uri));
      return [];
    } catch (error) {
      return [
        { ...read.placeOf(file.connection === undefined ? ['table'] : ['connection']), message: messageOf(error) },
      ];
    }
  }
}
