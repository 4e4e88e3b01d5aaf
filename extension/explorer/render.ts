import { displayPath } from '#shared/names.ts';
import type { CommandId } from '../manifest.ts';
import type { TreeRow } from '../host/treeRow.ts';
import { connectionLabel } from '../connections/connectionRules.ts';
import { plural } from './contents.ts';
import { allAbilities, nodeId, type Ability, type CatalogNode, type NodeOf, type ErrorAction } from './node.ts';

/** A row of the catalog tree. */
export type NodeView = TreeRow<string> & { readonly command?: { readonly id: CommandId; readonly title: string } };

/** Renders a node without `vscode`, so that tests need no editor. */
export function renderNode(node: CatalogNode, can: ReadonlySet<Ability> = allAbilities): NodeView {
  const id = nodeId(node);
  switch (node.kind) {
    case 'connection':
      return renderConnection(id, node, can);
    case 'namespace': {
      const name = node.path.at(-1) ?? '';
      const full = displayPath(node.path);
      return {
        id,
        label: name,
        description: '',
        tooltip: `Namespace ${full}`,
        spoken: `Namespace ${name}`,
        icon: { id: 'symbol-namespace' },
        state: 'collapsed',
        contextValue: words('namespace', can, 'createNamespace', 'createTable', 'dropNamespace'),
      };
    }
    case 'table':
      return {
        id,
        label: node.table,
        description: '',
        tooltip: renderTableHover(node),
        spoken: `Table ${node.table}${node.path.length ? ` in ${displayPath(node.path)}` : ''}`,
        icon: { id: 'table' },
        state: 'collapsed',
        contextValue: words('table', can, 'renameTable', 'optimizeTable', 'dropTable'),
        command: { id: 'lanceCatalog.table.preview', title: 'Preview Table' },
      };
    case 'column':
      return renderColumn(id, node);
    case 'more':
      return {
        id,
        label: `Load more ${node.what}…`,
        description: '',
        tooltip: `Loads the next ${node.what} of ${displayPath(node.path)}`,
        spoken: `Load more ${node.what}`,
        icon: { id: 'ellipsis' },
        state: 'leaf',
        contextValue: 'more',
        command: { id: 'lanceCatalog.catalog.loadMore', title: 'Load More' },
      };
    case 'damage':
      return renderDamage(id, node);
    case 'empty':
      return {
        id,
        label: '',
        description: node.text,
        tooltip: node.text,
        spoken: node.text,
        icon: { id: 'blank' },
        state: 'leaf',
        contextValue: 'empty',
      };
    case 'error':
      return renderError(id, node);
  }
}

/** Returns the hover of a table: path, size and location, as far as the catalog reports them. */
export function renderTableHover(
  { path, table }: NodeOf<'table'>,
  description?: { numRows?: number; columns: readonly unknown[]; version?: number; location?: string },
): string {
  const full = `Table ${displayPath(path, table)}`;
  if (!description) return full;
  const { numRows, columns, version, location } = description;
  // Some servers report neither rows nor versions.
  const size = [
    ...(numRows === undefined ? [] : [plural(numRows, 'row')]),
    plural(columns.length, 'column'),
    ...(version === undefined ? [] : [`version ${version}`]),
  ].join(', ');
  return [full, size, ...(location === undefined ? [] : [location])].join('\n');
}

const words = (kind: string, can: ReadonlySet<Ability>, ...wanted: readonly Ability[]): string =>
  [kind, ...wanted.filter((ability) => can.has(ability))].join('.');

function renderConnection(id: string, node: NodeOf<'connection'>, can: ReadonlySet<Ability>): NodeView {
  const { connection } = node;
  const { name, kind, source } = connection;
  const isServer = kind === 'rest';
  const where = connectionLabel(connection);
  const lines = [
    ...(kind === 'other' ? [] : [isServer ? `Server ${connection.uri}` : `Directory ${where}`]),
    ...(isServer && connection.database !== undefined ? [`Database ${connection.database}`] : []),
    ...(source === 'setting'
      ? ['This connection comes from the setting lanceCatalog.defaultConnections. Change or remove it there.']
      : []),
  ];
  const location = isServer ? shortAddress(connection.uri, connection.database) : shortPath(where);
  return {
    id,
    label: name,
    description: source === 'setting' ? `${location} · setting` : location,
    tooltip: lines.join('\n'),
    spoken: `Connection ${name}, ${kind === 'other' ? '' : isServer ? 'server ' : 'directory '}${where}${source === 'setting' ? ', from a setting' : ''}`,
    icon: { id: isServer ? 'server' : 'database' },
    state: 'collapsed',
    contextValue: words(`connection.${kind}.${source}`, can, 'createNamespace', 'createTable'),
  };
}

