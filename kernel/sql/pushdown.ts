import { DataType, type Field, Precision } from '#arrow';
import { sqlLiteral, sqlName } from '#catalog/sqlText.ts';
import {
  convertText,
  exactLiteralFor,
  type ExactLiteral,
  exactParameter,
  integerDigits,
  readCast,
  readDecimal,
} from './exactLiterals.ts';
import type { Parameter } from './messages.ts';
import type { ScanRequest, SqlTable } from './sqlTable.ts';
import { columnPath, listAt, nodeAt, type SyntaxTree, textAt, type TreeNode } from './syntaxTree.ts';

// Finds the conditions and limits of a query that a table can apply itself, so that fewer rows are transferred. The
// engine applies all conditions to the received rows, so a table may send too many rows, but never too few. A condition
// is left out unless it certainly means the same in the engine and in tables:
//
// - Strings compare by their bytes in both.
// - The engine takes every NaN for the largest number and -0 for 0. Tables order NaN by its sign, and -0 below 0.
// - An integer compares exactly only with an integer of the column's range, a single-precision float only with a number
//   that it holds. For dates, times and decimals see `exactLiterals.ts`.

/** What the scans of a table may leave out; undefined for nothing. */
export type Pushdown = Pick<ScanRequest, 'filter' | 'limit'>;

/** A table of a FROM, with the names by which columns refer to it. */
type Leaf = { node: TreeNode; names: readonly string[]; fields: readonly Field[] };

/** Tables of a FROM. If `isOuter`, a join may add rows of nulls. If not `isComplete`, it also has other parts. */
type Tables = { leaves: readonly Leaf[]; isOuter: boolean; isComplete: boolean };

/** The condition in the ON of a join, and the tables of which the join needs only rows that meet it. */
type JoinCondition = { node: TreeNode; leaves: readonly Leaf[]; tables: Tables };

type From = Tables & { on: readonly JoinCondition[] };

/**
 * Returns what the scans of each table may leave out.
 * @param tableOf the table of a reference's node
 */
export function findPushdowns(
  tree: SyntaxTree,
  parameters: readonly Parameter[],
  tableOf: (node: TreeNode) => SqlTable | undefined,
): ReadonlyMap<SqlTable, Pushdown> {
  const perNode = new Map<TreeNode, Pushdown>();
  for (const { node } of tree.selects) {
    const from = readFrom(node['from_table'] as TreeNode | undefined, tableOf);
    if (!from) continue;
    const where = nodeAt(node, 'where_clause');
    for (const leaf of from.leaves) {
      const filter = filterOf(leaf, from, where, parameters);
      const limit = where === undefined && from.isComplete ? limitOf(node, parameters) : undefined;
      if (filter !== undefined || limit !== undefined) perNode.set(leaf.node, { filter, limit });
    }
  }
  return combine(tree, perNode, tableOf);
}

/** Returns a condition that every row of a table meets which a SELECT needs. */
function filterOf(
  leaf: Leaf,
  from: From,
  where: TreeNode | undefined,
  parameters: readonly Parameter[],
): string | undefined {
  const conditions = from.on.filter(({ leaves }) => leaves.includes(leaf));
  if (where) conditions.unshift({ node: where, leaves: from.leaves, tables: from });
  const filters = conditions.map(({ node, tables }) => new Conditions(leaf, tables, parameters).read(node));
  const usable = filters.filter((filter) => filter !== undefined);
  return usable.length > 0 ? usable.join(' AND ') : undefined;
}

