import type { Catalog, TableDescription } from '#catalog/catalog.ts';
import { namePages } from '#catalog/listPages.ts';
import type { Table, VersionInfo } from '#catalog/table/table.ts';
import { withCatalog } from '#jobs/openCatalog.ts';
import { CatalogError, isAbort, isCatalogError } from '#shared/errors.ts';
import { alignColumns, pluralize } from '#shared/format/markup.ts';
import { countText } from '#shared/format/numbers.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import { nextSteps } from '#shared/nextSteps.ts';
import { catalogArguments, catalogOf, oneCatalogHelp, pathOf } from './catalogArguments.ts';
import { type Command, parse, UsageError } from './command.ts';
import { stopBySignals } from './signals.ts';
import { printChunks, terminalText } from './terminal.ts';

const summary = `  lance-catalog list [PATH] [--all] [--json]
      list the tables and namespaces of a catalog, or the columns, versions and tags of a table`;

export const listCommand: Command = {
  summary,
  help: `Lists what a catalog, a namespace or a table has

${summary}

  PATH                 shop/eu for a namespace, shop/eu/orders for a table; as JSON, ["shop","a/b"], if a name contains
                       a slash (default: the root of the catalog)
  --all                also list everything below each namespace
  --json               print JSON lines: {"kind":"namespace"|"table","path":[…]} for each name; for a table one object
                       with its columns, versions and tags
${oneCatalogHelp}

Names are printed one in a line, with their path: namespaces first, with a slash at the end. For a table the newest 20
versions are printed; --json prints all. Exit code 0, 1 if the list failed, 2 for wrong arguments, 130 after Ctrl-C.`,
  run,
};

type ListOptions = { readonly isJson: boolean; readonly isDeep: boolean; readonly signal: AbortSignal };

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(
    args,
    { ...catalogArguments, all: { type: 'boolean' }, json: { type: 'boolean' } },
    true,
  );
  const [given = '/', ...more] = positionals;
  if (more.length > 0) throw new UsageError('"list" takes one PATH.');
  const path = pathOf(given);
  const config = catalogOf(values);
  const stop = stopBySignals();
  stop.onRepeat(() => process.exit(stop.code));
  const { signal } = stop;
  const options = { isJson: values.json ?? false, isDeep: values.all ?? false, signal };
  try {
    await withCatalog(config, signal, async (catalog) => {
      const isNamespace = path.length === 0 || (await catalog.namespaceExists(path, { signal }));
      const lines = isNamespace ? nameLines(catalog, path, options) : tableLines(catalog, path, options);
      await printChunks(encoded(lines), signal);
    });
    return 0;
  } catch (error) {
    if (!signal.aborted || !isAbort(error)) throw error;
    console.error('Stopped.');
    return stop.code ?? 1;
  } finally {
    stop.dispose();
  }
}

async function* encoded(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const line of lines) yield Buffer.from(`${line}\n`);
}

/** Yields names as the pages of the lists arrive. */
async function* nameLines(catalog: Catalog, path: NamespacePath, options: ListOptions): AsyncGenerator<string> {
  const { isJson, isDeep, signal } = options;
  const line = (kind: 'namespace' | 'table', name: string): string =>
    isJson
      ? JSON.stringify({ kind, path: [...path, name] })
      : terminalText(`${displayPath(path, name)}${kind === 'namespace' ? '/' : ''}`);
  const namespaces = namePages(async (pageToken) => {
    const page = await catalog.listNamespaces(path, { pageToken, limit: pageSize, signal });
    return { names: page.namespaces, pageToken: page.pageToken };
  });
  for await (const names of namespaces)
    for (const name of names) {
      yield line('namespace', name);
      if (isDeep) yield* nameLines(catalog, [...path, name], options);
    }
  const tables = namePages(async (pageToken) => {
    const page = await catalog.listTables(path, { pageToken, limit: pageSize, signal });
    return { names: page.tables, pageToken: page.pageToken };
  });
  for await (const names of tables) for (const name of names) yield line('table', name);
}

