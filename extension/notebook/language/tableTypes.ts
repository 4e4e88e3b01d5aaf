import type * as vscode from 'vscode';
import { limitMilliseconds } from '#catalog/names/catalogNames.ts';
import type { ColumnType, TablePath, TypedTable } from '#shared/protocol/languageMessages.ts';
import type { LanguageNamesDeps } from './names.ts';
import { documentKey, type LanguageNotebooks } from './notebooks.ts';

type TableTypesDeps = LanguageNamesDeps & {
  notebooks: Pick<LanguageNotebooks, 'list'>;
  /** Sends the tables with known columns to the language worker. */
  send: (notebook: string, tables: TypedTable[]) => void;
};

/** The cached columns of a table. `columns` is `undefined` before the first read and if the read failed. */
type Entry = { at: number; isLoading: boolean; columns?: readonly ColumnType[] | undefined };

/** A notebook in the worker, and what the worker knows about its tables. */
type Opened = { tables: readonly TablePath[]; isUsed: boolean; sent: string };

/** How long cached columns are used before they are read again. */
const freshMilliseconds = 30_000;
/** Delay after a change, because several cells may run one after another. */
const quietMilliseconds = 300;
const maxEntries = 500;

/**
 * Reads the columns of the tables that cells open, so that the rows of these tables have types. Sends requests only for
 * notebooks that the user works in: a notebook that is only opened causes no request. Requests run in the background.
 * If the catalog is slow or fails, the rows have no types.
 */
export class TableTypes {
  readonly #parts: TableTypesDeps;
  readonly #opened = new Map<string, Opened>();
  /** Cached columns. `#keyOf` returns the key of a table. */
  readonly #entries = new Map<string, Entry>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: TableTypesDeps) {
    this.#parts = parts;
  }

  /** Sets the tables that the cells of a notebook open. */
  setTables(notebook: string, tables: readonly TablePath[]): void {
    const isUsed = this.#opened.get(notebook)?.isUsed ?? false;
    // Reset `sent`, because the worker may have started again and then knows no columns.
    this.#opened.set(notebook, { tables, isUsed, sent: '' });
    if (!isUsed) return;
    // Start the delay again, because names of tables are typed letter by letter.
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#schedule();
  }

  /** Records that the user works in a notebook: types, completes a name or runs a cell. */
  use(notebook: vscode.NotebookDocument): void {
    const key = documentKey(notebook);
    const opened = this.#opened.get(key);
    if (opened?.isUsed && opened.tables.every((table) => this.#isFresh(notebook, table))) return;
    this.#opened.set(key, { tables: [], sent: '', ...opened, isUsed: true });
    this.#schedule();
  }

  /** Reads all columns again when they are needed, because tables may have changed. */
  refresh(): void {
    for (const entry of this.#entries.values()) entry.at = 0;
    this.#schedule();
  }

  /** Drops all columns: a connection may now have another catalog. */
  clear(): void {
    this.#entries.clear();
    this.#schedule();
  }

  close(notebook: vscode.NotebookDocument): void {
    this.#opened.delete(documentKey(notebook));
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#opened.clear();
  }

  #isFresh(notebook: vscode.NotebookDocument, table: TablePath): boolean {
    const entry = this.#entries.get(this.#keyOf(notebook, table) ?? '');
    return entry !== undefined && Date.now() - entry.at < freshMilliseconds;
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const notebook of this.#parts.notebooks.list()) this.#load(notebook);
    }, quietMilliseconds);
  }

  #load(notebook: vscode.NotebookDocument): void {
    const opened = this.#opened.get(documentKey(notebook));
    if (!opened?.isUsed) return;
    for (const table of opened.tables) {
      const key = this.#keyOf(notebook, table);
      if (key === undefined || this.#isFresh(notebook, table) || this.#entries.get(key)?.isLoading) continue;
      const entry: Entry = { ...this.#entries.get(key), at: Date.now(), isLoading: true };
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      void this.#fill(entry, notebook, table);
    }
    for (const key of [...this.#entries.keys()].slice(0, -maxEntries)) this.#entries.delete(key);
    this.#send(notebook);
  }

  async #fill(entry: Entry, notebook: vscode.NotebookDocument, table: TablePath): Promise<void> {
    entry.columns = await this.#read(notebook, table);
    entry.isLoading = false;
    // The table may have changed while it was read.
    if (entry.at === 0) this.#schedule();
    for (const one of this.#parts.notebooks.list()) this.#send(one);
  }

  async #read(notebook: vscode.NotebookDocument, table: TablePath): Promise<readonly ColumnType[] | undefined> {
    const { catalogs, notebookCatalogs } = this.#parts;
    const choice = notebookCatalogs.choice(notebook);
    if (!('connection' in choice)) return undefined;
    const options = { namespacePath: [...table.namespacePath], signal: AbortSignal.timeout(limitMilliseconds) };
    try {
      const catalog = await catalogs.get(choice.connection.name);
      const opened = await catalog.openTable(table.name, options);
      const schema = await opened.schema({ signal: options.signal });
      // The first catalog has already loaded Arrow, so this import adds little.
      const { columnTypes } = await import('#catalog/arrow/columnTypes.ts');
      return columnTypes(schema);
    } catch {
      // The user has not asked for the types of rows, so a failure is not an error.
      return undefined;
    }
  }

  #send(notebook: vscode.NotebookDocument): void {
    const key = documentKey(notebook);
    const opened = this.#opened.get(key);
    if (!opened?.isUsed) return;
    const tables = opened.tables.flatMap((table): TypedTable[] => {
      const columns = this.#entries.get(this.#keyOf(notebook, table) ?? '')?.columns;
      return columns ? [{ ...table, columns }] : [];
    });
    const written = JSON.stringify(tables);
    if (written === opened.sent || (tables.length === 0 && opened.sent === '')) return;
    opened.sent = written;
    this.#parts.send(key, tables);
  }

  #keyOf(notebook: vscode.NotebookDocument, { name, namespacePath }: TablePath): string | undefined {
    const choice = this.#parts.notebookCatalogs.choice(notebook);
    return 'connection' in choice ? JSON.stringify([choice.connection.name, ...namespacePath, name]) : undefined;
  }
}