/** Joins what the references to one table may leave out: a row is needed if any reference needs it. */
function combine(
  tree: SyntaxTree,
  perNode: ReadonlyMap<TreeNode, Pushdown>,
  tableOf: (node: TreeNode) => SqlTable | undefined,
): ReadonlyMap<SqlTable, Pushdown> {
  const combined = new Map<SqlTable, Pushdown>();
  for (const table of new Set(tree.references.map(({ node }) => tableOf(node)))) {
    if (!table) continue;
    const references = tree.references.filter(({ node }) => tableOf(node) === table);
    const [first, ...others] = references.map(({ node }) => perNode.get(node) ?? {});
    const filters = [first, ...others].map((each) => each?.filter);
    const isFiltered = filters.every((filter) => filter !== undefined);
    combined.set(table, {
      filter: isFiltered ? [...new Set(filters)].map((filter) => `(${filter})`).join(' OR ') : undefined,
      limit: others.length === 0 ? first?.limit : undefined,
    });
  }
  return combined;
}

/** The kinds of joins, with the sides of which rows that don't meet the condition in ON have no effect. */
const joins: Readonly<Record<string, readonly ('left' | 'right')[]>> = {
  INNER: ['left', 'right'],
  LEFT: ['right'],
  RIGHT: ['left'],
  OUTER: [],
  SEMI: ['left', 'right'],
  ANTI: ['right'],
};
const joinKinds: ReadonlySet<string> = new Set(['REGULAR', 'CROSS', 'NATURAL']);

/** Reads a FROM; undefined if it has a part whose rows depend on which other rows were read. */
function readFrom(node: TreeNode | undefined, tableOf: (node: TreeNode) => SqlTable | undefined): From | undefined {
  if (!node || node['sample'] !== undefined) return undefined;
  switch (node['type']) {
    case 'BASE_TABLE': {
      const table = node['column_name_alias'] === undefined ? tableOf(node) : undefined;
      // A common table expression, or a table whose columns have other names here.
      if (!table) return { leaves: [], isOuter: false, isComplete: false, on: [] };
      const leaf: Leaf = { node, names: namesOf(node), fields: table.schema.fields };
      return { leaves: [leaf], isOuter: false, isComplete: true, on: [] };
    }
    case 'JOIN': {
      const kind = textAt(node, 'join_type') || 'INNER';
      const sides = { left: readFrom(nodeAt(node, 'left'), tableOf), right: readFrom(nodeAt(node, 'right'), tableOf) };
      const { left, right } = sides;
      const filtered = joins[kind];
      if (!left || !right || !filtered || !joinKinds.has(textAt(node, 'ref_type') || 'REGULAR')) return undefined;
      const leaves = [...left.leaves, ...right.leaves];
      const isComplete = left.isComplete && right.isComplete;
      const condition = nodeAt(node, 'condition');
      const on = filtered.map((side): JoinCondition[] => {
        const { leaves: reduced, isOuter } = sides[side]!;
        return condition ? [{ node: condition, leaves: reduced, tables: { leaves, isOuter, isComplete } }] : [];
      });
      return {
        leaves,
        isOuter: kind !== 'INNER' || left.isOuter || right.isOuter,
        isComplete,
        on: [...left.on, ...right.on, ...on.flat()],
      };
    }
    case 'SUBQUERY':
      return { leaves: [], isOuter: false, isComplete: false, on: [] };
    default:
      return undefined;
  }
}

function namesOf(node: TreeNode): readonly string[] {
  const alias = textAt(node, 'alias').toLowerCase();
  if (alias !== '') return [alias];
  const table = textAt(node, 'table_name').toLowerCase();
  const schema = textAt(node, 'schema_name').toLowerCase();
  const catalog = textAt(node, 'catalog_name').toLowerCase();
  const names = [table, ...(schema === '' ? [] : [`${schema}.${table}`])];
  return catalog === '' ? names : [...names, `${catalog}.${schema}.${table}`];
}

/** Keys of a SELECT that change which rows of the table the first result rows come from. */
const otherParts = ['where_clause', 'group_expressions', 'group_sets', 'having', 'qualify', 'sample', 'cte_map'];
const plainItems: ReadonlySet<unknown> = new Set(['COLUMN_REF', 'STAR', 'CONSTANT']);

