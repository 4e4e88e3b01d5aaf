import type * as vscode from 'vscode';
import type { NotebookSession } from './session.ts';

/** Between the close of a notebook and the opening of the file that it was saved as or renamed to. */
const waitMilliseconds = 2000;
/** How long after it was announced a renaming may be the reason of a close. */
const renameMilliseconds = 10_000;

type Parting = { isNext: (notebook: vscode.NotebookDocument) => boolean; timer: NodeJS.Timeout };

/**
 * Kernels of notebooks that were closed a moment ago. For the editor a notebook that is saved for the first time, or
 * renamed, is closed and another one opened; which one is told by the renaming, or by the same cells in it.
 */
export class Partings implements vscode.Disposable {
  readonly #waiting = new Map<NotebookSession, Parting>();
  #renames: { from: vscode.Uri; to: vscode.Uri; until: number }[] = [];

  /** Files, or folders of files, are about to be renamed. */
  expect(files: readonly { oldUri: vscode.Uri; newUri: vscode.Uri }[]): void {
    const until = Date.now() + renameMilliseconds;
    this.#renames = this.#renames.filter((rename) => rename.until > Date.now());
    this.#renames.push(...files.map(({ oldUri, newUri }) => ({ from: oldUri, to: newUri, until })));
  }

  /**
   * A notebook was closed. Its kernel goes on in the one of `candidates` that it became, which is returned, or waits a
   * moment for that one; a notebook that becomes none ends its kernel.
   */
  leave(session: NotebookSession, candidates: readonly vscode.NotebookDocument[]): vscode.NotebookDocument | undefined {
    const isNext = session.hasRun ? this.#nextOf(session.notebook) : undefined;
    if (!isNext) {
      session.dispose();
      return undefined;
    }
    const next = candidates.find(isNext);
    if (next) return next;
    const giveUp = (): void => {
      this.#waiting.delete(session);
      session.dispose();
    };
    this.#waiting.set(session, { isNext, timer: setTimeout(giveUp, waitMilliseconds) });
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

  dispose(): void {
    for (const [session, { timer }] of this.#waiting) {
      clearTimeout(timer);
      session.dispose();
    }
    this.#waiting.clear();
  }

  #nextOf(notebook: vscode.NotebookDocument): Parting['isNext'] | undefined {
    const renamed = this.#renamed(notebook.uri)?.toString();
    if (renamed !== undefined) return (one) => one.uri.toString() === renamed;
    if (!notebook.isUntitled) return undefined;
    const text = contentOf(notebook);
    return (one) => contentOf(one) === text;
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
