import type { Catalog } from '#catalog/catalog.ts';
import { CatalogError } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import type { PanelChanges } from '#shared/protocol/changes.ts';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import { listOf, isString, nullable, shapeFor } from '#shared/shape.ts';
import { withProgress } from '../host/ask.ts';
import { type PickChoice, pickItem, pickItems } from '../host/messages.ts';
import type { ComparisonKey, State } from '../host/state.ts';
import { chooseFromVersions } from './chooseVersion.ts';
import type { TablePlace } from './tableSource.ts';
import { versionChoices } from './tableVersions.ts';
import { type ViewBase, type ViewDeps, viewedTable } from './viewSource.ts';

// What a table is compared with, as the user chooses it: a version, a tag or another table, and the key of its rows.

/** The part of a catalog that finds tables. */
type ListedCatalog = Pick<Catalog, 'describeTable' | 'listTables' | 'listNamespaces'>;

export type ChooseChangesDeps = {
  readonly views: ViewDeps;
  readonly catalogOf: (connection: string) => Promise<ListedCatalog>;
  readonly state: Pick<State, 'comparisonKeys' | 'setComparisonKeys'>;
};

/** The other table of a comparison. */
type OtherTable = { readonly path: string[]; readonly version: number; readonly columns: readonly ColumnInfo[] };

/** Maximum number of tables whose key is remembered. */
const maxKeys = 100;
/** Maximum number of tables and of namespaces in a list. */
const maxNames = 1000;

/** Asks what the table of a panel is compared with. @returns undefined if the user cancels */
export async function chooseChanges(
  deps: ChooseChangesDeps,
  base: ViewBase,
  signal: AbortSignal,
): Promise<PanelChanges | undefined> {
  const { place, table } = base;
  const own = [...place.path, place.table];
  const shown = table.version;
  if (shown === null) throw new CatalogError('Unsupported', `"${table.title}" has no versions.`, 'Use SQL instead.');
  const other = await chooseOther(deps, base, shown, signal);
  if (!other) return undefined;
  const isSame = JSON.stringify(other.path) === JSON.stringify(own);
  const isBefore = !isSame || other.version < shown;
  const { path, version } = other;
  const tables = await viewedTable(deps.views, base);
  const hasRowIds =
    isSame &&
    (await withProgress(`Looking for row ids of ${displayPath(own)}…`, (running) =>
      deps.views.views.request(
        'hasRowIds',
        { catalog: tables.catalog, before: { path, version }, after: { path: own, version: shown } },
        AbortSignal.any([signal, running]),
      ),
    ));
  const key = await chooseKey(deps, { place, hasRowIds, columns: commonColumns(table.columns, other.columns) });
  return key === undefined ? undefined : { path, version, isBefore, key, kind: null };
}

async function chooseOther(
  { catalogOf }: ChooseChangesDeps,
  { place, source }: ViewBase,
  shown: number,
  signal: AbortSignal,
): Promise<OtherTable | undefined> {
  const { connection, path, table } = place;
  const own = displayPath(path, table);
  const describe = async (names: readonly string[], version: number | undefined): Promise<OtherTable> => {
    const catalog = await catalogOf(connection);
    const at = { namespacePath: names.slice(0, -1), version, signal };
    const found = await catalog.describeTable(names.at(-1) ?? '', at);
    if (found.version !== undefined) return { path: [...names], version: found.version, columns: found.columns };
    const what = `Can't compare with "${displayPath(names)}": the server reports no version of it.`;
    throw new CatalogError('Unsupported', what, 'Use SQL instead.');
  };
  const { versions } = source;
  const chosen = await chooseFromVersions<number | 'newest' | 'table'>({
    title: `Compare version ${shown} of ${own} with…`,
    placeholder: 'A version, a tag, the number of a version, or another table',
    choices: (found, typed) => [
      ...versionChoices(found, shown, typed).filter(({ value }) =>
        value === 'newest' ? found.versions[0]?.version !== shown : value !== shown,
      ),
      { label: 'Another table…', icon: 'table', value: 'table', isAlwaysShown: true },
    ],
    read: (running) => versions?.list(running) ?? Promise.resolve({ versions: [], tags: {} }),
    signal,
  });
  if (chosen === undefined) return undefined;
  if (chosen !== 'table') return describe([...path, table], chosen === 'newest' ? undefined : chosen);
  const other = await chooseTable(await catalogOf(connection), place, path);
  return other && describe(other, undefined);
}

type Step = { readonly kind: 'table' | 'namespace'; readonly path: readonly string[] };