/** Returns the number of first rows of the table that a plain SELECT with a limit needs. */
function limitOf(node: TreeNode, parameters: readonly Parameter[]): number | undefined {
  const [modifier, ...more] = listAt(node, 'modifiers');
  const isPlain =
    nodeAt(node, 'from_table')?.['type'] === 'BASE_TABLE' &&
    otherParts.every((key) => node[key] === undefined) &&
    listAt(node, 'select_list').every((item) => plainItems.has(item['class']));
  if (!isPlain || more.length > 0 || modifier?.['type'] !== 'LIMIT_MODIFIER') return undefined;
  const rows = countOf(modifier['limit']);
  const skipped = modifier['offset'] === undefined ? 0 : countOf(modifier['offset']);
  return rows === undefined || skipped === undefined ? undefined : rows + skipped;

  function countOf(expression: unknown): number | undefined {
    const literal = readLiteral(expression as TreeNode | undefined, parameters);
    const count = literal?.kind === 'integer' ? Number(literal.value) : undefined;
    return count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
  }
}

type Literal =
  | { kind: 'integer'; value: bigint }
  /** Also the exact decimal, if the query has one. */
  | { kind: 'number'; value: number | undefined; exact?: ExactLiteral }
  | { kind: 'text'; value: string }
  | { kind: 'boolean'; value: boolean }
  | ExactLiteral;

/** Decimal digits, and decimals of them, that a division in doubles rounds correctly. */
const maxExact = 2n ** 53n;
const maxScale = 22;

function readLiteral(node: TreeNode | undefined, parameters: readonly Parameter[]): Literal | undefined {
  if (node?.['class'] === 'PARAMETER') return parameterLiteral(parameters[Number(node['identifier']) - 1]);
  if (node?.['class'] === 'CAST') return booleanLiteral(node) ?? readCast(node);
  const constant = node?.['class'] === 'CONSTANT' ? nodeAt(node, 'value') : undefined;
  const type = nodeAt(constant, 'type');
  const value = constant?.['value'];
  switch (type?.['id']) {
    case 'INTEGER':
    case 'BIGINT':
      return isWhole(value) ? { kind: 'integer', value: BigInt(value) } : undefined;
    case 'DECIMAL': {
      const info = nodeAt(type, 'type_info');
      const scale = Number(info?.['scale'] ?? 0);
      if (!isWhole(value)) return undefined;
      const digits = BigInt(value);
      const isExact = digits <= maxExact && digits >= -maxExact && scale <= maxScale;
      const number = isExact ? Number(digits) / 10 ** scale : undefined;
      return { kind: 'number', value: number, exact: readDecimal(digits, info) };
    }
    case 'DOUBLE':
      return typeof value === 'number' && Number.isFinite(value) ? { kind: 'number', value } : undefined;
    case 'VARCHAR':
      return typeof value === 'string' ? { kind: 'text', value } : undefined;
    default:
      return undefined;
  }
}

const isWhole = (value: unknown): value is number | bigint => typeof value === 'bigint' || Number.isSafeInteger(value);

/** Reads `true` and `false`, which the parser turns into casts of strings. */
function booleanLiteral(node: TreeNode): Literal | undefined {
  const text = nodeAt(nodeAt(node, 'child'), 'value')?.['value'];
  const isBoolean = nodeAt(node, 'cast_type')?.['id'] === 'BOOLEAN' && (text === 't' || text === 'f');
  return isBoolean ? { kind: 'boolean', value: text === 't' } : undefined;
}

function parameterLiteral(parameter: Parameter | undefined): Literal | undefined {
  if (parameter?.type === 'integer') return { kind: 'integer', value: parameter.value };
  if (parameter?.type === 'text') return { kind: 'text', value: parameter.value };
  if (parameter?.type === 'boolean') return { kind: 'boolean', value: parameter.value };
  if (parameter?.type !== 'double') return exactParameter(parameter);
  return Number.isFinite(parameter.value) ? { kind: 'number', value: parameter.value } : undefined;
}

