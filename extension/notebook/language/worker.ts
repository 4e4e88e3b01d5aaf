import * as vscode from 'vscode';
import { findNode } from '#processes/childProcess.ts';
import { LanguageProcess } from '#processes/languageProcess.ts';
import { isAbort } from '#shared/errors.ts';
import type { Finding, TablePath } from '#shared/protocol/languageMessages.ts';
import { logFailure, type Log } from '../../host/log.ts';
import { onDidChangeSetting, setting } from '../../host/settings.ts';
import { folderOf } from '../controller.ts';
import { LanguageDiagnostics } from './diagnostics.ts';
import { codeCells, documentKey, type LanguageNotebooks } from './notebooks.ts';
import { cellLanguage } from '../notebookKernel.ts';

type LanguageWorkerDeps = {
  log: Log;
  notebooks: LanguageNotebooks;
  entry: string;
  /** Called with all tables that the cells of a notebook open, each time this list changes. */
  onTables: (notebook: string, tables: TablePath[]) => void;
};

/**
 * Limit of crashes within `failureWindow`. After that the worker is not started again, and only VS Code's own
 * TypeScript continues.
 */
const maxFailures = 3;
const failureWindow = 5 * 60_000;
/** How long the worker stays after the last notebook was closed. */
const idleMilliseconds = 30_000;
/** Delay after a change of files, because many files change together, for example when a package is installed. */
const quietMilliseconds = 300;

/**
 * The language worker of the window. It starts when the first Lance notebook opens, receives every change of cells, and
 * starts again after a crash.
 */
export class LanguageWorker implements vscode.Disposable {
  readonly #parts: LanguageWorkerDeps;
  readonly #diagnostics = new LanguageDiagnostics();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable[];
  readonly #told = new Set<string>();
  #process: LanguageProcess | undefined;
  #starting: AbortController | undefined;
  #failures: number[] = [];
  #filesTimer: NodeJS.Timeout | undefined;
  #againTimer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  /** Fires when the worker becomes available or unavailable. */
  readonly onDidChange = this.#changed.event;

  constructor(parts: LanguageWorkerDeps) {
    this.#parts = parts;
    const { notebooks } = parts;
    const { workspace } = vscode;
    const files = workspace.createFileSystemWatcher('**/*.{ts,tsx,mts,cts,js,mjs,cjs,json}');
    const filesChanged = () => this.#filesChanged();
    this.#subscriptions = [
      this.#changed,
      this.#diagnostics,
      files,
      files.onDidChange(filesChanged),
      files.onDidCreate(filesChanged),
      files.onDidDelete(filesChanged),
      notebooks.onDidChange(() => this.#follow()),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) this.#tellText(document);
      }),
      workspace.onDidChangeNotebookDocument(({ notebook, contentChanges }) => {
        if (contentChanges.length > 0) this.#tellCells(notebook);
      }),
      // VS Code closes and opens a cell when its language changes.
      workspace.onDidOpenTextDocument((document) => {
        const notebook = notebooks.of(document);
        if (notebook) this.#tellCells(notebook);
      }),
      workspace.onDidCloseTextDocument(({ uri }) => this.#diagnostics.forget(uri)),
      onDidChangeSetting('lanceCatalog.nodePath', () => this.#again()),
    ];
    this.#follow();
  }

  get process(): LanguageProcess | undefined {
    return this.#process;
  }

