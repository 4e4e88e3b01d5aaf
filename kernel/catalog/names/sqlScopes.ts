import { plainName, type Token, tokensOf } from '#shared/sqlTokens.ts';
import type { NamedTable } from '#shared/catalogConfig.ts';

// Parses a query that may be incomplete, as far as completion needs it: which tables each SELECT reads, under which
// names, and what is expected at the cursor.

/** A table, a subquery or a query of WITH in a FROM clause. */
export type SqlSource = {
  /** What may stand before its columns, in lower case: the alias, or else the name and the name with its namespaces. */
  names: readonly string[];
  /** The alias or the name, as written. */
  name: string | undefined;
  from: NamedTable | SqlScope | undefined;
};

/** A SELECT, and what is visible in it. */
export type SqlScope = {
  parent: SqlScope | undefined;
  sources: SqlSource[];
  /** The queries of WITH, by their names in lower case. */
  queries: Map<string, { name: string; scope: SqlScope }>;
  /** The columns of the result that have a name, and the qualifiers of its stars: `''` for `*`, `p` for `p.*`. */
  columns: string[];
  stars: string[];
  /** The columns of the result that are not columns of a table, such as `total` in `sum(amount) as total`. */
  aliases: string[];
};

/** What is expected at the cursor; nothing after `as`, where a new name is written. */
export type SqlPlace = 'start' | 'table' | 'keyword' | 'expression' | 'newName';

export type SqlPosition = { scope: SqlScope; place: SqlPlace };

/**
 * What a clause means for the names in it. `with` and `limit` have no names of columns; after a comma in `on`, another
 * table follows.
 */
type Clause = 'start' | 'with' | 'select' | 'table' | 'on' | 'limit' | 'other';

/** The state within one pair of parentheses. */
type Frame = {
  clause: Clause;
  /** Whether the next name is a table. */
  isTableNext: boolean;
  /** The query of WITH whose definition follows. */
  defined: SqlScope | undefined;
};

const clauseOf: ReadonlyMap<string, Clause> = new Map([
  ['with', 'with'],
  ['select', 'select'],
  ['join', 'table'],
  ['into', 'table'],
  ['update', 'table'],
  ['on', 'on'],
  ['using', 'on'],
  ['limit', 'limit'],
  ['offset', 'limit'],
  ['where', 'other'],
  ['group', 'other'],
  ['order', 'other'],
  ['having', 'other'],
  ['window', 'other'],
  ['values', 'other'],
  ['set', 'other'],
  ['returning', 'other'],
]);
const combining: ReadonlySet<string> = new Set(['union', 'intersect', 'except']);
const queryStarts: ReadonlySet<string> = new Set(['select', 'with', 'values']);
/** Words before the query of a definition of WITH. */
const definers: ReadonlySet<string> = new Set(['as', 'materialized']);
/** Words after a table that are not its alias. */
const notNames: ReadonlySet<string> = new Set([
  ...clauseOf.keys(),
  ...combining,
  'from',
  'as',
  'left',
  'right',
  'inner',
  'outer',
  'cross',
  'natural',
  'full',
  'end',
  'indexed',
  'not',
]);
/** Maximum depth of subqueries that are parsed, so that a hostile text can't exhaust the stack. */
const maxDepth = 100;

/** Returns what is expected at an offset in the query around the offset. */
export function parsePosition(sql: string, offset: number): SqlPosition {
  const tokens = tokensOf(sql);
  const start = tokens.findLastIndex(({ text, end }) => text === ';' && end <= offset) + 1;
  const end = tokens.findIndex((token, at) => at >= start && token.text === ';');
  return new SqlParser(tokens.slice(start, end < 0 ? undefined : end), offset).parse();
}

const createScope = (parent: SqlScope | undefined): SqlScope => ({
  parent,
  sources: [],
  queries: new Map(),
  columns: [],
  stars: [],
  aliases: [],
});

/** Finds a query of WITH that is visible in a scope. */
export function findQuery(scope: SqlScope | undefined, name: string): SqlScope | undefined {
  for (let at = scope; at; at = at.parent) {
    const found = at.queries.get(name.toLowerCase());
    if (found) return found.scope;
  }
  return undefined;
}

/** Returns the sources of a SELECT and of those around it, the nearest first. */
export function visibleSources(scope: SqlScope): SqlSource[] {
  const sources: SqlSource[] = [];
  for (let at: SqlScope | undefined = scope; at; at = at.parent) sources.push(...at.sources);
  return sources;
}

/** Returns the sources with a name, of the nearest SELECT that has any. */
export function sourcesNamed(scope: SqlScope, name: string): SqlSource[] {
  for (let at: SqlScope | undefined = scope; at; at = at.parent) {
    const named = at.sources.filter(({ names }) => names.includes(name));
    if (named.length > 0) return named;
  }
  return [];
}