const operators: Readonly<Record<string, string>> = {
  COMPARE_EQUAL: '=',
  COMPARE_NOTEQUAL: '!=',
  COMPARE_LESSTHAN: '<',
  COMPARE_LESSTHANOREQUALTO: '<=',
  COMPARE_GREATERTHAN: '>',
  COMPARE_GREATERTHANOREQUALTO: '>=',
};
const mirrored: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

/** Maximum length of a list in a filter. */
const maxValues = 1000;

/** Converts conditions on one table of a FROM to the SQL of tables. */
class Conditions {
  readonly #leaf: Leaf;
  readonly #from: Tables;
  readonly #parameters: readonly Parameter[];

  constructor(leaf: Leaf, from: Tables, parameters: readonly Parameter[]) {
    this.#leaf = leaf;
    this.#from = from;
    this.#parameters = parameters;
  }

  /** Returns a condition that every row meets for which the given one is true. */
  read(node: TreeNode): string | undefined {
    switch (node['type']) {
      case 'CONJUNCTION_AND': {
        const known = listAt(node, 'children').map((child) => this.read(child));
        const usable = known.filter((sql) => sql !== undefined);
        return usable.length > 0 ? usable.join(' AND ') : undefined;
      }
      case 'CONJUNCTION_OR': {
        const all = listAt(node, 'children').map((child) => this.read(child));
        return all.every((sql) => sql !== undefined) ? `(${all.map((sql) => `(${sql})`).join(' OR ')})` : undefined;
      }
      case 'COMPARE_BETWEEN': {
        const field = this.#field(nodeAt(node, 'input'));
        const least = field && this.#compared(field, '>=', nodeAt(node, 'lower'));
        const most = field && this.#compared(field, '<=', nodeAt(node, 'upper'));
        return least !== undefined && most !== undefined ? `(${least} AND ${most})` : undefined;
      }
      case 'COMPARE_IN':
        return this.#in(listAt(node, 'children'));
      case 'OPERATOR_IS_NULL':
      case 'OPERATOR_IS_NOT_NULL':
        return this.#isNull(node);
      default:
        return this.#comparison(node);
    }
  }

