import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { NotebookSession } from './session.ts';

/** Between the close of an untitled notebook and the opening of the file that it was saved as, if it was saved. */
const saveMilliseconds = 3000;
/** Between the announcement that a file is renamed, its close, and the opening of the file that it is then. */
const renameMilliseconds = 30_000;
/** Between the opening of a renamed file and the moment when it has what was not saved under its old name. */
const restoreMilliseconds = 5000;

type Next = { isNext: (notebook: vscode.NotebookDocument) => boolean; milliseconds: number };
type Parting = Pick<Next, 'isNext'> & { timer: NodeJS.Timeout };

/**
 * Kernels of notebooks that were closed a moment ago. For the editor a notebook that is saved for the first time, or
 * renamed, is closed and another one opened; which one is told by the renaming, or by the same cells in it.
 */
export class Partings implements vscode.Disposable {
  readonly #waiting = new Map<NotebookSession, Parting>();
  #renames: { from: vscode.Uri; to: vscode.Uri; until: number }[] = [];
  /** Notebooks that were not saved when their renaming was announced. */
  readonly #unsaved = new WeakSet<vscode.NotebookDocument>();

  /** Files, or folders of files, are about to be renamed. */
  expect(files: readonly { oldUri: vscode.Uri; newUri: vscode.Uri }[]): void {
    const until = Date.now() + renameMilliseconds;
    // A file that gets a name back is not on its way from that name any more.
    const isBack = (from: vscode.Uri): boolean => files.some(({ newUri }) => newUri.toString() === from.toString());
    this.#renames = this.#renames.filter((rename) => rename.until > Date.now() && !isBack(rename.from));
    this.#renames.push(...files.map(({ oldUri, newUri }) => ({ from: oldUri, to: newUri, until })));
    for (const notebook of vscode.workspace.notebookDocuments)
      if (notebook.isDirty && this.isRenamed(notebook)) this.#unsaved.add(notebook);
  }

  /** Whether a notebook's file has another name by now. */
  isRenamed(notebook: vscode.NotebookDocument): boolean {
    return this.#renamed(notebook.uri) !== undefined;
  }

  /**
   * A notebook was closed. Its kernel goes on in the one of `candidates` that it became, which is returned, or waits a
   * moment for that one; a notebook that becomes none ends its kernel.
   */
  leave(session: NotebookSession, candidates: readonly vscode.NotebookDocument[]): vscode.NotebookDocument | undefined {
    const expected = session.hasRun ? this.#nextOf(session.notebook) : undefined;
    if (!expected) {
      session.dispose();
      return undefined;
    }
    const { isNext, milliseconds } = expected;
    const next = candidates.find(isNext);
    if (next) return next;
    const giveUp = (): void => {
      this.#waiting.delete(session);
      session.dispose();
    };
    this.#waiting.set(session, { isNext, timer: setTimeout(giveUp, milliseconds) });
    return undefined;
  }

  /** The kernel that waits for this notebook. */
  claim(notebook: vscode.NotebookDocument): NotebookSession | undefined {
    for (const [session, { isNext, timer }] of this.#waiting) {
      if (!isNext(notebook)) continue;
      clearTimeout(timer);
      this.#waiting.delete(session);
      return session;
    }
    return undefined;
  }

  /**
   * Resolves when a renamed notebook has what it was under its old name. The editor may open the file as it is saved, and
   * put the rest into it a moment later, in place of what cells have shown there by then.
   */
  async whenRestored(before: vscode.NotebookDocument, after: vscode.NotebookDocument): Promise<void> {
    if (!this.#unsaved.has(before)) return;
    for (const end = Date.now() + restoreMilliseconds; !after.isDirty && !after.isClosed && Date.now() < end;)
      await sleep(50);
  }

  dispose(): void {
    for (const [session, { timer }] of this.#waiting) {
      clearTimeout(timer);
      session.dispose();
    }
    this.#waiting.clear();
  }

  #nextOf(notebook: vscode.NotebookDocument): Next | undefined {
    const renamed = this.#renamed(notebook.uri)?.toString();
    if (renamed !== undefined)
      return { isNext: (one) => one.uri.toString() === renamed, milliseconds: renameMilliseconds };
    if (!notebook.isUntitled) return undefined;
    const text = contentOf(notebook);
    return { isNext: (one) => contentOf(one) === text, milliseconds: saveMilliseconds };
  }

  #renamed(uri: vscode.Uri): vscode.Uri | undefined {
    for (const { from, to, until } of this.#renames.toReversed()) {
      if (until < Date.now() || from.scheme !== uri.scheme || from.authority !== uri.authority) continue;
      if (uri.path === from.path) return to;
      if (uri.path.startsWith(`${from.path}/`)) return uri.with({ path: to.path + uri.path.slice(from.path.length) });
    }
    return undefined;
  }
}

const contentOf = (notebook: vscode.NotebookDocument): string =>
  JSON.stringify(notebook.getCells().map((cell) => cell.document.getText()));
