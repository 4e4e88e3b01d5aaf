import { displayPath } from '#shared/names.ts';
import type { CommandId } from '../manifest.ts';
import { nodeId, type CatalogNode, type NodeOf } from './node.ts';

/** A tree row as data; tree.ts makes a `TreeItem` of it. */
export type NodeView = {
  id: string;
  label: string;
  description: string;
  tooltip: string;
  /** What a screen reader says. */
  spoken: string;
  /** A product icon, see "Product Icon Reference", and a theme colour for it. */
  icon: { id: string; color?: string };
  state: 'leaf' | 'collapsed';
  /** What `when` clauses of menus compare with `viewItem`. */
  contextValue: string;
  command?: { id: CommandId; title: string };
};

/** How a node looks. Pure, so that every look has a test without an editor. */
export function renderNode(node: CatalogNode): NodeView {
  const id = nodeId(node);
  switch (node.kind) {
    case 'connection':
      return renderConnection(id, node);
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
        contextValue: 'namespace',
      };
    }
    case 'table':
      return {
        id,
        label: node.table,
        description: '',
        tooltip: `Table ${displayPath(node.path, node.table)}`,
        spoken: `Table ${node.table}${node.path.length ? ` in ${displayPath(node.path)}` : ''}`,
        icon: { id: 'table' },
        state: 'collapsed',
        contextValue: 'table',
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

function renderConnection(id: string, { connection }: NodeOf<'connection'>): NodeView {
  const fromSetting = connection.source === 'setting';
  return {
    id,
    label: connection.name,
    description: connection.root,
    tooltip: `Directory ${connection.root}${fromSetting ? '\nFrom the setting lanceCatalog.defaultConnections' : ''}`,
    spoken: `Connection ${connection.name}, directory ${connection.root}`,
    icon: { id: 'database' },
    state: 'collapsed',
    contextValue: fromSetting ? 'connection.setting' : 'connection',
  };
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

function renderError(id: string, node: NodeOf<'error'>): NodeView {
  const restart = node.remedy === 'restart';
  const action = restart ? 'Restart' : 'Try again';
  return {
    id,
    // What to do first: a narrow side bar cuts the rest.
    label: restart ? 'Restart the engine' : node.what,
    description: restart ? node.what : node.hint,
    tooltip: [node.what, node.hint, `Click: ${action.toLowerCase()}.`].filter(Boolean).join('\n'),
    spoken: `Error: ${node.what} ${node.hint} Press Enter: ${action.toLowerCase()}.`,
    icon: { id: 'error', color: 'list.errorForeground' },
    state: 'leaf',
    contextValue: restart ? 'error.restart' : 'error.retry',
    command: restart
      ? { id: 'lanceCatalog.engine.restart', title: 'Restart' }
      : { id: 'lanceCatalog.catalog.refresh', title: 'Try Again' },
  };
}

// The first pattern that matches decides: a list of floats is a list before it is a number.
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

/** The product icon for an Arrow type in words, `fixed_size_list<float>[128]` for instance. */
export const columnIcon = (type: string): string =>
  icons.find(([pattern]) => pattern.test(type))?.[1] ?? 'symbol-field';