  dispose(): void {
    for (const timer of [this.#filesTimer, this.#againTimer, this.#idleTimer]) clearTimeout(timer);
    this.#stop();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  /** Opens and closes notebooks in the worker as in VS Code. Starts the worker for the first notebook. */
  #follow(): void {
    const ours = this.#parts.notebooks.list();
    clearTimeout(this.#idleTimer);
    if (ours.length === 0) this.#idleTimer = setTimeout(() => this.#stop(), idleMilliseconds);
    else if (!this.#process) return this.#start();
    const keys = new Set(ours.map(documentKey));
    for (const key of this.#told) if (!keys.has(key)) this.#close(key);
    for (const notebook of ours) if (!this.#told.has(documentKey(notebook))) this.#tellCells(notebook);
  }

  #start(): void {
    if (this.#starting || this.#failures.length >= maxFailures) return;
    const starting = new AbortController();
    this.#starting = starting;
    this.#run(starting.signal)
      .catch((error: unknown) => {
        if (isAbort(error)) return;
        logFailure(this.#parts.log, 'starting the language worker', error);
        this.#failed();
      })
      .finally(() => {
        if (this.#starting === starting) this.#starting = undefined;
      });
  }

  async #run(signal: AbortSignal): Promise<void> {
    const nodePath = setting('lanceCatalog.nodePath');
    const node = await findNode({ ...(nodePath && { nodePath }), signal });
    const { entry, onTables } = this.#parts;
    const onFindings = (notebook: string, cell: string, findings: Finding[]): void => {
      // Ignore a notebook that was closed meanwhile.
      if (this.#told.has(notebook)) this.#diagnostics.show(vscode.Uri.parse(cell, true), findings);
    };
    const process = await LanguageProcess.start({ entry, node, onFindings, onTables, signal });
    this.#process = process;
    this.#parts.log.info(`the language worker runs: pid ${process.pid}`);
    process.onDidExit((reason) => {
      this.#parts.log.warn(`the language worker has ended: ${reason}`);
      this.#stop();
      this.#failed();
    });
    this.#follow();
    this.#changed.fire();
  }

  /** Starts the worker again after a moment, unless it failed too often. */
  #failed(): void {
    const now = Date.now();
    this.#failures = [...this.#failures.filter((at) => now - at < failureWindow), now];
    if (this.#failures.length < maxFailures) {
      this.#againTimer = setTimeout(() => this.#follow(), 1000);
      return;
    }
    this.#parts.log.error(
      'the language worker ended three times in five minutes: cells have only the built-in TypeScript support until the window is reloaded',
    );
  }

  #again(): void {
    this.#failures = [];
    this.#stop();
    this.#follow();
  }

  #stop(): void {
    this.#starting?.abort();
    this.#starting = undefined;
    const process = this.#process;
    this.#process = undefined;
    this.#told.clear();
    this.#diagnostics.clear();
    process?.dispose();
    if (process) this.#changed.fire();
  }

  #tellCells(notebook: vscode.NotebookDocument): void {
    if (!this.#process || !this.#parts.notebooks.list().includes(notebook)) return;
    const key = documentKey(notebook);
    this.#told.add(key);
    const cells = codeCells(notebook).map((document) => ({ id: documentKey(document), text: document.getText() }));
    this.#process.tell('cells', {
      notebook: key,
      folder: folderOf(notebook),
      language: cellLanguage(notebook.metadata),
      cells,
    });
  }

  #tellText(document: vscode.TextDocument): void {
    const notebook = this.#process && this.#parts.notebooks.of(document);
    if (!notebook || !this.#told.has(documentKey(notebook))) return;
    this.#process?.tell('text', {
      notebook: documentKey(notebook),
      cell: documentKey(document),
      text: document.getText(),
    });
  }

  #close(key: string): void {
    this.#told.delete(key);
    this.#process?.tell('close', { notebook: key });
    // The cells may stay open with another kernel, and this worker must not check code for another kernel.
    const notebook = vscode.workspace.notebookDocuments.find((one) => documentKey(one) === key);
    for (const { document } of notebook?.getCells() ?? []) this.#diagnostics.forget(document.uri);
  }

  #filesChanged(): void {
    if (!this.#process || this.#filesTimer) return;
    this.#filesTimer = setTimeout(() => {
      this.#filesTimer = undefined;
      this.#process?.tell('filesChanged', null);
    }, quietMilliseconds);
  }
}
