import * as path from 'node:path';
import * as vscode from 'vscode';
import { CatalogError } from '#shared/errors.ts';
import { runCommand } from '../host/commands.ts';
import type { Log } from '../host/log.ts';
import { notebookIds } from '../manifest.ts';
import { namesKernel } from './catalogChoice.ts';
import { NotebookSession, type StartKernel } from './session.ts';

export type NotebookParts = {
  log: Log;
  startKernel: StartKernel;
};

/** Our kernel in the editor's kernel picker, and the kernel process of each notebook that chose it. */
export class NotebookKernels implements vscode.Disposable {
  readonly controller: vscode.NotebookController;
  readonly #parts: NotebookParts;
  readonly #sessions = new Map<string, NotebookSession>();
  /** Sessions of untitled notebooks that were closed a moment ago, with what was in them. */
  readonly #parting = new Map<NotebookSession, { text: string; timer: NodeJS.Timeout }>();
  readonly #subscriptions: vscode.Disposable[];

  constructor(parts: NotebookParts) {
    this.#parts = parts;
    const { controller: id, notebookType } = notebookIds;
    this.controller = vscode.notebooks.createNotebookController(id, notebookType, 'Lance TypeScript');
    this.controller.description = 'TypeScript with a connected catalog';
    this.controller.supportedLanguages = ['typescript', 'javascript'];
    this.controller.supportsExecutionOrder = true;
    this.controller.executeHandler = async (cells, notebook) => this.#run(cells, notebook);
    this.controller.interruptHandler = (notebook) => this.#interrupt(notebook);
    this.#subscriptions = [
      this.controller,
      this.controller.onDidChangeSelectedNotebooks(({ notebook, selected }) => {
        if (selected) this.#warm(notebook);
        else this.#leave(notebook);
      }),
      vscode.workspace.onDidOpenNotebookDocument((notebook) => this.#welcome(notebook)),
      vscode.workspace.onDidCloseNotebookDocument((notebook) => this.#leave(notebook)),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#welcomeAll()),
    ];
    this.#welcomeAll();
  }

  /** The kernel of a notebook, when it has or had one. */
  session(notebook: vscode.NotebookDocument): NotebookSession | undefined {
    return this.#sessions.get(keyOf(notebook));
  }

  /** The list of connections changed: kernels that were not used yet are started again on it. */
  renew(): void {
    for (const session of this.#sessions.values()) session.renew();
  }

  /**
   * Ends a notebook's kernel and starts another.
   * @throws CatalogError PermissionDenied (15) without trust, InvalidInput (13) for a notebook of another kernel
   */
  async restart(notebook: vscode.NotebookDocument): Promise<void> {
    requireTrust();
    const session = this.session(notebook);
    if (!session) {
      throw new CatalogError(
        'InvalidInput',
        'This notebook does not run on the Lance TypeScript kernel.',
        'Choose that kernel and run a cell first.',
      );
    }
    await session.restart();
  }

  dispose(): void {
    for (const [session, { timer }] of this.#parting) {
      clearTimeout(timer);
      session.dispose();
    }
    this.#parting.clear();
    for (const session of this.#sessions.values()) session.dispose();
    this.#sessions.clear();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  async #run(cells: vscode.NotebookCell[], notebook: vscode.NotebookDocument): Promise<void> {
    requireTrust();
    await this.#sessionOf(notebook).run(cells);
  }

  async #interrupt(notebook: vscode.NotebookDocument): Promise<void> {
    const session = this.session(notebook);
    await runCommand(this.#parts.log, 'interrupting a cell', () => session?.interrupt());
  }

  #welcomeAll(): void {
    for (const notebook of vscode.workspace.notebookDocuments) this.#welcome(notebook);
  }

  /** A notebook that names our kernel gets it without being asked, and gets it started. */
  #welcome(notebook: vscode.NotebookDocument): void {
    if (notebook.notebookType !== notebookIds.notebookType) return;
    this.#inherit(notebook);
    if (!namesKernel(notebook.metadata, notebookIds.kernelspec)) return;
    this.controller.updateNotebookAffinity(notebook, vscode.NotebookControllerAffinity.Preferred);
    this.#warm(notebook);
  }

  #warm(notebook: vscode.NotebookDocument): void {
    if (vscode.workspace.isTrusted) this.#sessionOf(notebook).warm();
  }

  #sessionOf(notebook: vscode.NotebookDocument): NotebookSession {
    const key = keyOf(notebook);
    const existing = this.#sessions.get(key);
    if (existing) return existing;
    const { log, startKernel } = this.#parts;
    const session = new NotebookSession({
      notebook,
      controller: this.controller,
      log,
      cwd: folderOf(notebook),
      start: startKernel,
    });
    this.#sessions.set(key, session);
    return session;
  }

  /**
   * A notebook was closed or took another kernel. An untitled one is closed when it is saved, too: then its kernel goes
   * on in the file that it became.
   */
  #leave(notebook: vscode.NotebookDocument): void {
    const session = this.session(notebook);
    if (!session) return;
    // At once: another untitled notebook may get the name while this one's file is awaited.
    this.#sessions.delete(keyOf(notebook));
    if (!notebook.isUntitled || !session.hasRun) return session.dispose();
    const text = contentOf(notebook);
    const saved = vscode.workspace.notebookDocuments.find((one) => this.#isSaved(one, text));
    if (saved) return this.#handOver(session, saved);
    const giveUp = (): void => {
      this.#parting.delete(session);
      session.dispose();
    };
    this.#parting.set(session, { text, timer: setTimeout(giveUp, saveMilliseconds) });
  }

  /** Gives an opened file the kernel of the untitled notebook that was saved as it, if it is one. */
  #inherit(notebook: vscode.NotebookDocument): void {
    for (const [session, { text, timer }] of this.#parting) {
      if (!this.#isSaved(notebook, text)) continue;
      clearTimeout(timer);
      this.#parting.delete(session);
      return this.#handOver(session, notebook);
    }
  }

  /** Whether an untitled notebook with this content may have become this one: nothing ran in it yet. */
  #isSaved(notebook: vscode.NotebookDocument, text: string): boolean {
    if (notebook.isUntitled || notebook.isClosed || notebook.notebookType !== notebookIds.notebookType) return false;
    return this.session(notebook)?.hasRun !== true && contentOf(notebook) === text;
  }

  #handOver(session: NotebookSession, saved: vscode.NotebookDocument): void {
    this.#end(saved);
    session.moveTo(saved);
    this.#sessions.set(keyOf(saved), session);
  }

  #end(notebook: vscode.NotebookDocument): void {
    const key = keyOf(notebook);
    this.#sessions.get(key)?.dispose();
    this.#sessions.delete(key);
  }
}

/** Between the close of an untitled notebook and the opening of the file that it was saved as. */
const saveMilliseconds = 1000;

/** @throws CatalogError PermissionDenied (15) in a workspace that the person did not trust */
function requireTrust(): void {
  if (vscode.workspace.isTrusted) return;
  throw new CatalogError('PermissionDenied', 'Cells do not run in an untrusted workspace.', 'Trust it first.');
}

const contentOf = (notebook: vscode.NotebookDocument): string =>
  JSON.stringify(notebook.getCells().map((cell) => cell.document.getText()));

const keyOf = (notebook: vscode.NotebookDocument): string => notebook.uri.toString();

/** Where a notebook's relative paths start: its own folder, or the window's while it is not saved. */
export function folderOf(notebook: vscode.NotebookDocument): string {
  if (notebook.uri.scheme === 'file') return path.dirname(notebook.uri.fsPath);
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? process.cwd();
}
