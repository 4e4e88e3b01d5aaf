import type { NamedTable, Naming } from '#shared/catalogConfig.ts';
import { partsOf } from '#session/magics/cellParts.ts';
import { plainName } from './sqlShape.ts';
import { tokensOf, type Token } from './sqlText.ts';

type Mention = { table: NamedTable; names: readonly string[] };

/** Keywords that determine the meaning of the text after them, up to the next keyword. */
const clauses: ReadonlySet<string> = new Set(
  'select from join where on using group order having limit window union values'.split(' '),
);
const ofTables: ReadonlySet<string> = new Set(['from', 'join']);
const notAliases: ReadonlySet<string> = new Set([
  ...clauses,
  'left',
  'right',
  'inner',
  'cross',
  'natural',
  'full',
  'as',
]);

/** The name before the cursor: optionally a qualifier and a dot, then the start of a name. */
const nameBefore = /(?:("[^"\n]*"|[\w$]+)\s*\.\s*)?("[^"\n]*|[\w$]*)$/;

/**
 * Returns the kind of name at an offset in a `%%sql` cell: a table after `from`, else a column of the query's tables.
 * Returns undefined outside of SQL; `naming` is undefined if no name can be completed, for instance in a string.
 */
export function sqlNamingAt(cell: string, offset: number): { naming: Naming | undefined } | undefined {
  const [part] = partsOf(cell) ?? [];
  if (part?.kind !== 'magic' || part.name !== 'sql' || !part.body || offset < part.body.start) return undefined;
  const before = cell.slice(part.body.start, offset);
  if (before.lastIndexOf('${') > before.lastIndexOf('}')) return undefined;
  const [whole = '', holder, typed = ''] = nameBefore.exec(before) ?? [];
  const tokens = tokensOf(before.slice(0, before.length - whole.length));
  const isText = tokens.some(({ kind, text }) => kind === 'sign' && text === "'");
  const isNumber = holder === undefined && /^\d/.test(typed);
  if (isText || isNumber || /--[^\n]*$/.test(before)) return { naming: undefined };
  const clause = tokens.findLast(({ kind, text }) => kind === 'word' && clauses.has(text.toLowerCase()));
  const what = ofTables.has(clause?.text.toLowerCase() ?? '')
    ? isTablePlace(tokens)
      ? tableAt(holder, typed)
      : undefined
    : columnOf(mentionsIn(tokensOf(cell.slice(part.body.start, part.body.end))), holder);
  const behind = /^[\w$]*"?/.exec(cell.slice(offset))?.[0] ?? '';
  const end = offset + (typed.startsWith('"') ? behind.length : behind.replace('"', '').length);
  return { naming: what && { start: offset - typed.length, end, quote: '', what } };
}

/** Whether a table is expected: after the keyword or a comma. A name after a table is its alias. */
function isTablePlace(tokens: readonly Token[]): boolean {
  const last = tokens.at(-1);
  return last?.text === ',' || (last?.kind === 'word' && ofTables.has(last.text.toLowerCase()));
}

function tableAt(holder: string | undefined, typed: string): Naming['what'] {
  if (holder !== undefined) return { kind: 'sqlTable', catalog: 'db', namespacePath: pathOf(holder), isPath: false };
  if (!typed.startsWith('"')) return { kind: 'sqlTable', catalog: 'db', namespacePath: [], isPath: false };
  return { kind: 'sqlTable', catalog: 'db', namespacePath: typed.slice(1).split('/').slice(0, -1), isPath: true };
}

function columnOf(mentions: readonly Mention[], holder: string | undefined): Naming['what'] | undefined {
  const name = holder === undefined ? undefined : plain(holder).toLowerCase();
  const tables = mentions.filter(({ names }) => name === undefined || names.includes(name)).map(({ table }) => table);
  return tables.length > 0 ? { kind: 'sqlColumn', catalog: 'db', tables } : undefined;
}

/** Returns the tables of a query that may be incomplete. */
function mentionsIn(tokens: readonly Token[]): Mention[] {
  const mentions: Mention[] = [];
  let isWanted = false;
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!;
    const word = token.kind === 'word' ? token.text.toLowerCase() : '';
    if (clauses.has(word)) isWanted = ofTables.has(word);
    const previous = tokens[at - 1]?.text.toLowerCase() ?? '';
    if (!isWanted || clauses.has(word) || !(previous === ',' || ofTables.has(previous))) continue;
    const first = plainName(token);
    if (first === undefined) continue;
    const second = tokens[at + 1]?.text === '.' ? tokens[at + 2] : undefined;
    const name = second ? plainName(second) : first;
    if (name === undefined) continue;
    const behind = at + (second ? 3 : 1);
    const aliasAt = tokens[behind]?.text.toLowerCase() === 'as' ? behind + 1 : behind;
    const alias = tokens[aliasAt] && plainName(tokens[aliasAt]);
    const isAlias = alias !== undefined && !notAliases.has(alias.toLowerCase());
    const path = second ? pathOf(first) : name.split('/').slice(0, -1);
    const table = { catalog: 'db', name: name.split('/').at(-1) ?? name, namespacePath: path };
    mentions.push({ table, names: [isAlias ? alias.toLowerCase() : name.toLowerCase()] });
  }
  return mentions;
}

const pathOf = (holder: string): string[] => {
  const name = plain(holder);
  return name.toLowerCase() === 'main' ? [] : name.split('/');
};

const plain = (name: string): string =>
  name.startsWith('"') ? name.replace(/^"|"$/g, '').replaceAll('""', '"') : name;
