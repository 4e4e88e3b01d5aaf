import { homedir } from 'node:os';
import { PassThrough } from 'node:stream';
import * as vscode from 'vscode';
import { replaceFileAsync } from '#processes/files.ts';
import { CatalogError, messageOf } from '#shared/errors.ts';
import { asRecord } from '#shared/records.ts';
import { isBoolean, isInteger, isString, shapeFor } from '#shared/shape.ts';

/** Maximum length of a proposed name, and of a part of a file in bytes. */
const maxName = 200;
const maxPart = 8 * 2 ** 20;
/** A page saves one value at a time. More open drafts mean that it forgets to close them. */
const maxDrafts = 8;

type Draft = { readonly target: vscode.Uri; readonly parts: PassThrough; readonly written: Promise<void> };

const isCreate = shapeFor<{ name: string }>({ name: isString });
const isWrite = shapeFor<{ id: number; bytes: Uint8Array }>({
  id: isInteger,
  bytes: (value): value is Uint8Array => value instanceof Uint8Array,
});
const isClose = shapeFor<{ id: number; isComplete: boolean }>({ id: isInteger, isComplete: isBoolean });

/**
 * Files that a page saves: the user chooses a place, and the page sends the content in parts. A file appears under its
 * name when it is complete. A file that is given up leaves nothing, and the file that it would have replaced stays.
 */
export class FileDrafts implements vscode.Disposable {
  readonly #drafts = new Map<number, Draft>();
  #last = 0;
  /** The folder of the last saved file. */
  static #folder: vscode.Uri | undefined;

  /** Lets the user choose a place for a file. Returns null if the user doesn't. */
  async create(params: unknown, signal: AbortSignal): Promise<{ id: number; name: string } | null> {
    if (!isCreate(params) || params.name.length > maxName || this.#drafts.size >= maxDrafts) throw invalid();
    const folder = FileDrafts.#folder ?? vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(homedir());
    const name = params.name.replaceAll(/[\\/:*?"<>|\p{Cc}]/gu, '-').replace(/^\.+/, '') || 'value';
    const target = await vscode.window.showSaveDialog({
      title: 'Save Value As',
      defaultUri: vscode.Uri.joinPath(folder, name),
    });
    if (!target || signal.aborted) return null;
    FileDrafts.#folder = vscode.Uri.joinPath(target, '..');
    const parts = new PassThrough();
    // Without a listener, a stream that is given up would end the process.
    parts.on('error', () => undefined);
    const written = writeAll(target, parts);
    // A failure is the result of the next part or of closing the file.
    written.catch(() => undefined);
    this.#drafts.set(++this.#last, { target, parts, written });
    return { id: this.#last, name: target.path.split('/').at(-1) ?? name };
  }

  /** Adds a part. Resolves when there is room for the next one. @throws CatalogError if the file can't be written */
  async write(params: unknown): Promise<null> {
    if (!isWrite(params) || params.bytes.length > maxPart) throw invalid();
    const { target, parts, written } = this.#get(params.id);
    const taken = new Promise<void>((resolve) => {
      if (parts.write(params.bytes)) resolve();
      else parts.once('drain', resolve);
    });
    try {
      // The file may fail while a part waits for room.
      await Promise.race([taken, written]);
    } catch (error) {
      throw unwritable(target, error);
    }
    return null;
  }

  /** Puts a complete file under its name, or gives it up. @throws CatalogError if the file can't be written */
  async close(params: unknown): Promise<null> {
    if (!isClose(params)) throw invalid();
    const { target, parts, written } = this.#get(params.id);
    this.#drafts.delete(params.id);
    if (!params.isComplete) {
      parts.destroy(new Error('The file was given up.'));
      await written.catch(() => undefined);
      return null;
    }
    parts.end();
    try {
      await written;
    } catch (error) {
      throw unwritable(target, error);
    }
    return null;
  }

  /** Gives up all files that are not complete. */
  dispose(): void {
    for (const { parts } of this.#drafts.values()) parts.destroy(new Error('The page was closed.'));
    this.#drafts.clear();
  }

  #get(id: number): Draft {
    const draft = this.#drafts.get(id);
    if (!draft) throw invalid();
    return draft;
  }
}

/** Writes a file from its parts: through a draft beside it, or at once if the file is not on a disk. */
async function writeAll(target: vscode.Uri, parts: PassThrough): Promise<void> {
  if (target.scheme === 'file') return replaceFileAsync(target.fsPath, parts, { isLasting: true, mode: 0o666 });
  const all: Uint8Array[] = [];
  for await (const part of parts) all.push(part as Uint8Array);
  await vscode.workspace.fs.writeFile(target, Buffer.concat(all));
}

const invalid = (): CatalogError =>
  new CatalogError('InvalidInput', "Can't save the value: the request is not valid.", 'Open the table again.');

function unwritable({ fsPath }: vscode.Uri, cause: unknown): CatalogError {
  const code = asRecord(cause)['code'];
  const why =
    code === 'ENOSPC'
      ? 'the disk is full'
      : code === 'EACCES' || code === 'EPERM'
        ? 'writing there is not allowed'
        : messageOf(cause);
  return new CatalogError('InvalidInput', `Can't save "${fsPath}": ${why}.`, 'Choose another folder.', { cause });
}