/** Lets the user choose another table of the connection, one namespace at a time, starting with that of the table. */
async function chooseTable(
  catalog: ListedCatalog,
  place: TablePlace,
  path: readonly string[],
): Promise<readonly string[] | undefined> {
  const here = displayPath([place.connection, ...path]);
  const choices = await withProgress(`Listing ${here}…`, async (signal): Promise<PickChoice<Step>[]> => {
    const [tables, namespaces] = await Promise.all([
      catalog.listTables([...path], { limit: maxNames, signal }),
      catalog.listNamespaces([...path], { limit: maxNames, signal }),
    ]);
    const own = JSON.stringify([...place.path, place.table]);
    const up: PickChoice<Step> = {
      label: '..',
      description: displayPath([place.connection, ...path.slice(0, -1)]),
      icon: 'arrow-up',
      value: { kind: 'namespace', path: path.slice(0, -1) },
    };
    return [
      ...tables.tables
        .map((name) => [...path, name])
        .filter((table) => JSON.stringify(table) !== own)
        .map((table): PickChoice<Step> => {
          return { label: table.at(-1)!, icon: 'table', value: { kind: 'table', path: table } };
        }),
      ...namespaces.namespaces.map((name): PickChoice<Step> => {
        const value: Step = { kind: 'namespace', path: [...path, name] };
        return { label: name, description: 'namespace', icon: 'symbol-namespace', value };
      }),
      ...(path.length > 0 ? [up] : []),
    ];
  });
  const title = `Compare ${displayPath(place.path, place.table)} with a table in ${here}`;
  const chosen = await pickItem(choices, { title });
  if (!chosen) return undefined;
  return chosen.kind === 'table' ? chosen.path : chooseTable(catalog, place, chosen.path);
}

/** Columns of both tables with one type that has an order. */
const commonColumns = (columns: readonly ColumnInfo[], others: readonly ColumnInfo[]): ColumnInfo[] =>
  columns.filter(
    ({ name, type, blob }) =>
      blob === undefined &&
      !/^(list|large_list|fixed_size_list|map|struct|dense_union|sparse_union|large_binary|binary)\b/.test(type) &&
      others.some((other) => other.name === name && other.type === type),
  );

/** Names that are usual for a key, the likeliest first. */
const keyNames = [/^_?id$/i, /^(uuid|guid|key|pk)$/i, /(_id|[a-z]Id)$/];

const rankOf = (name: string): number => keyNames.findIndex((one) => one.test(name));

/** Returns the columns whose names are usual for a key, the likeliest first. */
const likelyKeys = (columns: readonly ColumnInfo[]): string[] =>
  columns
    .map(({ name }) => name)
    .filter((name) => rankOf(name) >= 0)
    .toSorted((a, b) => rankOf(a) - rankOf(b));

type KeyChoice = { key: string[] | null } | 'several';

const keyChoice = (key: string[] | null, description?: string): PickChoice<KeyChoice> => ({
  label: key === null ? 'Row ids' : key.join(', '),
  icon: key === null ? 'list-ordered' : 'key',
  ...(description !== undefined && { description }),
  value: { key },
});

/** Asks for the key of the rows. @returns null for row ids; undefined if the user cancels */
async function chooseKey(
  { state }: ChooseChangesDeps,
  { place, columns, hasRowIds }: { place: TablePlace; columns: readonly ColumnInfo[]; hasRowIds: boolean },
): Promise<string[] | null | undefined> {
  const table = JSON.stringify([place.connection, place.path, place.table]);
  const all = rememberedKeys(state);
  const remembered = all.find((one) => one.table === table)?.key;
  const names = columns.map(({ name }) => name);
  const isUsable = remembered === null ? hasRowIds : remembered?.every((name) => names.includes(name));
  const likely = likelyKeys(columns);
  const keys: readonly PickChoice<KeyChoice>[] = [
    ...(isUsable === true && remembered !== undefined ? [keyChoice(remembered, 'used last time')] : []),
    ...(hasRowIds ? [keyChoice(null, 'stable in this table, and fastest')] : []),
    ...[...likely, ...names.filter((name) => !likely.includes(name))].map((name) =>
      keyChoice([name], columns.find((column) => column.name === name)?.type),
    ),
  ];
  const seen = new Set<string>();
  const choices = keys.filter(({ label, icon }) => !seen.has(`${icon} ${label}`) && seen.add(`${icon} ${label}`));
  const title = 'What identifies a row?';
  if (choices.length === 0)
    throw new CatalogError(
      'Unsupported',
      'The tables have no common column that identifies a row.',
      'Choose a version of this table, or a table with a column of the same name and type.',
    );
  const several: PickChoice<KeyChoice> = { label: 'Several columns…', icon: 'checklist', value: 'several' };
  const chosen = await pickItem([...choices, ...(names.length > 1 ? [several] : [])], { title });
  if (chosen === undefined) return undefined;
  const key =
    chosen === 'several'
      ? await pickItems(
          columns.map(({ name, type }) => ({ label: name, description: type, value: name })),
          { title },
        )
      : chosen.key;
  if (key === undefined || key?.length === 0) return undefined;
  await state.setComparisonKeys([...all.filter((one) => one.table !== table), { table, key }].slice(-maxKeys));
  return key;
}

const isRememberedKey = shapeFor<ComparisonKey>({ table: isString, key: nullable(listOf(isString)) });

function rememberedKeys(state: ChooseChangesDeps['state']): ComparisonKey[] {
  const all = state.comparisonKeys();
  return Array.isArray(all) ? all.filter((one) => isRememberedKey(one)) : [];
}