  #comparison(node: TreeNode): string | undefined {
    const operator = operators[String(node['type'])];
    if (operator === undefined) return undefined;
    const [left, right] = [nodeAt(node, 'left'), nodeAt(node, 'right')];
    const field = this.#field(left);
    if (field) return this.#compared(field, operator, right);
    const other = this.#field(right);
    return other && this.#compared(other, mirrored[operator] ?? operator, left);
  }

  #isNull(node: TreeNode): string | undefined {
    const field = this.#field(listAt(node, 'children')[0]);
    if (!field) return undefined;
    const isNull = node['type'] === 'OPERATOR_IS_NULL';
    // An outer join makes nulls for rows without a partner, so a row that is not null may be needed to prevent that.
    if (isNull && this.#from.isOuter) return undefined;
    return `${sqlName(field.name)} IS ${isNull ? '' : 'NOT '}NULL`;
  }

  #in([column, ...values]: readonly TreeNode[]): string | undefined {
    const field = this.#field(column);
    if (!field || values.length === 0 || values.length > maxValues) return undefined;
    const literals = values.map((value) => literalFor(field.type as DataType, readLiteral(value, this.#parameters)));
    if (!literals.every((literal) => literal !== undefined)) return undefined;
    const isZero = DataType.isFloat(field.type) && literals.some((literal) => Number(literal) === 0);
    return `${sqlName(field.name)} IN (${[...literals, ...(isZero ? ['-0.0', '0.0'] : [])].join(', ')})`;
  }

  #compared(field: Field, operator: string, value: TreeNode | undefined): string | undefined {
    const type = field.type as DataType;
    const literal = literalFor(type, readLiteral(value, this.#parameters));
    if (literal === undefined) return undefined;
    const name = sqlName(field.name);
    if (!DataType.isFloat(type)) return `${name} ${operator} ${literal}`;
    if (Number(literal) === 0 && operator === '=') return `${name} IN (0.0, -0.0)`;
    const bound = Number(literal) === 0 ? (operator === '>=' || operator === '<' ? '-0.0' : '0.0') : literal;
    // `< -0.0` would leave out nothing that `< 0` has: no number is between -0 and 0.
    const compared = `${name} ${operator} ${bound}`;
    return ['>', '>=', '!='].includes(operator) ? `(${compared} OR isnan(${name}))` : compared;
  }

  /** Returns the column of this table that an expression names; undefined if another table may have it. */
  #field(node: TreeNode | undefined): Field | undefined {
    const path = columnPath(node);
    const name = path?.at(-1)?.toLowerCase();
    if (!path || name === undefined) return undefined;
    const holder = path.slice(0, -1).join('.').toLowerCase();
    const { leaves, isComplete } = this.#from;
    const candidates = leaves.filter((leaf) => (holder === '' ? findField(leaf, name) : leaf.names.includes(holder)));
    if (holder === '' && !isComplete) return undefined;
    if (candidates.length !== 1 || candidates[0] !== this.#leaf) return undefined;
    return findField(this.#leaf, name);
  }
}

/** Finds a column by its name in lower case; undefined if two columns differ only in case. */
function findField({ fields }: Leaf, name: string): Field | undefined {
  const [found, another] = fields.filter((field) => field.name.toLowerCase() === name);
  // Names with other characters would need an escape that not every server understands.
  return found && another === undefined && /^[a-z_]\w*$/i.test(found.name) ? found : undefined;
}

/** Returns a literal in the SQL of tables; undefined if a column of this type may compare with it differently. */
function literalFor(type: DataType, literal: Literal | undefined): string | undefined {
  if (!literal) return undefined;
  const exact = exactOf(type, literal);
  if (exact) return exactLiteralFor(type, exact);
  if (literal.kind === 'text') {
    if (!DataType.isUtf8(type) && !DataType.isLargeUtf8(type)) return undefined;
    return /[\0\p{Surrogate}]/u.test(literal.value) ? undefined : sqlLiteral(literal.value);
  }
  if (literal.kind === 'boolean') return DataType.isBool(type) ? sqlLiteral(literal.value) : undefined;
  if (DataType.isInt(type)) {
    const { bitWidth, isSigned } = type;
    if (literal.kind !== 'integer') return undefined;
    const fits = isSigned ? BigInt.asIntN(bitWidth, literal.value) : BigInt.asUintN(bitWidth, literal.value);
    return fits === literal.value ? sqlLiteral(literal.value) : undefined;
  }
  if (!DataType.isFloat(type) || !('value' in literal) || literal.value === undefined) return undefined;
  const number = Number(literal.value);
  if (literal.kind === 'integer' && !Number.isSafeInteger(number)) return undefined;
  const { precision } = type;
  const isExact = precision === Precision.DOUBLE || (precision === Precision.SINGLE && Math.fround(number) === number);
  return isExact ? sqlLiteral(number) : undefined;
}

/** Returns the date, time or decimal that a literal is for a column of this type. */
function exactOf(type: DataType, literal: Literal): ExactLiteral | undefined {
  const isDecimal = DataType.isDecimal(type);
  if (literal.kind === 'boolean') return undefined;
  if (literal.kind === 'text') return convertText(type, literal.value);
  if (literal.kind === 'number') return isDecimal ? literal.exact : undefined;
  if (literal.kind !== 'integer') return literal;
  return isDecimal ? { kind: 'decimal', unscaled: literal.value, scale: 0, whole: integerDigits } : undefined;
}
