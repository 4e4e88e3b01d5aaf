import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { NotebookSession } from './session.ts';

/** Maximum time between closing an untitled notebook and opening the file that it was saved as. */
const saveMilliseconds = 3000;
/**
 * Maximum time from the announcement of a rename to the close of the file, and from the close to the opening under the
 * new name.
 */
const renameMilliseconds = 30_000;
/** Maximum time between opening a renamed file and restoring its unsaved content. */
const restoreMilliseconds = 5000;

type Next = { isNext: (notebook: vscode.NotebookDocument) => boolean; milliseconds: number };
type Parting = Pick<Next, 'isNext'> & { timer: NodeJS.Timeout };

/**
 * Kernels of notebooks that were just closed. The user may open the notebook again soon. When the user renames a
 * notebook or saves it for the first time, VS Code closes the document and opens a new one. The rename event identifies
 * the new document. Without a rename event, the new document is the one whose cells have the same content.
 */
export class RenamedNotebooks implements vscode.Disposable {
  readonly #waiting = new Map<NotebookSession, Parting>();
  #renames: { from: vscode.Uri; to: vscode.Uri; until: number }[] = [];
  /** Notebooks with unsaved changes when their rename was announced. */
  readonly #unsaved = new WeakSet<vscode.NotebookDocument>();

  /** Records that files, or folders of files, are about to be renamed. */
  expect(files: readonly { oldUri: vscode.Uri; newUri: vscode.Uri }[]): void {
    const until = Date.now() + renameMilliseconds;
    // If a file gets the old name of an earlier rename, that earlier rename is dropped.
    const isBack = (from: vscode.Uri): boolean => files.some(({ newUri }) => newUri.toString() === from.toString());
    this.#renames = this.#renames.filter((rename) => rename.until > Date.now() && !isBack(rename.from));
    this.#renames.push(...files.map(({ oldUri, newUri }) => ({ from: oldUri, to: newUri, until })));
    for (const notebook of vscode.workspace.notebookDocuments)
      if (notebook.isDirty && this.isRenamed(notebook)) this.#unsaved.add(notebook);
  }

  isRenamed(notebook: vscode.NotebookDocument): boolean {
    return this.#renamed(notebook.uri) !== undefined;
  }

  /**
   * Handles a closed notebook.
   * @returns the notebook of `candidates` that continues with the kernel. If `undefined`, the kernel waits a moment for
   * a notebook that opens later, or is disposed if no notebook can follow
   * @param keepMs how long the kernel waits for the same notebook to be opened again
   */
  leave(
    session: NotebookSession,
    candidates: readonly vscode.NotebookDocument[],
    keepMs: number,
  ): vscode.NotebookDocument | undefined {
    const expected = session.hasRun ? this.#nextOf(session.notebook, keepMs) : undefined;
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

  /** Returns the session that waits for this notebook, and stops its timer. */
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
   * Resolves when a renamed notebook has its unsaved content. VS Code may first open the saved file and insert the
   * unsaved content a moment later, which overwrites outputs shown before.
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

  #nextOf(notebook: vscode.NotebookDocument, keepMs: number): Next | undefined {
    const renamed = this.#renamed(notebook.uri)?.toString();
    if (renamed !== undefined)
      return { isNext: (one) => one.uri.toString() === renamed, milliseconds: renameMilliseconds };
    if (!notebook.isUntitled) {
      const uri = notebook.uri.toString();
      return keepMs > 0 ? { isNext: (one) => one.uri.toString() === uri, milliseconds: keepMs } : undefined;
    }
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
