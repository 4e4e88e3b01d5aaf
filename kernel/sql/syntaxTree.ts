import { isRecord } from '#shared/records.ts';
import type { TableName } from './messages.ts';

// The engine's syntax tree of a query, as `json_serialize_sql` writes it. Only the parts that are needed are named
// here; whatever has an unknown form is left to the engine.

/** A node of the tree. */
export type TreeNode = Readonly<Record<string, unknown>>;

/** A table in the FROM of a query, with its node in the tree. */
export type TableReference = TableName & { node: TreeNode };

/** A SELECT, and the names of common table expressions that it sees, in lower case. */
export type SelectNode = { node: TreeNode; scope: ReadonlySet<string> };

export type SyntaxTree = {
  statements: readonly TreeNode[];
  references: readonly TableReference[];
  selects: readonly SelectNode[];
};

/** Schemas that the engine itself fills. */
const ownSchemas: ReadonlySet<string> = new Set(['information_schema', 'pg_catalog']);

/** Parses the tree. Integers that a double can't hold become bigint. */
export function readTree(json: string): SyntaxTree {
  const parsed: unknown = JSON.parse(json, exactNumber);
  const statements = listAt(parsed as TreeNode, 'statements');
  const references: TableReference[] = [];
  const selects: SelectNode[] = [];
  for (const statement of statements) collect(statement, new Set());
  return { statements, references, selects };

  function collect(value: unknown, outer: ReadonlySet<string>): void {
    if (Array.isArray(value)) return value.forEach((each) => collect(each, outer));
    if (!isRecord(value)) return;
    const scope = new Set(outer);
    // A recursive query sees its own name.
    const own = textAt(value, 'cte_name') || textAt(value, 'ctename');
    if (value['type'] === 'RECURSIVE_CTE_NODE' && own !== '') scope.add(own.toLowerCase());
    for (const entry of listAt(nodeAt(value, 'cte_map'), 'map')) {
      collect(entry['value'], scope);
      scope.add(textAt(entry, 'key').toLowerCase());
    }
    if (value['type'] === 'BASE_TABLE') addReference(value, scope);
    if (value['type'] === 'SELECT_NODE') selects.push({ node: value, scope });
    for (const [key, child] of Object.entries(value)) if (key !== 'cte_map') collect(child, scope);
  }

  function addReference(node: TreeNode, scope: ReadonlySet<string>): void {
    const name = { catalog: textAt(node, 'catalog_name'), schema: textAt(node, 'schema_name') };
    const table = textAt(node, 'table_name');
    const isUnqualified = name.catalog === '' && name.schema === '';
    if (isUnqualified && scope.has(table.toLowerCase())) return;
    if (!ownSchemas.has(name.schema.toLowerCase())) references.push({ ...name, name: table, node });
  }
}

/** Keeps the digits of an integer that a double can't hold. */
function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  const isInexact = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isInexact && /^-?\d+$/.test(context?.source ?? '') ? BigInt(context!.source!) : value;
}

export const nodeAt = (node: TreeNode | undefined, key: string): TreeNode | undefined => {
  const value = node?.[key];
  return isRecord(value) ? value : undefined;
};

export const textAt = (node: TreeNode | undefined, key: string): string => {
  const value = node?.[key];
  return typeof value === 'string' ? value : '';
};

export function listAt(node: TreeNode | undefined, key: string): readonly TreeNode[] {
  const value = node?.[key];
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Returns the names in a reference to a column, without quotes: `t.id` is `['t', 'id']`. */
export function columnPath(node: TreeNode | undefined): readonly string[] | undefined {
  const names = node?.['class'] === 'COLUMN_REF' ? node['column_names'] : undefined;
  return Array.isArray(names) ? names.map(String) : undefined;
}