/** Returns host and database, which distinguish servers in a narrow side bar. */
const shortAddress = (uri: string, database: string | undefined): string =>
  [URL.canParse(uri) ? new URL(uri).host : uri, ...(database === undefined ? [] : [database])].join(' · ');

/** Number of characters of a path that fit beside a name in a narrow side bar. */
const pathCharacters = 18;

/** Returns the end of a long path, because the ends of paths differ, and a side bar would cut them off. */
function shortPath(location: string): string {
  if (location.length <= pathCharacters) return location;
  const names = location.split(/[/\\]/).filter(Boolean);
  const two = names.slice(-2).join('/');
  return `…/${two.length < pathCharacters ? two : (names.at(-1) ?? '')}`;
}

function renderColumn(id: string, { table, column }: NodeOf<'column'>): NodeView {
  const { name, type, nullable } = column;
  return {
    id,
    label: name,
    description: type,
    tooltip: `${name}: ${type}${nullable ? ', may be null' : ', never null'}`,
    spoken: `Column ${name} of ${table}, type ${type}`,
    icon: { id: columnIcon(type) },
    state: 'leaf',
    contextValue: 'column',
  };
}

/** What a click on an error row does. If `label` is set, the row shows it first and the error text after it. */
const remedies: Record<ErrorAction, { action: string; label?: string; command: NonNullable<NodeView['command']> }> = {
  retry: { action: 'Try again', command: { id: 'lanceCatalog.catalog.refresh', title: 'Try Again' } },
  restart: {
    action: 'Restart',
    label: 'Engine stopped. Restart',
    command: { id: 'lanceCatalog.engine.restart', title: 'Restart' },
  },
  key: {
    action: 'Update the API key',
    label: 'Update the API key…',
    command: { id: 'lanceCatalog.connection.updateKey', title: 'Update API Key…' },
  },
};

const decapitalise = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** Leaves out the address of the server, which the row above shows: a narrow side bar would cut off what follows it. */
const withoutAddress = (what: string): string => what.replace(/^The catalog server at \S+ /, 'Server ');

function renderError(id: string, node: NodeOf<'error'>): NodeView {
  const { what, hint, remedy } = node;
  const { action, label, command } = remedies[remedy];
  const shown = withoutAddress(what);
  return {
    id,
    // The action comes first, because a narrow side bar cuts off the end of a row.
    label: label ?? shown,
    description: label === undefined ? hint : shown,
    tooltip: [what, hint, `Click to ${decapitalise(action)}.`].filter(Boolean).join('\n'),
    spoken: `Error: ${what} ${hint} Press Enter to ${decapitalise(action)}.`,
    icon: { id: 'error', color: 'list.errorForeground' },
    state: 'leaf',
    contextValue: `error.${remedy}`,
    command,
  };
}

/** Maximum number of problems in a tooltip. */
const mostProblems = 5;

function renderDamage(id: string, { problems }: NodeOf<'damage'>): NodeView {
  const [first = ''] = problems;
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  const more = problems.length > mostProblems ? [`and ${problems.length - mostProblems} more`] : [];
  return {
    id,
    // The action comes first, because a narrow side bar cuts off the end of a row.
    label: `Repair ${count}…`,
    description: first,
    tooltip: [...problems.slice(0, mostProblems), ...more, 'Click to see what a repair does.'].join('\n'),
    spoken: `Warning: ${count} in this catalog. ${first} Press Enter to see what a repair does.`,
    icon: { id: 'warning', color: 'list.warningForeground' },
    state: 'leaf',
    contextValue: 'damage',
    command: { id: 'lanceCatalog.catalog.repair', title: 'Repair Catalog…' },
  };
}

// The first matching pattern decides: a list of floats is a list, not a number.
const icons: readonly (readonly [RegExp, string])[] = [
  [/^(fixed_size_)?(large_)?list|^array/i, 'symbol-array'],
  [/^(struct|map|union)/i, 'symbol-struct'],
  [/^dictionary/i, 'symbol-enum'],
  [/^(timestamp|date|time|duration|interval)/i, 'calendar'],
  [/^bool/i, 'symbol-boolean'],
  [/^(u?int|half|float|double|decimal)/i, 'symbol-numeric'],
  [/^(large_)?(utf8|string)/i, 'symbol-string'],
  [/binary/i, 'file-binary'],
];

/** Returns the product icon for an Arrow type name such as `fixed_size_list<float>[128]`. */
export const columnIcon = (type: string): string =>
  icons.find(([pattern]) => pattern.test(type))?.[1] ?? 'symbol-field';
