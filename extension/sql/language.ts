import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import { limitMilliseconds } from '#catalog/names/catalogNames.ts';
import { completeSql, completionItems } from '#catalog/names/sqlCompletion.ts';
import { sqlNameAt } from '#catalog/names/sqlHover.ts';
import { writeSqlTable } from '#catalog/names/sqlNames.ts';
import type { TableDescription } from '#catalog/catalog.ts';
import type { NamedTable } from '#shared/catalogConfig.ts';
import { countText } from '#shared/format/numbers.ts';
import { pluralize } from '#shared/format/markup.ts';
import type { Catalogs } from '../connections/catalogs.ts';
import { ConnectionNames } from '../connections/connectionNames.ts';
import type { Connections } from '../connections/connections.ts';
import { codeBlock, type InertMarkdown, paragraphs, plainText } from '../host/inertMarkdown.ts';
import { createHover } from '../host/messages.ts';
import { hiddenItem, itemOfName, itemOfWorker, rangeOf } from '../notebook/language/items.ts';
import { signalOf } from '../notebook/language/requests.ts';
import type { SqlFiles } from './sqlFiles.ts';

/** Longer files have no completion, because the whole file is read at each key. */
const maxChars = 1_000_000;
/** How long the columns of a table are used before they are read again. */
const freshMs = 30_000;
/** How long a hover waits for a table. */
const hoverMs = 3000;
/** Number of tables whose columns are kept. */
const maxTables = 100;
/** Columns that the hover of a table lists. */
const maxColumns = 30;

type LanguageDeps = { files: SqlFiles; catalogs: Pick<Catalogs, 'get'>; connections: Pick<Connections, 'list'> };

/** Completion and hover in bound SQL files, as in `%%sql` cells. */
export class SqlLanguage implements vscode.CompletionItemProvider, vscode.HoverProvider {
  readonly #deps: LanguageDeps;
  readonly #names: ConnectionNames;
  readonly #tables = new Map<string, { at: number; table: Promise<TableDescription> }>();

  constructor(deps: LanguageDeps) {
    this.#deps = deps;
    this.#names = new ConnectionNames(deps.catalogs, deps.connections);
  }

  /** Drops all names and columns: a connection may now have another catalog, or a catalog other tables. */
  clear(): void {
    this.#names.clear();
    this.#tables.clear();
  }

  async provideCompletionItems(
    document: vscode.TextDocument,
    position: vscode.Position,
    token: vscode.CancellationToken,
    { triggerCharacter }: vscode.CompletionContext,
  ): Promise<vscode.CompletionList | undefined> {
    const connection = this.#deps.files.connectionOf(document)?.name;
    const text = document.getText();
    if (connection === undefined || text.length > maxChars) return undefined;
    // Of the blanks, only those after which a table is expected request names.
    if (triggerCharacter === ' ' && !/\b(?:from|join|into) $/i.test(lineBefore(document, position))) return undefined;
    const offset = document.offsetAt(position);
    const completion = completeSql(text, offset);
    const items = completionItems(completion).map((one) => itemOfWorker(document, undefined, one));
    const { naming, start } = completion;
    if (items.length === 0 && !naming && offset > start) items.push(hiddenItem());
    // VS Code asks again at each key, because nothing is suggested for a word that is finished.
    if (!naming) return new vscode.CompletionList(items, true);
    const typed = text.slice(naming.start, offset);
    const fitting = await this.#names.fitting(connection, naming, { typed, signal: signalOf(token) });
    items.push(...fitting.names.map((one, index) => itemOfName(document, naming, one, index)));
    return new vscode.CompletionList(items, fitting.isPartial || completion.words.length > 0);
  }

  async provideHover(document: vscode.TextDocument, position: vscode.Position): Promise<vscode.Hover | undefined> {
    const connection = this.#deps.files.connectionOf(document)?.name;
    const text = document.getText();
    if (connection === undefined || text.length > maxChars) return undefined;
    const found = sqlNameAt(text, document.offsetAt(position));
    if (!found) return undefined;
    const range = rangeOf(document, found);
    if (found.kind === 'table') {
      const table = await this.#describe(connection, found.table);
      return table && createHover([tableHover(found.table, table)], range);
    }
    const name = found.name.toLowerCase();
    const tables = await Promise.all(
      found.tables.map(async (table) => ({ table, described: await this.#describe(connection, table) })),
    );
    const lines = tables.flatMap(({ table, described }) => {
      const column = described?.columns.find((one) => one.name.toLowerCase() === name);
      const path = writeSqlTable([...table.namespacePath, table.name]);
      return column ? [`${column.name} ${column.type}${column.nullable ? '' : ' not null'} -- ${path}`] : [];
    });
    return lines.length > 0 ? createHover([codeBlock(lines.join('\n'), 'sql')], range) : undefined;
  }

  /**
   * Returns a table with its columns; `undefined` if it can't be read in time, because the user did not request it. The
   * table is read to the end all the same, so that the next hover has it.
   */
  async #describe(connection: string, table: NamedTable): Promise<TableDescription | undefined> {
    const key = JSON.stringify([connection, ...table.namespacePath, table.name]);
    const known = this.#tables.get(key);
    const read = known && Date.now() - known.at < freshMs ? known.table : this.#read(key, connection, table);
    const late = sleep(hoverMs, undefined, { ref: false });
    return Promise.race([read, late]).catch(() => undefined);
  }

  #read(key: string, connection: string, { name, namespacePath }: NamedTable): Promise<TableDescription> {
    const signal = AbortSignal.timeout(limitMilliseconds);
    const read = this.#deps.catalogs
      .get(connection)
      .then((catalog) => catalog.describeTable(name, { namespacePath: [...namespacePath], signal }));
    this.#tables.set(key, { at: Date.now(), table: read });
    for (const oldest of [...this.#tables.keys()].slice(0, -maxTables)) this.#tables.delete(oldest);
    read.catch(() => {
      if (this.#tables.get(key)?.table === read) this.#tables.delete(key);
    });
    return read;
  }
}

const lineBefore = (document: vscode.TextDocument, { line, character }: vscode.Position): string =>
  document.lineAt(line).text.slice(0, character);

function tableHover(
  { name, namespacePath }: NamedTable,
  { columns, numRows, version }: TableDescription,
): InertMarkdown {
  const shown = columns.slice(0, maxColumns).map((column) => `  ${column.name} ${column.type}`);
  const more = columns.length > maxColumns ? [`  -- and ${columns.length - maxColumns} more`] : [];
  const code = `table ${writeSqlTable([...namespacePath, name])}\n${[...shown, ...more].join('\n')}`;
  const facts = [
    ...(numRows === undefined ? [] : [pluralize(numRows, 'row')]),
    pluralize(columns.length, 'column'),
    ...(version === undefined ? [] : [`version ${countText(version)}`]),
  ];
  return paragraphs([codeBlock(code, 'sql'), plainText(facts.join(', '))]);
}
