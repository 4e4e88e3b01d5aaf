import type { DataType } from '#arrow';
import type { SqlTable } from './sqlTable.ts';
import { columnPath, listAt, nodeAt, type SyntaxTree, textAt, type TreeNode } from './syntaxTree.ts';

// Finds which columns of a result are columns of a table, unchanged. The engine has fewer types than Arrow, so such a
// column can get back the type of its table.

/** A column of a query, with its type in the table; undefined if the query computes it. */
type Column = { name: string; origin: DataType | undefined };

/** A table, subquery or common table expression in a FROM. */
type Leaf = { names: readonly string[]; columns: readonly Column[] };

type Resolve = (node: TreeNode) => SqlTable | undefined;

/** Returns the types of result columns in their tables; undefined if the columns of the result are not known. */
export function findOrigins(tree: SyntaxTree, tableOf: Resolve): readonly (DataType | undefined)[] | undefined {
  const [statement] = tree.statements;
  return columnsOf(nodeAt(statement, 'node'), new Map(), tableOf)?.map(({ origin }) => origin);
}

type Named = ReadonlyMap<string, readonly Column[] | undefined>;

function columnsOf(node: TreeNode | undefined, outer: Named, tableOf: Resolve): readonly Column[] | undefined {
  if (node?.['type'] !== 'SELECT_NODE') return undefined;
  const named = new Map(outer);
  for (const entry of listAt(nodeAt(node, 'cte_map'), 'map')) {
    const query = nodeAt(nodeAt(nodeAt(entry, 'value'), 'query'), 'node');
    // A list of new column names is left to the engine.
    const isPlain = nodeAt(entry, 'value')?.['aliases'] === undefined;
    named.set(textAt(entry, 'key').toLowerCase(), isPlain ? columnsOf(query, named, tableOf) : undefined);
  }
  const leaves = leavesOf(nodeAt(node, 'from_table'), named, tableOf);
  // Grouping sets give nulls and values of one column, but no other values.
  return leaves && selectColumns(listAt(node, 'select_list'), leaves);
}

function selectColumns(items: readonly TreeNode[], leaves: readonly Leaf[]): readonly Column[] | undefined {
  const columns: Column[] = [];
  for (const item of items) {
    const path = columnPath(item);
    if (path) {
      const name = textAt(item, 'alias') || (path.at(-1) ?? '');
      columns.push({ name, origin: findColumn(path, leaves)?.origin });
    } else if (item['class'] === 'STAR') {
      const isWhole = Object.keys(item).every((key) => starKeys.has(key)) && item['columns'] !== true;
      const relation = textAt(item, 'relation_name').toLowerCase();
      const chosen = relation === '' ? leaves : leaves.filter(({ names }) => names.includes(relation));
      if (!isWhole || chosen.length === 0) return undefined;
      columns.push(...chosen.flatMap((leaf) => leaf.columns));
    } else {
      columns.push({ name: textAt(item, 'alias'), origin: undefined });
    }
  }
  return columns;
}

/** Keys of `*` and `t.*`. Other keys leave out or replace columns. */
const starKeys: ReadonlySet<string> = new Set(['class', 'type', 'query_location', 'columns', 'relation_name']);

function findColumn(path: readonly string[], leaves: readonly Leaf[]): Column | undefined {
  const name = path.at(-1)!.toLowerCase();
  const holder = path.slice(0, -1).join('.').toLowerCase();
  const found = leaves
    .filter(({ names }) => holder === '' || names.includes(holder))
    .flatMap(({ columns }) => columns.filter((column) => column.name.toLowerCase() === name));
  return found.length === 1 ? found[0] : undefined;
}

function leavesOf(node: TreeNode | undefined, named: Named, tableOf: Resolve): readonly Leaf[] | undefined {
  if (!node || node['column_name_alias'] !== undefined) return undefined;
  const alias = textAt(node, 'alias').toLowerCase();
  switch (node['type']) {
    case 'BASE_TABLE': {
      const table = textAt(node, 'table_name').toLowerCase();
      const schema = textAt(node, 'schema_name').toLowerCase();
      const found = tableOf(node);
      const columns = found
        ? found.schema.fields.map(({ name, type }): Column => ({ name, origin: type as DataType }))
        : named.get(table);
      return columns && [{ names: alias ? [alias] : [table, `${schema}.${table}`], columns }];
    }
    case 'SUBQUERY': {
      const columns = columnsOf(nodeAt(nodeAt(node, 'subquery'), 'node'), named, tableOf);
      return columns && [{ names: [alias], columns }];
    }
    case 'JOIN': {
      // Columns in `using` are shown once, so the columns of `*` are not those of both sides.
      if (node['using_columns'] !== undefined || textAt(node, 'ref_type') === 'NATURAL') return undefined;
      if (['SEMI', 'ANTI'].includes(textAt(node, 'join_type'))) return undefined;
      const left = leavesOf(nodeAt(node, 'left'), named, tableOf);
      const right = leavesOf(nodeAt(node, 'right'), named, tableOf);
      return left && right && [...left, ...right];
    }
    default:
      return undefined;
  }
}