type Columns = { tables: NamedTable[]; columns: string[] };

/** Returns the tables whose columns the sources have, and the columns that the query itself names. */
export function columnsOf(sources: readonly SqlSource[], seen: ReadonlySet<SqlScope> = new Set()): Columns {
  const found: Columns = { tables: [], columns: [] };
  for (const { from } of sources) {
    if (!from) continue;
    if (!('sources' in from)) {
      found.tables.push(from);
      continue;
    }
    // A recursive query of WITH reads itself.
    if (seen.has(from)) continue;
    found.columns.push(...from.columns);
    const read = from.sources.filter(({ names }) => from.stars.some((star) => star === '' || names.includes(star)));
    const inner = columnsOf(read, new Set([...seen, from]));
    found.tables.push(...inner.tables);
    found.columns.push(...inner.columns);
  }
  return found;
}

class SqlParser {
  readonly #tokens: readonly Token[];
  readonly #offset: number;
  #at = 0;
  #depth = 0;
  #position: SqlPosition | undefined;

  constructor(tokens: readonly Token[], offset: number) {
    this.#tokens = tokens;
    this.#offset = offset;
  }

  parse(): SqlPosition {
    const scope = createScope(undefined);
    // A parenthesis that is not open ends a query, and the text after it is read as another one.
    do this.#query(scope);
    while (this.#at++ < this.#tokens.length);
    return this.#position ?? { scope, place: 'start' };
  }

  /** Parses a query up to the parenthesis that closes it. */
  #query(first: SqlScope): void {
    let scope = first;
    const outer: Frame[] = [];
    let frame: Frame = { clause: 'start', isTableNext: false, defined: undefined };
    /** The tokens of the current column of the result. */
    let column: Token[] = [];
    for (;;) {
      const token = this.#peek();
      const word = wordOf(token);
      const isTop = outer.length === 0;
      const isEnd = !token || (token.text === ')' && isTop);
      const isListEnd = isEnd || word === 'from' || combining.has(word) || clauseOf.has(word);
      if (frame.clause === 'select' && isTop && (isListEnd || token.text === ',')) {
        if (scope === first) addColumn(scope, column);
        column = [];
      }
      if (isEnd) {
        this.#note(scope, frame);
        return;
      }
      if (frame.isTableNext && isTableName(token)) {
        this.#table(scope, frame);
        continue;
      }
      const previous = wordOf(this.#tokens[this.#at - 1]);
      this.#next(scope, frame);
      if (frame.clause === 'select' && isTop && token.text !== ',') column.push(token);
      if (token.text === '(') {
        const isDefinition = frame.clause === 'with' && frame.defined !== undefined && definers.has(previous);
        if ((isDefinition || queryStarts.has(wordOf(this.#peek()))) && this.#depth < maxDepth) {
          this.#subquery(scope, frame);
          column.push({ ...token, text: ')' });
        } else {
          outer.push(frame);
          const isTables = frame.clause === 'table' && frame.isTableNext;
          frame = { clause: isTables ? 'table' : 'other', isTableNext: isTables, defined: undefined };
        }
      } else if (token.text === ')') {
        frame = outer.pop() ?? frame;
        frame.isTableNext = false;
        column.push(token);
      } else if (token.text === ',') {
        if (frame.clause === 'table' || frame.clause === 'on') frame = { ...frame, clause: 'table', isTableNext: true };
      } else if (combining.has(word) && isTop) {
        scope = { ...createScope(first.parent), queries: first.queries };
        frame = { clause: 'start', isTableNext: false, defined: undefined };
      } else if (frame.clause === 'with' && !clauseOf.has(word)) {
        this.#define(scope, frame, token);
      } else if (word === 'from') {
        // In parentheses, as in `trim(both from name)`, and in `is distinct from`, no table follows.
        if (isTop && previous !== 'distinct') frame = { ...frame, clause: 'table', isTableNext: true };
      } else if (clauseOf.has(word) && this.#tokens[this.#at - 2]?.text !== '.') {
        const clause = clauseOf.get(word) ?? 'other';
        frame = { ...frame, clause, isTableNext: clause === 'table' };
      }
    }
  }

  /** Parses the query after an opening parenthesis, as a source of FROM or as the definition of a query of WITH. */
  #subquery(scope: SqlScope, frame: Frame): void {
    const inner = frame.clause === 'with' ? frame.defined : undefined;
    const query = inner ?? createScope(scope);
    const named = [...query.columns];
    this.#depth++;
    this.#query(query);
    this.#depth--;
    if (named.length > 0) Object.assign(query, { columns: named, stars: [] });
    const isClosed = this.#peek() !== undefined;
    if (isClosed) this.#next(query, frame);
    if (frame.clause !== 'table' || !frame.isTableNext) return;
    frame.isTableNext = false;
    const name = isClosed ? this.#alias(scope, frame) : undefined;
    scope.sources.push({ names: name === undefined ? [] : [name.toLowerCase()], name, from: query });
  }

  /** Parses the name of a query of WITH, and its columns if they are named. */
  #define(scope: SqlScope, frame: Frame, token: Token): void {
    const name = plainName(token);
    if (name === undefined || ['recursive', 'as', 'not', 'materialized'].includes(wordOf(token))) return;
    frame.defined = createScope(scope);
    scope.queries.set(name.toLowerCase(), { name, scope: frame.defined });
    if (this.#peek()?.text !== '(' || queryStarts.has(wordOf(this.#tokens[this.#at + 1]))) return;
    for (let each = this.#peek(); each && each.text !== ')'; each = this.#peek()) {
      const column = plainName(each);
      if (column !== undefined) frame.defined.columns.push(column);
      this.#next(scope, frame);
    }
    this.#next(scope, frame);
  }

  /** Parses a table with its namespaces and its alias. */
  #table(scope: SqlScope, frame: Frame): void {
    const parts: string[] = [];
    for (let token = this.#peek(); token; token = this.#peek()) {
      parts.push(plainName(token) ?? '');
      this.#next(scope, frame);
      const after = this.#tokens[this.#at + 1];
      if (this.#peek()?.text !== '.' || !after || plainName(after) === undefined) break;
      this.#next(scope, frame);
    }
    frame.isTableNext = false;
    // A function that returns rows, such as `json_each(x)`, has columns that are not known here.
    if (this.#peek()?.text === '(') return;
    const name = this.#alias(scope, frame);
    const [last = ''] = parts.slice(-1);
    const query = parts.length === 1 ? findQuery(scope, last) : undefined;
    const names = name === undefined ? [last, parts.join('.')] : [name];
    scope.sources.push({
      names: names.map((each) => each.toLowerCase()),
      name: name ?? last,
      from: query ?? tableOf(parts),
    });
  }

  #alias(scope: SqlScope, frame: Frame): string | undefined {
    if (wordOf(this.#peek()) === 'as') this.#next(scope, frame);
    const token = this.#peek();
    const alias = token && !notNames.has(wordOf(token)) ? plainName(token) : undefined;
    if (alias !== undefined) this.#next(scope, frame);
    return alias;
  }

  #peek(): Token | undefined {
    return this.#tokens[this.#at];
  }

  #next(scope: SqlScope, frame: Frame): void {
    this.#note(scope, frame);
    this.#at++;
  }

  /** Records the state at the cursor, before the first token after it. */
  #note(scope: SqlScope, frame: Frame): void {
    const token = this.#peek();
    if (this.#position || (token && token.start < this.#offset)) return;
    this.#position = { scope, place: placeIn(frame, wordOf(this.#tokens[this.#at - 1])) };
  }
}

function placeIn({ clause, isTableNext }: Frame, previous: string): SqlPlace {
  if (clause === 'start') return 'start';
  if (clause === 'with' || clause === 'limit') return 'keyword';
  if (previous === 'as') return 'newName';
  if (clause === 'table') return isTableNext ? 'table' : 'keyword';
  return 'expression';
}

/** Returns a word in lower case; an empty string for a quoted name, a number, a sign and the end. */
const wordOf = (token: Token | undefined): string => (token?.kind === 'word' ? token.text.toLowerCase() : '');

const isTableName = (token: Token): boolean =>
  plainName(token) !== undefined && !notNames.has(wordOf(token)) && wordOf(token) !== 'lateral';

/** Returns the table of a name in a query: slashes in quotes separate namespaces, as in `"shop/eu".orders`. */
export function tableOf(parts: readonly string[]): NamedTable {
  const path = parts.flatMap((part) => part.split('/'));
  const namespacePath = path.slice(0, -1);
  const isMain = namespacePath.length === 1 && namespacePath[0]?.toLowerCase() === 'main';
  return { catalog: 'db', name: path.at(-1) ?? '', namespacePath: isMain ? [] : namespacePath };
}

/** Adds a column of a result from its tokens: `name`, `p.name`, `price * 2 as twice`, `*` or `p.*`. */
function addColumn(scope: SqlScope, tokens: readonly Token[]): void {
  const last = tokens.at(-1);
  if (!last) return;
  const before = tokens.at(-2);
  if (last.text === '*' && (tokens.length === 1 || before?.text === '.' || /^(all|distinct)$/.test(wordOf(before)))) {
    const holder = before?.text === '.' ? tokens.at(-3) : undefined;
    scope.stars.push((holder && plainName(holder)?.toLowerCase()) ?? '');
    return;
  }
  const name = notNames.has(wordOf(last)) ? undefined : plainName(last);
  const isOperand = before?.kind === 'sign' && !['.', ')'].includes(before.text);
  if (name === undefined || isOperand) return;
  scope.columns.push(name);
  if (before && before.text !== '.') scope.aliases.push(name);
}