const pageSize = 1000;

async function* tableLines(catalog: Catalog, path: NamespacePath, options: ListOptions): AsyncGenerator<string> {
  const { isJson, signal } = options;
  const [name = '', namespacePath] = [path.at(-1), path.slice(0, -1)];
  const described = await describe(catalog, path, signal);
  const table = await catalog.openTable(name, { namespacePath, signal });
  const [versions, tags] = await Promise.all([
    listed(table, (opened) => opened.listVersions({ signal })),
    listed(table, async (opened) => [...(await opened.tags().list({ signal }))]),
  ]);
  if (isJson) {
    const { columns, numRows, version, location } = described;
    yield JSON.stringify({
      kind: 'table',
      path,
      rows: numRows,
      version,
      location,
      columns: columns.map((column) => ({ name: column.name, type: column.type, nullable: column.nullable })),
      versions: versions?.map(({ version: number, timestamp }) => ({ version: number, timestamp })),
      tags: tags && Object.fromEntries(tags.map(([tag, info]) => [tag, info.version])),
    });
    return;
  }
  yield terminalText(headLine(path, described));
  const columns = described.columns.map((column) => [column.name, column.type, column.nullable ? '' : 'not null']);
  yield* section(['column', 'type', ''], columns);
  if (tags && tags.length > 0)
    yield* section(
      ['tag', 'version'],
      tags.map(([tag, { version }]) => [tag, String(version)]),
    );
  if (versions && versions.length > 0) yield* versionLines(versions);
}

const headLine = (path: NamespacePath, { numRows, version }: TableDescription): string =>
  [
    displayPath(path),
    ...(numRows === undefined ? [] : [pluralize(numRows, 'row')]),
    ...(version === undefined ? [] : [`version ${version}`]),
  ].join(', ');

const shownVersions = 20;

function* versionLines(versions: readonly VersionInfo[]): Generator<string> {
  const newest = versions.toSorted((a, b) => b.version - a.version);
  yield* section(
    ['version', 'created'],
    newest.slice(0, shownVersions).map(({ version, timestamp }) => [String(version), timestamp.toISOString()]),
  );
  if (newest.length > shownVersions) yield `… ${countText(newest.length - shownVersions)} earlier; --json prints all`;
}

function* section(head: readonly string[], rows: readonly (readonly string[])[]): Generator<string> {
  yield '';
  for (const line of alignColumns([head, ...rows], 80)) yield terminalText(line);
}

/** @throws CatalogError TableNotFound (4) with the nearest table, else the nearest namespace */
async function describe(catalog: Catalog, path: NamespacePath, signal: AbortSignal): Promise<TableDescription> {
  try {
    return await catalog.describeTable(path.at(-1) ?? '', { namespacePath: path.slice(0, -1), signal });
  } catch (error) {
    if (!isCatalogError(error, 'TableNotFound') || error.hint === nextSteps.listedWithoutData) throw error;
    const what = `"${displayPath(path)}" is neither a table nor a namespace.`;
    const usual = error.hint === nextSteps.listTables ? await namespaceStep(catalog, path, signal) : error.hint;
    throw new CatalogError(error.kind, what, usual, { cause: error });
  }
}

async function namespaceStep(catalog: Catalog, path: NamespacePath, signal: AbortSignal): Promise<string> {
  try {
    await catalog.describeNamespace(path, { signal });
  } catch (error) {
    if (isCatalogError(error, 'NamespaceNotFound') && error.hint !== nextSteps.listNamespaces) return error.hint;
  }
  return nextSteps.listTables;
}

/** Returns a list of a table; undefined if the server does not have it. */
async function listed<T>(table: Table, list: (table: Table) => Promise<T>): Promise<T | undefined> {
  try {
    return await list(table);
  } catch (error) {
    if (isCatalogError(error, 'Unsupported')) return undefined;
    throw error;
  }
}
